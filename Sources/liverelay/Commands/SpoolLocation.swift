import Foundation
import LiveRing
import Observability
import Support

/// The directory of the ring's files: a given one that is kept, or a temporary one.
struct SpoolLocation {
    let path: String
    private let temporary: TemporarySpool?

    /// Creates the directory if it does not exist, and checks that it is writable.
    /// - Parameter given: path of the directory; nil for a temporary one.
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
                .cannotSpool, "\(path) cannot be written", advice: "Give another --spool, or correct its permissions")
        }
    }

    /// Number of temporary directories of killed processes that were removed.
    var removedCount: Int { temporary?.removedCount ?? 0 }

    func removeIfTemporary() { temporary?.remove() }
}
