import ArgumentParser
import Foundation

/// The secret that requests to the API carry (RFC 6750 §2.1).
struct APIToken: Equatable, Sendable {
    private let bytes: [UInt8]

    private static let shortest = 16
    private static let longest = 1024

    /// - Parameter text: at least 16 visible ASCII characters.
    init?(_ text: String) {
        bytes = Array(text.utf8)
        let isVisible = bytes.allSatisfy { (0x21...0x7E).contains($0) }
        guard (Self.shortest...Self.longest).contains(bytes.count), isVisible else { return nil }
    }

    /// Whether an Authorization field carries the token. The time that this takes depends on the field alone.
    func isCarried(by field: String?) -> Bool {
        guard let field, let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer" else {
            return false
        }
        let given = Array(field[field.index(after: space)...].utf8)
        var difference = bytes.count ^ given.count
        for (index, byte) in given.enumerated() { difference |= Int(byte ^ bytes[index % bytes.count]) }
        return difference == 0
    }
}

extension APIToken: ExpressibleByArgument {
    /// Reads a token, or the file that has it: `@FILE`.
    init?(argument: String) {
        guard argument.hasPrefix("@") else {
            self.init(argument)
            return
        }
        guard let text = try? String(contentsOf: URL(filePath: String(argument.dropFirst())), encoding: .utf8) else {
            return nil
        }
        self.init(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
