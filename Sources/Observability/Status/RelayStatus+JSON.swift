import Channel
import Foundation
import Support

extension RelayStatus {
    /// The body of `/status.json`.
    package var json: [UInt8] { StatusDocument.json(of: self) }
}

/// The encoding of status documents.
package enum StatusDocument {
    /// Returns a value as JSON. Its keys are sorted, so that two documents can be compared line by line.
    package static func json(of value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if let key = StatusReason.textKey { encoder.userInfo[key] = StatusReason.Text { $0.message } }
        // Every field is a number, a text or an object of them: encoding cannot fail.
        guard let data = try? encoder.encode(value) else { return Array("{}".utf8) }
        return ControlCharacters.escaped(json: Array(data)) + [UInt8(ascii: "\n")]
    }
}
