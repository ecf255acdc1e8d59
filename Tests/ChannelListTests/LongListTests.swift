import Testing

@testable import ChannelList
@testable import Support

/// A hostile text of any length. What reading it costs must not grow with the square of the length.
struct CostRow: Sendable, CustomTestStringConvertible {
    let when: String
    /// The text with a number of repetitions.
    let text: @Sendable (Int) -> String

    var testDescription: String { when }

    init(_ when: String, _ text: @escaping @Sendable (Int) -> String) { (self.when, self.text) = (when, text) }

    /// - Parameter unit: what is repeated after `head`.
    init(_ when: String, _ head: String = "", repeating unit: String, then tail: String = "") {
        self.init(when) { head + String(repeating: unit, count: $0) + tail }
    }

    /// Expects that texts of two and four times the length cost two and four times the steps, within a tenth.
    func expectLinear(_ count: Int, _ read: (String) throws -> Void) throws {
        let steps = try [1, 2, 4].map { factor in
            let counter = StepCounter()
            let text = text(factor * count)
            try StepCounter.$current.withValue(counter) { try read(text) }
            return counter.steps
        }
        #expect(steps[1] <= steps[0] * 22 / 10 + 1000, "\(when): \(steps)")
        #expect(steps[2] <= steps[0] * 44 / 10 + 1000, "\(when): \(steps)")
    }
}

private let hostileLines: [CostRow] = [
    CostRow("quotes", "#EXTINF:-1 a=", repeating: "\""),
    CostRow("attributes without closing quotes", "#EXTINF:-1 ", repeating: ",a=\"b"),
    CostRow("well-known attributes", "#EXTINF:-1 ", repeating: "tvg-id=\"b "),
    CostRow("quotes before words", "#EXTINF:-1 ", repeating: "a=\"b\" c "),
    CostRow("quotes of many kinds", "#EXTINF:-1 ", repeating: "a=\"b' c=„d” e=‘f\" g "),
    CostRow("words", "#EXTINF:-1 ", repeating: "a "),
    CostRow("blanks", "#EXTINF:-1 a=\"", repeating: "\" "),
    CostRow("blanks after keys", "#EXTINF:-1 ", repeating: "a=\"b\" tvg-id          "),
    CostRow("one long run of blanks", "#EXTINF:-1 a=\"b\" tvg-id", repeating: " ", then: "x"),
    CostRow("commas", "#EXTINF:-1 a=\"", repeating: "\",  "),
    CostRow("fields of headers", "http://h/a|", repeating: "a&"),
    CostRow("long names in headers", "http://h/a|", repeating: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa&"),
    CostRow("blanks in headers", "http://h/a|x&", repeating: " "),
    CostRow("headers", "http://h/a|", repeating: "A=b&"),
    CostRow("groups", "#EXTGRP:", repeating: "a;"),
    CostRow("dollar signs", "http://h/", repeating: "$"),
    CostRow("byte order marks", repeating: "\u{FEFF}"),
    CostRow("JSON", "#EXTHTTP:", repeating: "{\"a\":"),
    CostRow("entities", "#EXTGRP:", repeating: "&amp;"),
    CostRow("guides", "#EXTM3U x-tvg-url=\"", repeating: "http://g/,", then: "\""),
]

/// Configurations with mistakes.
private let hostileConfigurations = [
    CostRow("unknown keys") { count in (0..<count).map { "channel\($0): 1\n" }.joined() },
    CostRow("unknown words", "channels:\n- {name: a, url: http://h/, audio: x}\n", repeating: "- {audio: briidge}\n"),
    CostRow("merged maps") { count in
        (0..<count).map { "a\($0): &a\($0) {b\($0): 1}\n" }.joined()
            + "m: {<<: [\((0..<count).map { "*a\($0)" }.joined(separator: ","))]}\n"
    },
    CostRow("literal variables", "channels: {a: \"http://h/", repeating: "$${", then: "\"}"),
]

@Suite("Long lists") struct LongListTests {
    @Test("A hostile line costs its length", arguments: hostileLines)
    func hostile(row: CostRow) throws {
        try row.expectLinear(4000) { line in
            let text = "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1\n\(line)\n#EXTINF:-1,B\nhttp://h/2\n"
            let list = try M3UChannelListParser.parse(Array(text.utf8))
            #expect(list.channels.first?.name == "A" && list.channels.last?.name == "B")
        }
    }

    @Test("A hostile configuration costs its length", arguments: hostileConfigurations)
    func configuration(row: CostRow) throws {
        try row.expectLinear(1000) { text in
            _ = try? ChannelConfiguration(yaml: text)
        }
    }

    @Test("A list of one name costs its length, and is numbered") func oneName() throws {
        let row = CostRow("channels of one name") { count in
            "#EXTM3U\n" + (0..<count).map { "#EXTINF:-1,A\nhttp://h/\($0)\n" }.joined()
        }
        try row.expectLinear(750) { text in
            let list = try M3UChannelListParser.parse(Array(text.utf8))
            let count = list.channels.count
            #expect(list.channels.last?.slug == "a-\(count)")
            #expect(list.issueCount == count - 1 && list.issues.count == 100)
            let again = try M3UChannelListParser.parse(Array(text.utf8), keeping: list.channels)
            #expect(ChannelListDifference(from: list.channels, to: again.channels).unchanged.count == count)
        }
    }
}
