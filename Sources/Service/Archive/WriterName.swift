import Foundation
import Logging
import Support
import Synchronization

/// The name under which a spool puts segments, stored in a file of the spool. Another spool has other numbers, and
/// therefore another name.
final class WriterName: Sendable {
    static let file = "archive.writer"

    private let path: URL
    private let name: Mutex<String>

    /// Reads the name, or makes one. An unreadable file is set aside.
    init(in spool: String, logger: Logger) {
        path = URL(filePath: spool, directoryHint: .isDirectory).appending(path: Self.file)
        let text = try? Data(contentsOf: path)
        let known = text.flatMap { Self.name(in: $0) }
        name = Mutex(known ?? Self.random)
        guard known == nil else { return }
        if text != nil { DamagedFile.setAside(path, logger) }
        try? FileManager.default.createDirectory(atPath: spool, withIntermediateDirectories: true)
        write()
    }

    var text: String { name.withLock { $0 } }

    /// Changes to a name that no writer uses.
    func change() -> String {
        name.withLock { $0 = Self.random }
        write()
        return text
    }

    static var random: String { String(UInt64.random(in: .min ... .max), radix: 36) }

    private func write() { try? Data("\(text)\n".utf8).write(to: path, options: .atomic) }

    /// The name in a file: lowercase letters and digits; nil if the file contains no name.
    private static func name(in data: Data) -> String? {
        let text = String(decoding: data.prefix(64), as: UTF8.self).trimmingCharacters(in: .newlines)
        let isName = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
        return isName ? text : nil
    }
}
