import Testing

@testable import ChannelList
@testable import Guide

private let start = "<programme start='20261122140000 +0000' channel='a'>"

private let hostileGuides: [CostRow] = [
    CostRow("start tags without an end", repeating: "<programme "),
    CostRow("start tags in quotes", repeating: "<programme start=\""),
    CostRow("start tags in quotes with an end", repeating: "<programme start=\">"),
    CostRow("one start tag with quotes", "<programme ", repeating: "'>' "),
    CostRow("start tags before many quotes", "<programme <programme <programme ", repeating: "'>'"),
    CostRow("elements without an end", repeating: "<programme>"),
    CostRow("end tags without an end", repeating: "<programme></programme "),
    CostRow("comments without an end", repeating: "<programme><!-- "),
    CostRow("tags without an end in a program", start, repeating: "<a", then: "</programme>"),
    CostRow("tags without an end in an open program", start, repeating: "<a"),
    CostRow("comments in a program", start, repeating: "<!--a-->", then: "</programme>"),
    CostRow("open comments in a program", start, repeating: "<!--", then: "--></programme>"),
    CostRow("character data in a program", start, repeating: "<![CDATA[&", then: "]]></programme>"),
    CostRow("elements inside of each other", start, repeating: "<a>", then: "</programme>"),
    CostRow("attributes of a program", "<programme start='20261122140000 +0000' ", repeating: "a='b' ", then: "/>"),
    CostRow(
        "names with open character data", "<channel id='a'>", repeating: "<display-name><![CDATA[", then: "</channel>"),
    CostRow("names of a channel", "<channel id='a'>", repeating: "<display-name>A</display-name>", then: "</channel>"),
    CostRow("equal channels", repeating: "<channel id='a'><display-name>A</display-name></channel>"),
    CostRow("programs", repeating: start + "<title>T</title></programme>"),
    CostRow("less signs", repeating: "<"), CostRow("hyphens in a comment", "<!--", repeating: "-"),
    CostRow("a declaration", "<!DOCTYPE ", repeating: "['"),
]

@Suite struct GuideCostTests {
    private static let matcher = GuideMatcher(
        (0..<20).map { ListedChannel(slug: "a\($0)", name: "A", guideID: "a\($0 / 2)", sources: []) }
            + [ListedChannel(slug: "a", name: "B", guideID: "a", sources: [])])

    @Test("A guide costs its length, in parts of any size", arguments: hostileGuides, [100, 1 << 20])
    func hostile(row: CostRow, partBytes: Int) throws {
        for elementBytes in [400, 1 << 20] {
            var limits = GuideLimits()
            limits.elementBytes = elementBytes
            try row.expectLinear(500) { read(Array($0.utf8), partBytes, limits) }
        }
    }

    /// Reads a guide as it is built: its index, and its programs.
    private func read(_ text: [UInt8], _ partBytes: Int, _ limits: GuideLimits) {
        var index = GuideIndex(Self.matcher, limits: limits)
        scan(text, partBytes, limits) { index.record($0) }
        var selection = GuideSelection()
        selection.add(index, guide: 0)
        var merge = GuideMerge(Self.matcher, selection, limits: limits)
        var output: [UInt8] = []
        scan(text, partBytes, limits) { merge.append($0, of: 0, to: &output) }
    }

    private func scan(_ text: [UInt8], _ partBytes: Int, _ limits: GuideLimits, _ receive: (GuideElement) -> Void) {
        var scanner = GuideScanner(limits: limits)
        var rest = text[...]
        while !rest.isEmpty {
            scanner.append(rest.prefix(partBytes))
            rest = rest.dropFirst(partBytes)
            while let element = scanner.next() { receive(element) }
        }
        scanner.finish()
        while let element = scanner.next() { receive(element) }
    }

    @Test func longIDsAreDropped() {
        let ids = (0..<8).map { String(repeating: "x", count: $0 < 2 ? 256 : 257) + "\($0)" }
        var scanner = GuideScanner()
        scanner.append(ids.map { "<channel id='\($0.dropLast())'/>" }.joined().utf8)
        scanner.finish()
        while scanner.next() != nil {}
        #expect(scanner.counts.channels == 2 && scanner.counts.damaged == 6)
    }

    @Test("A channel of a guide that is repeated, or that many of ours may be, does not count more and more")
    func matchesAreBounded() {
        var limits = GuideLimits()
        limits.matches = 45
        var index = GuideIndex(Self.matcher, limits: limits)
        let channel = "<channel id='x'><display-name>A</display-name></channel>"
        let program = "<programme start='20261122140000 +0000' channel='x'></programme>"
        scan(Array((String(repeating: channel, count: 50) + program).utf8), 1000, limits) { index.record($0) }
        #expect(index.candidates.count == 10)
        limits.matches = 5
        index = GuideIndex(Self.matcher, limits: limits)
        scan(Array((channel + channel.replacing("'x'", with: "'y'") + program).utf8), 1000, limits) { index.record($0) }
        #expect(index.candidates.count == 10, "what was matched within the limit stays")
    }
}
