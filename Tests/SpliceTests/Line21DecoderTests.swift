import Demux
import Testing

@testable import Splice

/// Codes of line 21 in words, for CC1 unless said.
enum Line21 {
    static let (popOn, paintOn, end) = (code(0x14, 0x20), code(0x14, 0x29), code(0x14, 0x2F))
    static let (erase, eraseLoaded, newLine) = (code(0x14, 0x2C), code(0x14, 0x2E), code(0x14, 0x2D))
    static let (backspace, deleteToEnd, textMode) = (code(0x14, 0x21), code(0x14, 0x24), code(0x14, 0x2A))

    static func rollUp(_ rows: UInt8) -> [UInt8] { code(0x14, 0x23 + rows) }

    /// A code as encoders send it: twice.
    static func code(_ first: UInt8, _ second: UInt8) -> [UInt8] { [first, second, first, second] }

    static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return bytes.count % 2 == 0 ? bytes : bytes + [0]
    }

    static func pairs(_ bytes: [UInt8], field: Int = 0) -> [Line21Pair] {
        stride(from: 0, to: bytes.count, by: 2).map {
            Line21Pair(field: field, first: withParity(bytes[$0]), second: withParity(bytes[$0 + 1]))
        }
    }

    private static func withParity(_ byte: UInt8) -> UInt8 { byte.nonzeroBitCount % 2 == 0 ? byte | 0x80 : byte }
}

struct Line21Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    var field = 0
    var channel = 1
    let lines: [String]

    init(_ when: String, _ parts: [[UInt8]], field: Int = 0, channel: Int = 1, shows lines: String...) {
        (testDescription, bytes, self.field, self.channel) = (when, parts.flatMap(\.self), field, channel)
        self.lines = lines
    }
}

private let row15 = Line21.code(0x14, 0x60)
private let row14 = Line21.code(0x14, 0x40)

let line21Rows: [Line21Row] = [
    Line21Row("loaded text is not shown", [Line21.popOn, row15, Line21.text("Hello")]),
    Line21Row(
        "the end of the caption shows it", [Line21.popOn, row15, Line21.text("Hello"), Line21.end], shows: "Hello"),
    Line21Row(
        "two rows, the lower first",
        [Line21.popOn, row15, Line21.text("below"), row14, Line21.text("above"), Line21.end], shows: "above", "below"),
    Line21Row(
        "the next caption is loaded while this one is shown",
        [
            Line21.popOn, row15, Line21.text("one"), Line21.end, Line21.popOn, Line21.eraseLoaded, row15,
            Line21.text("two"),
        ], shows: "one"),
    Line21Row("erased", [Line21.popOn, row15, Line21.text("one"), Line21.end, Line21.erase]),
    Line21Row("text before any mode is nothing", [row15, Line21.text("lost")]),
    Line21Row("roll-up writes at once", [Line21.rollUp(2), row15, Line21.text("now")], shows: "now"),
    Line21Row(
        "roll-up of two rows keeps two",
        [
            Line21.rollUp(2), row15, Line21.text("one"), Line21.newLine, Line21.text("two"), Line21.newLine,
            Line21.text("three"),
        ], shows: "two", "three"),
    Line21Row(
        "a new line that comes four times is two",
        [Line21.rollUp(3), row15, Line21.text("one"), Line21.newLine, Line21.newLine, Line21.text("two")],
        shows: "one", "two"),
    Line21Row(
        "roll-up moves up with its base row",
        [Line21.rollUp(2), row15, Line21.text("one"), Line21.newLine, Line21.text("two"), Line21.code(0x11, 0x40)],
        shows: "two"),
    Line21Row("paint-on writes at once", [Line21.paintOn, row15, Line21.text("now")], shows: "now"),
    Line21Row(
        "an indent, and a tab",
        [
            Line21.paintOn, Line21.code(0x14, 0x74), Line21.text("ab"), Line21.code(0x17, 0x22),
            Line21.text("cd"),
        ], shows: "ab  cd"),
    Line21Row(
        "a change of style takes a column",
        [Line21.paintOn, row15, Line21.text("ab"), Line21.code(0x11, 0x2E), Line21.text("cd")], shows: "ab cd"),
    Line21Row(
        "characters that ASCII has not", [Line21.paintOn, row15, [0x2A, 0x7E], Line21.code(0x11, 0x37)], shows: "áñ♪"),
    Line21Row(
        "an extended character replaces the one before it",
        [Line21.paintOn, row15, Line21.text("cE"), Line21.code(0x12, 0x21), Line21.text("t"), [0x6F, 0]],
        shows: "cÉto"),
    Line21Row("German characters", [Line21.paintOn, row15, Line21.text("AA"), Line21.code(0x13, 0x30)], shows: "AÄ"),
    Line21Row(
        "backspace, and delete to the end of the row",
        [
            Line21.paintOn, row15, Line21.text("abcd"), Line21.backspace, Line21.text("x"), row15,
            Line21.code(0x17, 0x21), Line21.code(0x17, 0x21), Line21.deleteToEnd,
        ], shows: "ab"),
    Line21Row("text mode is no caption", [Line21.paintOn, Line21.textMode, Line21.text("text")]),
    Line21Row(
        "the other channel of the field",
        [Line21.code(0x1C, 0x29), Line21.code(0x1C, 0x60), Line21.text("two")], channel: 2, shows: "two"),
    Line21Row("text of the other channel is not of this", [Line21.code(0x1C, 0x29), Line21.text("two")]),
    Line21Row(
        "CC3 is in the second field", [Line21.code(0x15, 0x29), Line21.code(0x15, 0x60), Line21.text("tres")], field: 1,
        channel: 3, shows: "tres"),
    Line21Row("the second field is not of CC1", [Line21.paintOn, Line21.text("tres")], field: 1),
    Line21Row(
        "extended data services between two texts",
        [
            Line21.code(0x15, 0x29), Line21.text("ab"), [0x01, 0x05], Line21.text("PROGRAM "), [0x0F, 0x1A],
            Line21.code(0x15, 0x60), Line21.text("cd"),
        ], field: 1, channel: 3, shows: "cd", "ab"),
    Line21Row(
        "more than 32 columns overwrite the last",
        [Line21.paintOn, row15, Line21.text(String(repeating: "a", count: 34)), Line21.text("zz")],
        shows: String(repeating: "a", count: 31) + "z"),
]

@Test(arguments: line21Rows)
func line21(row: Line21Row) {
    var decoder = Line21Decoder(channel: row.channel)
    for pair in Line21.pairs(row.bytes, field: row.field) { _ = decoder.decode(pair) }
    #expect(decoder.screen.lines == row.lines)
}

@Test func line21PairWithWrongParityIsNothing() {
    var decoder = Line21Decoder(channel: 1)
    for pair in Line21.pairs(Line21.paintOn + row15 + Line21.text("abcd")) {
        let isThird = pair == Line21.pairs(Line21.text("ab"))[0]
        _ = decoder.decode(isThird ? Line21Pair(field: 0, first: pair.first ^ 1, second: pair.second) : pair)
    }
    #expect(decoder.screen.lines == ["cd"])
}

@Test(arguments: 1...40 as ClosedRange<UInt64>)
func line21TakesAnything(seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    var decoder = Line21Decoder(channel: Int(seed % 4) + 1)
    for _ in 0..<5000 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let bytes = [UInt8(truncatingIfNeeded: state >> 33), UInt8(truncatingIfNeeded: state >> 41)].map { $0 & 0x7F }
        _ = decoder.decode(Line21.pairs(bytes, field: Int(state >> 60 & 1))[0])
        #expect(decoder.screen.lines.count <= 15 && decoder.screen.lines.allSatisfy { $0.count <= 32 })
    }
}
