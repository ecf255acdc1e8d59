import Testing

@testable import ChannelList
@testable import Guide

private let list = """
    #EXTM3U
    #EXTINF:-1 tvg-id="BBC1.uk" tvg-chno="101" tvg-logo="http://l/1.png",BBC One
    http://up/1
    #EXTINF:-1 tvg-name="Sky_News",Sky News HD
    http://up/2
    #EXTINF:-1,Das Erste
    http://up/3
    #EXTINF:-1 tvg-id="BBC1.uk",BBC One +0
    http://up/4
    #EXTINF:-1 tvg-id="a&b",Tom & Jerry
    http://up/5

    """

private let matches: [(when: String, id: String, names: [String], channels: [Int], rank: GuideMatcher.Rank?)] = [
    ("the id", "BBC1.uk", [], [0], .id), ("the id in another case", " bbc1.UK ", ["x"], [0], .id),
    ("tvg-name with an underscore", "sky", ["SKY  News"], [1], .guideName),
    ("the name", "x", ["das erste"], [2], .name), ("the name of the second of one id", "x", ["BBC One +0"], [0], .name),
    ("nothing", "x", ["y"], [], nil), ("an empty id", "", [], [], nil),
]

/// Two guides, and the programs that come out: channel and title.
private let merges: [(when: String, guides: [String], programs: [String])] = [
    (
        "programs of channels that are not there are cut",
        ["<channel id='bbc1.uk'/><channel id='x'/>" + program("bbc1.uk", "A") + program("x", "B")],
        ["BBC1.uk A"]
    ),
    (
        "programs before their channel, and without one",
        [
            program("s1", "A") + program("bbc1.uk", "B")
                + "<channel id='s1'><display-name>Sky News</display-name></channel>"
        ],
        ["sky-news-hd.liverelay A", "BBC1.uk B"]
    ),
    (
        "an id is surer than a name, whatever the order",
        [
            "<channel id='b'><display-name>BBC One</display-name></channel>" + program("b", "wrong"),
            program("BBC1.uk", "right"),
        ], ["BBC1.uk right"]
    ),
    (
        "of two guides that know it the same way, the first",
        [program("BBC1.uk", "first"), program("BBC1.uk", "second")], ["BBC1.uk first"]
    ),
    (
        "a guide that has the channel and no programs of it does not count",
        ["<channel id='BBC1.uk'/>" + program("x", "y"), program("BBC1.uk", "second")], ["BBC1.uk second"]
    ),
    (
        "of two channels with one name, that with more programs",
        [
            "<channel id='a1'><display-name>Das Erste</display-name></channel>"
                + "<channel id='a2'><display-name>Das Erste</display-name></channel>"
                + program("a1", "A") + program("a2", "B") + program("a2", "C")
        ], ["das-erste.liverelay B", "das-erste.liverelay C"]
    ),
    ("a reference in an id", [program("a&amp;b", "A")], ["a&amp;b A"]),
    ("a character without its reference", [program("a&b", "A")], ["a&amp;b A"]),
    (
        "no start time", ["<programme channel='BBC1.uk'><title>A</title></programme>" + program("BBC1.uk", "B")],
        ["BBC1.uk B"]
    ),
    (
        "one channel for two of ours",
        ["<channel id='BBC1.uk'><display-name>Das Erste</display-name></channel>" + program("BBC1.uk", "A")],
        ["BBC1.uk A", "das-erste.liverelay A"]
    ),
    ("nothing that we have", [program("x", "A")], []),
]

private func program(_ channel: String, _ title: String) -> String {
    "<programme start='20261122140000 +0000' channel='\(channel)'><title>\(title)</title></programme>"
}

@Suite("One guide of several") struct GuideMergeTests {
    private let channels: [ListedChannel]

    init() throws { channels = try M3UChannelListParser.parse(Array(list.utf8)).channels }

    @Test("Channels are matched", arguments: matches)
    func match(when: String, id: String, names: [String], channels: [Int], rank: GuideMatcher.Rank?) {
        let found = GuideMatcher(self.channels).matches(id: id, names: names)
        #expect(Set(found.map(\.channel)) == Set(channels), "\(when)")
        #expect(found.map(\.rank).min() == rank, "\(when)")
    }

    @Test(arguments: merges)
    func merge(when: String, guides: [String], programs: [String]) {
        let text = merged(guides).text
        let found = text.matches(of: /<\w+ start="[^"]*" channel="([^"]*)"><title>([^<]*)<\/title>/)
        #expect(found.map { "\($0.1) \($0.2)" } == programs, "\(when)")
        #expect(text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tv generator-info-name=\"liverelay\">\n"))
        #expect(text.hasSuffix("</tv>\n"))
    }

    @Test("Channels come first, with our names, our numbers, and a logo") func channelElements() {
        let guide =
            "<channel id='BBC1.uk'><display-name>x</display-name><icon src='http://g/1.png'/></channel>"
            + "<channel id='s'><display-name>Sky News</display-name><icon src='http://g/2.png'/></channel>"
            + program("BBC1.uk", "A") + program("s", "B")
        let numbers = TunerDevice.guideNumbers(of: channels)
        let lines = merged([guide]).text.split(separator: "\n").map(String.init)
        let first =
            "<channel id=\"BBC1.uk\"><display-name>BBC One</display-name><display-name>BBC One +0</display-name>"
            + "<display-name>101</display-name><display-name>\(numbers[3])</display-name>"
            + "<icon src=\"http://l/1.png\"/></channel>"
        let second =
            "<channel id=\"sky-news-hd.liverelay\"><display-name>Sky News HD</display-name>"
            + "<display-name>\(numbers[1])</display-name></channel>"
        #expect(lines[2] == first)
        #expect(lines[3] == second)
    }

    @Test("The number of programs is bounded, and the rest is counted") func bound() {
        var limits = GuideLimits()
        limits.programs = 2
        let guide = (0..<5).map { program("BBC1.uk", "\($0)") }.joined()
        let counts = merged([guide], limits: limits).counts
        #expect(counts.programs == 2 && counts.beyondLimit == 3)
    }

    private func merged(
        _ guides: [String], limits: GuideLimits = GuideLimits()
    ) -> (text: String, counts: GuideMerge.Counts) {
        let matcher = GuideMatcher(channels)
        var selection = GuideSelection()
        for (number, guide) in guides.enumerated() {
            var index = GuideIndex(matcher, limits: limits)
            for element in elements(of: guide) { index.record(element) }
            selection.add(index, guide: number)
        }
        var merge = GuideMerge(matcher, selection, limits: limits)
        var output = merge.head()
        for (number, guide) in guides.enumerated() {
            merge.beginGuide()
            for element in elements(of: guide) { merge.append(element, of: number, to: &output) }
        }
        return (String(decoding: output + GuideMerge.tail, as: UTF8.self), merge.counts)
    }

    private func elements(of guide: String) -> [GuideElement] {
        var scanner = GuideScanner()
        scanner.append(Array(guide.utf8))
        scanner.finish()
        var elements: [GuideElement] = []
        while let element = scanner.next() { elements.append(element) }
        return elements
    }
}
