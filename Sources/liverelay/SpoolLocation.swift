import Foundation
import LiveRing

/// Where the ring's files go: a directory that is kept, or a temporary one.
struct SpoolLocation {
    let path: String
    private let isTemporary: Bool

    /// Makes the directory if need be, and finds out at once whether it can be written.
    init(_ given: String?) throws(RelayError) {
        let files = FileManager.default
        let url =
            given.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? files.temporaryDirectory.appending(path: "liverelay-\(UUID().uuidString)", directoryHint: .isDirectory)
        path = url.path
        isTemporary = given == nil
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

    /// What is left when it cannot be removed is named by its own name, and nobody else's.
    func removeIfTemporary() {
        if isTemporary { try? FileManager.default.removeItem(atPath: path) }
    }
}
