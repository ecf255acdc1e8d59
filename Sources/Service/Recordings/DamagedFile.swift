import Foundation
import Logging

/// Handles files that cannot be read at the start: each is set aside, so that the process can continue.
enum DamagedFile {
    static let suffix = ".damaged"

    /// Renames an unreadable file, and logs it once. An earlier file with the new name is replaced.
    static func setAside(_ file: URL, _ logger: Logger) {
        let other = URL(filePath: file.path + suffix)
        try? FileManager.default.removeItem(at: other)
        do {
            try FileManager.default.moveItem(at: file, to: other)
            logger.error("\(file.path) cannot be read, and was set aside as \(other.lastPathComponent)")
        } catch {
            logger.error("\(file.path) cannot be read, and cannot be set aside: \(error.localizedDescription)")
        }
    }
}
