import Testing

@testable import ChannelList

/// Hostile texts whose cost must not grow with the square of their length.
private let hostileLines: [(when: String, line: String)] = [
    ("quotes", "#EXTINF:-1 a=" + String(repeating: "\"", count: 200_000)),
    ("attributes without closing quotes", "#EXTINF:-1 " + String(repeating: ",a=\"b", count: 40_000)),
    ("well-known attributes", "#EXTINF:-1 " + String(repeating: "tvg-id=\"b ", count: 20_000)),
    ("quotes before words", "#EXTINF:-1 " + String(repeating: "a=\"b\" c ", count: 40_000)),
    ("words", "#EXTINF:-1 " + String(repeating: "a ", count: 100_000)),
    ("blanks", "#EXTINF:-1 a=\"" + String(repeating: "\" ", count: 100_000)),
    ("fields of headers", "http://h/a|" + String(repeating: "a&", count: 100_000)),
    ("headers", "http://h/a|" + String(repeating: "A=b&", count: 50_000)),
    ("groups", "#EXTGRP:" + String(repeating: "a;", count: 100_000)),
    ("dollar signs", "http://h/" + String(repeating: "$", count: 200_000)),
    ("byte order marks", String(repeating: "\u{FEFF}", count: 60_000)),
    ("JSON", "#EXTHTTP:" + String(repeating: "{\"a\":", count: 40_000)),
    ("entities", "#EXTGRP:" + String(repeating: "&amp;", count: 40_000)),
]

@Suite("Long lists") struct LongListTests {
    @Test("A hostile line costs little", arguments: hostileLines)
    func hostile(when: String, line: String) throws {
        let text = "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1\n\(line)\n#EXTINF:-1,B\nhttp://h/2\n"
        let clock = ContinuousClock()
        var list: M3UChannelList?
        let time = try clock.measure { list = try M3UChannelListParser.parse(Array(text.utf8)) }
        #expect(list?.channels.first?.name == "A")
        #expect(list?.channels.last?.name == "B")
        #expect(time < .seconds(3), "\(when): \(time)")
    }

    @Test("A list of 3,000 channels of one name is read and numbered") func oneName() throws {
        let text = "#EXTM3U\n" + (0..<3000).map { "#EXTINF:-1,A\nhttp://h/\($0)\n" }.joined()
        let list = try M3UChannelListParser.parse(Array(text.utf8))
        #expect(list.channels.last?.slug == "a-3000")
        #expect(list.issueCount == 2999 && list.issues.count == 100)
        let again = try M3UChannelListParser.parse(Array(text.utf8), keeping: list.channels)
        #expect(ChannelListDifference(from: list.channels, to: again.channels).isEmpty)
    }
}
