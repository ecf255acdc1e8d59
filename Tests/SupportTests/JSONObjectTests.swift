import Foundation
import TestSupport
import Testing

@testable import Support

private let rows: [(when: String, text: String, json: String)] = [
    ("plain", "news", #""news""#), ("quotes and backslashes", #"a"b\c"#, #""a\"b\\c""#),
    ("line ends", "a\r\nb\tc", #""a\r\nb\tc""#), ("a terminal's escape", "\u{1B}[31m", #""\u001b[31m""#),
    ("NUL, DEL and C1", "\0\u{7F}\u{9B}", #""\u0000\u007f\u009b""#),
    ("other scripts stay", "Первый 综合 📻", #""Первый 综合 📻""#),
    ("text from right to left", "a\u{202E}b", #""a\u202eb""#), ("a line separator", "\u{2028}", #""\u2028""#),
    ("a format character beyond 16 bits", "\u{E0001}", #""\udb40\udc01""#),
]

@Test(arguments: rows) func stringIsQuoted(when: String, text: String, json: String) {
    #expect(DocumentText.json(text) == json, "\(when)")
}

@Test func membersKeepTheirOrder() {
    var object = JSONObject()
    object.add("z", "1")
    object.add("a", 2)
    object.add("none", nil as String?)
    object.add("b", true)
    object.add("c", seconds: 1.23456)
    object.add("d", seconds: .nan)
    object.add("e", UInt64.max)
    #expect(object.text == #"{"z":"1","a":2,"b":true,"c":1.235,"e":18446744073709551615}"#)
    #expect(JSONObject().text == "{}")
}

/// What another reader makes of any text is that text.
@Test(arguments: 0..<200 as Range<UInt64>) func anyTextIsReadAsItWas(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var text = ""
    for _ in 0..<Int.random(in: 0..<40, using: &random) {
        let limit: UInt32 = [0x80, 0x800, 0x11_0000].randomElement(using: &random) ?? 0x80
        if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) {
            text.unicodeScalars.append(scalar)
        }
    }
    var object = JSONObject()
    object.add(text, text)
    let read = try JSONSerialization.jsonObject(with: Data(object.text.utf8)) as? [String: String]
    #expect(read?.count == 1)
    #expect(read?.first.map { Array($0.value.unicodeScalars) } == Array(text.unicodeScalars))
    #expect(!object.text.utf8.contains { $0 < 0x20 || $0 == 0x7F })
}
