import Foundation
import LiveRing

/// Where the ring's files go: a directory that is kept, or a temporary one.
struct SpoolLocation {
    let path: String
    private let temporary: TemporarySpool?

    /// Makes the directory if need be, and finds out at once whether it can be written.
    init(_ given: String?) throws(RelayError) {
        let files = FileManager.default
        guard let given else {
            let temporary = try TemporarySpool(in: files.temporaryDirectory)
            (path, self.temporary) = (temporary.path, temporary)
            return
        }
        let url = URL(filePath: given, directoryHint: .isDirectory)
        (path, temporary) = (url.path, nil)
        do {
            try files.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code ?? .EEXIST
            throw RelayError(.system(.createDirectory, path: path, code: code.rawValue))
        }
        guard files.isWritableFile(atPath: path) else {
            throw RelayError(
                .cannotSpool, "\(path) cannot be written", advice: "Give another --spool, or mend its permissions")
        }
    }

    /// Of processes that were killed.
    var removedLeftovers: Int { temporary?.removedLeftovers ?? 0 }

    func removeIfTemporary() { temporary?.remove() }
}
