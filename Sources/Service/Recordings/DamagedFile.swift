import Foundation
import Logging

/// Files that are read at start and cannot be read: each is set aside, so that the rest goes on.
enum DamagedFile {
    static let suffix = ".damaged"

    /// Renames a file that cannot be read, and says so once. A file that was set aside before is replaced.
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
