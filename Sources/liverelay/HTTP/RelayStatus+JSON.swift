import Channel
import Foundation

extension RelayStatus {
    /// The body of `/status.json`. Its keys are sorted, so that two of them can be compared line by line.
    var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if let key = StatusReason.textKey { encoder.userInfo[key] = StatusReason.Text { $0.message } }
        // Every field is a number, a text or an object of them: encoding cannot fail.
        guard let data = try? encoder.encode(self) else { return Array("{}".utf8) }
        return Array(data) + [UInt8(ascii: "\n")]
    }
}
