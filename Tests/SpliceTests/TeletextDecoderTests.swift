import Demux
import Media
import MediaTestSupport
import Support
import Testing

@testable import Splice

private typealias Sample = TeletextSample

private func decoded(_ packets: [[UInt8]], _ page: TeletextPage) -> TeletextDecoder {
    var decoder = TeletextDecoder(page: page)
    for packet in TeletextPacket.packets(in: Sample.payload(packets)) { _ = decoder.decode(packet) }
    return decoder
}

private func boxed(_ codes: [UInt8]) -> [UInt8] { [0x0B, 0x0B] + codes + [0x0A, 0x0A] }
private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Packets, and the text that page 888 displays after them.
private let rows: [(when: String, packets: [[UInt8]], lines: [String])] = [
    (
        "two rows", [Sample.header(0x888), Sample.row(0x888, 20, "Good"), Sample.row(0x888, 22, " day ")],
        ["Good", "day"]
    ),
    ("a row before the header", [Sample.row(0x888, 22, "Hello"), Sample.header(0x888)], []),
    (
        "the header erases the page",
        [Sample.header(0x888), Sample.row(0x888, 22, "Hello"), Sample.header(0x888)], []
    ),
    (
        "the header keeps the page",
        [Sample.header(0x888), Sample.row(0x888, 22, "Hello"), Sample.header(0x888, [])], ["Hello"]
    ),
    (
        "another page of the magazine",
        [Sample.header(0x888), Sample.header(0x801), Sample.row(0x888, 22, "News")], []
    ),
    (
        "a page of another magazine between the rows",
        [
            Sample.header(0x888), Sample.row(0x888, 20, "one"), Sample.header(0x100), Sample.row(0x100, 5, "News"),
            Sample.row(0x888, 22, "two"),
        ], ["one", "two"]
    ),
    (
        "a page of another magazine in serial mode",
        [Sample.header(0x888), Sample.header(0x100, .isSerial), Sample.row(0x888, 22, "News")], []
    ),
    ("the page that is none", [Sample.header(0x888), Sample.header(0x8FF), Sample.row(0x888, 22, "x")], []),
    ("display is inhibited", [Sample.header(0x888, .inhibits), Sample.row(0x888, 22, "Hello")], []),
    (
        "text outside of the box",
        [Sample.header(0x888), Sample.row(0x888, 22, codes: text("no ") + boxed(text("yes")) + text("no"))], ["yes"]
    ),
    ("a row without a box", [Sample.header(0x888), Sample.row(0x888, 22, codes: text("no"))], []),
    (
        "colours are spaces",
        [Sample.header(0x888), Sample.row(0x888, 22, codes: boxed([0x03] + text("one") + [0x06] + text("two")))],
        ["one two"]
    ),
    (
        "mosaics are left out, capitals among them are not",
        [Sample.header(0x888), Sample.row(0x888, 22, codes: boxed([0x12] + text("3aA") + [0x07] + text("b")))],
        ["A b"]
    ),
    (
        "concealed text",
        [
            Sample.header(0x888),
            Sample.row(0x888, 22, codes: boxed(text("a") + [0x18] + text("b") + [0x07] + text("c"))),
        ],
        ["a   c"]
    ),
    (
        "double height covers the row below",
        [
            Sample.header(0x888), Sample.row(0x888, 20, codes: [0x0D] + boxed(text("tall"))),
            Sample.row(0x888, 21, "covered"), Sample.row(0x888, 22, "last"),
        ], ["tall", "last"]
    ),
]

@Test(arguments: rows.indices) func teletextPage(index: Int) {
    let decoder = decoded(rows[index].packets, TeletextPage(number: 0x888, language: .unknown))
    #expect(decoder.lines == rows[index].lines, "\(rows[index].when)")
}

private let characterRows: [(language: String, subset: Int, characters: String)] = [
    ("en", 0, "£$@←½→↑#—¼‖¾÷"), ("de", 1, "#$§ÄÖÜ^_°äöüß"), ("sv", 2, "#¤ÉÄÖÅÜ_éäöåü"), ("it", 3, "£$é°ç→↑#ùàòèì"),
    ("fr", 4, "éïàëêùî#èâôûç"), ("es", 5, "ç$¡áéíóú¿üñèà"), ("cs", 6, "#ůčťžýířéáěúš"), ("pl", 0, "#ńąŻŚŁćóężśłź"),
    ("pl", 1, "#$§ÄÖÜ^_°äöüß"), ("hr", 5, "#ËČĆŽĐŠëčćžđš"), ("de", 7, "£$@←½→↑#—¼‖¾÷"),
]

@Test(arguments: characterRows.indices) func teletextCharacters(index: Int) throws {
    let row = characterRows[index]
    let page = TeletextPage(number: 0x888, language: try #require(LanguageTag(row.language)))
    let national: [UInt8] = [0x23, 0x24, 0x40, 0x5B, 0x5C, 0x5D, 0x5E, 0x5F, 0x60, 0x7B, 0x7C, 0x7D, 0x7E]
    let decoder = decoded(
        [
            Sample.header(0x888, subset: row.subset),
            Sample.row(0x888, 2, codes: boxed(national + text("aZ0%") + [0x7F])),
        ],
        page)
    #expect(decoder.lines == [row.characters + "aZ0%■"], "\(row.language)")
    #expect(decoder.isAtTop)
}

private let hello = [Sample.header(0x888), Sample.row(0x888, 22, "Hello")]

/// PES packets of page 888, and the cues of segments of 4 s.
private let cueRows: [(when: String, packets: [(Double, [[UInt8]])], cues: [[String]])] = [
    ("shown and erased", [(1, hello), (3, [Sample.header(0x888)])], [["1.0-3.0 Hello"], []]),
    (
        "the rows come after their header",
        [(1, [hello[0]]), (1.04, [Sample.header(0x100), hello[1]]), (3, [Sample.header(0x888)])],
        [["1.0-3.0 Hello"], []]
    ),
    (
        "transmitted again", [(1, hello), (2, [hello[0]]), (2.04, [hello[1]]), (3, [Sample.header(0x888)])],
        [["1.0-3.0 Hello"], []]
    ),
    (
        "one follows the other", [(1, hello), (2.5, [hello[0], Sample.row(0x888, 22, "you")])],
        [["1.0-2.5 Hello", "2.5-4.0 you"], ["4.0-8.0 you"]]
    ),
    (
        "the rows come in the next segment", [(3.98, [hello[0]]), (4.02, [hello[1]])],
        [[], ["4.02-8.0 Hello"]]
    ),
    (
        "other pages do not keep it on the screen",
        [(1, hello)] + (2...20).map { (Double($0), [Sample.header(0x100), Sample.row(0x100, 5, "News")]) },
        [["1.0-4.0 Hello"], ["4.0-8.0 Hello"], ["8.0-12.0 Hello"], ["12.0-16.0 Hello"], ["16.0-17.0 Hello"]]
    ),
]

@Test(arguments: cueRows.indices) func teletextCues(index: Int) throws {
    let row = cueRows[index]
    let page = TeletextPage(number: 0x888, language: .unknown)
    var segmenter = CaptionSegmenter(.teletext(page))
    for (number, expected) in row.cues.enumerated() {
        let start = Ticks.seconds(Int64(number) * 4)
        let packets = row.packets.filter { Int($0.0 / 4) == number }.map {
            (Ticks(Int64($0.0 * 90_000)), TeletextPacket.packets(in: Sample.payload($0.1)))
        }
        let file = segmenter.write(
            CaptionUnit.units(of: page, in: packets), from: start, to: start + .seconds(4), isDiscontinuous: false)
        let cues = try WebVTTParser.parse(file).cues.map {
            "\(Double($0.start) / 1000)-\(Double($0.end) / 1000) \($0.payload)"
        }
        #expect(cues == expected, "\(row.when), segment \(number)")
    }
}

@Test func captionSourcesKeepTheirText() throws {
    let page = TeletextPage(number: 0x888, language: try #require(LanguageTag("deu")), isForHearingImpaired: true)
    for source in [CaptionSource.cea608(channel: 3), .teletext(page)] {
        #expect(CaptionSource(text: source.text) == source)
    }
    #expect(["", "CC5", "CC1x", "SERVICE1", "teletext-", "teletext-888"].allSatisfy { CaptionSource(text: $0) == nil })
}
