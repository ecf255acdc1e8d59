import Testing

@testable import Demux
@testable import Splice

/// Codes of line 21 in words, for CC1 unless said.
enum CEA608 {
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

    static func pairs(_ bytes: [UInt8], field: Int = 0) -> [CEA608Pair] {
        stride(from: 0, to: bytes.count, by: 2).map {
            CEA608Pair(field: field, first: withParity(bytes[$0]), second: withParity(bytes[$0 + 1]))
        }
    }

    private static func withParity(_ byte: UInt8) -> UInt8 { byte.nonzeroBitCount % 2 == 0 ? byte | 0x80 : byte }
}

struct CEA608Row: Sendable, CustomTestStringConvertible {
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

private let row15 = CEA608.code(0x14, 0x60)
private let row14 = CEA608.code(0x14, 0x40)

let cea608Rows: [CEA608Row] = [
    CEA608Row("loaded text is not shown", [CEA608.popOn, row15, CEA608.text("Hello")]),
    CEA608Row(
        "the end of the caption shows it", [CEA608.popOn, row15, CEA608.text("Hello"), CEA608.end], shows: "Hello"),
    CEA608Row(
        "two rows, the lower first",
        [CEA608.popOn, row15, CEA608.text("below"), row14, CEA608.text("above"), CEA608.end], shows: "above", "below"),
    CEA608Row(
        "the next caption is loaded while this one is shown",
        [
            CEA608.popOn, row15, CEA608.text("one"), CEA608.end, CEA608.popOn, CEA608.eraseLoaded, row15,
            CEA608.text("two"),
        ], shows: "one"),
    CEA608Row("erased", [CEA608.popOn, row15, CEA608.text("one"), CEA608.end, CEA608.erase]),
    CEA608Row("text before any mode is nothing", [row15, CEA608.text("lost")]),
    CEA608Row("roll-up writes at once", [CEA608.rollUp(2), row15, CEA608.text("now")], shows: "now"),
    CEA608Row(
        "roll-up of two rows keeps two",
        [
            CEA608.rollUp(2), row15, CEA608.text("one"), CEA608.newLine, CEA608.text("two"), CEA608.newLine,
            CEA608.text("three"),
        ], shows: "two", "three"),
    CEA608Row(
        "a new line that comes four times is two",
        [CEA608.rollUp(3), row15, CEA608.text("one"), CEA608.newLine, CEA608.newLine, CEA608.text("two")],
        shows: "one", "two"),
    CEA608Row(
        "roll-up moves up with its base row",
        [CEA608.rollUp(2), row15, CEA608.text("one"), CEA608.newLine, CEA608.text("two"), CEA608.code(0x11, 0x40)],
        shows: "two"),
    CEA608Row("paint-on writes at once", [CEA608.paintOn, row15, CEA608.text("now")], shows: "now"),
    CEA608Row(
        "an indent, and a tab",
        [
            CEA608.paintOn, CEA608.code(0x14, 0x74), CEA608.text("ab"), CEA608.code(0x17, 0x22),
            CEA608.text("cd"),
        ], shows: "ab  cd"),
    CEA608Row(
        "a change of style takes a column",
        [CEA608.paintOn, row15, CEA608.text("ab"), CEA608.code(0x11, 0x2E), CEA608.text("cd")], shows: "ab cd"),
    CEA608Row(
        "characters that ASCII has not", [CEA608.paintOn, row15, [0x2A, 0x7E], CEA608.code(0x11, 0x37)], shows: "áñ♪"),
    CEA608Row(
        "an extended character replaces the one before it",
        [CEA608.paintOn, row15, CEA608.text("cE"), CEA608.code(0x12, 0x21), CEA608.text("t"), [0x6F, 0]],
        shows: "cÉto"),
    CEA608Row("German characters", [CEA608.paintOn, row15, CEA608.text("AA"), CEA608.code(0x13, 0x30)], shows: "AÄ"),
    CEA608Row(
        "backspace, and delete to the end of the row",
        [
            CEA608.paintOn, row15, CEA608.text("abcd"), CEA608.backspace, CEA608.text("x"), row15,
            CEA608.code(0x17, 0x21), CEA608.code(0x17, 0x21), CEA608.deleteToEnd,
        ], shows: "ab"),
    CEA608Row("text mode is no caption", [CEA608.paintOn, CEA608.textMode, CEA608.text("text")]),
    CEA608Row(
        "the other channel of the field",
        [CEA608.code(0x1C, 0x29), CEA608.code(0x1C, 0x60), CEA608.text("two")], channel: 2, shows: "two"),
    CEA608Row("text of the other channel is not of this", [CEA608.code(0x1C, 0x29), CEA608.text("two")]),
    CEA608Row(
        "CC3 is in the second field", [CEA608.code(0x15, 0x29), CEA608.code(0x15, 0x60), CEA608.text("tres")], field: 1,
        channel: 3, shows: "tres"),
    CEA608Row("the second field is not of CC1", [CEA608.paintOn, CEA608.text("tres")], field: 1),
    CEA608Row(
        "extended data services between two texts",
        [
            CEA608.code(0x15, 0x29), CEA608.text("ab"), [0x01, 0x05], CEA608.text("PROGRAM "), [0x0F, 0x1A],
            CEA608.code(0x15, 0x60), CEA608.text("cd"),
        ], field: 1, channel: 3, shows: "cd", "ab"),
    CEA608Row(
        "more than 32 columns overwrite the last",
        [CEA608.paintOn, row15, CEA608.text(String(repeating: "a", count: 34)), CEA608.text("zz")],
        shows: String(repeating: "a", count: 31) + "z"),
]

@Test(arguments: cea608Rows)
func cea608(row: CEA608Row) {
    var decoder = CEA608Decoder(channel: row.channel)
    for pair in CEA608.pairs(row.bytes, field: row.field) { _ = decoder.decode(pair) }
    #expect(decoder.lines == row.lines)
}

@Test func cea608PairWithWrongParityIsNothing() {
    var decoder = CEA608Decoder(channel: 1)
    for pair in CEA608.pairs(CEA608.paintOn + row15 + CEA608.text("abcd")) {
        let isThird = pair == CEA608.pairs(CEA608.text("ab"))[0]
        _ = decoder.decode(isThird ? CEA608Pair(field: 0, first: pair.first ^ 1, second: pair.second) : pair)
    }
    #expect(decoder.lines == ["cd"])
}

@Test(arguments: 1...40 as ClosedRange<UInt64>)
func cea608TakesAnything(seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    var decoder = CEA608Decoder(channel: Int(seed % 4) + 1)
    for _ in 0..<5000 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let bytes = [UInt8(truncatingIfNeeded: state >> 33), UInt8(truncatingIfNeeded: state >> 41)].map { $0 & 0x7F }
        _ = decoder.decode(CEA608.pairs(bytes, field: Int(state >> 60 & 1))[0])
        #expect(decoder.lines.count <= 15 && decoder.lines.allSatisfy { $0.count <= 32 })
    }
}
