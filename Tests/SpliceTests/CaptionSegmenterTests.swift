import Demux
import Media
import Support
import Testing

@testable import Splice

/// Captions that frames carry, at seconds of the channel's time, in segments of 4 s.
struct CaptionRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let frames: [(time: Double, bytes: [UInt8])]
    var discontinuities: Set<Int> = []
    var missing: Set<Int> = []
    /// Cues of each segment: start, end, text.
    let cues: [[(Double, Double, String)]]
}

private func loaded(_ text: String) -> [UInt8] {
    CEA608.popOn + CEA608.eraseLoaded + CEA608.code(0x14, 0x60) + CEA608.text(text)
}

let captionRows: [CaptionRow] = [
    CaptionRow(
        testDescription: "shown and erased within a segment",
        frames: [(0, loaded("Hello")), (1, CEA608.end), (3, CEA608.erase)], cues: [[(1, 3, "Hello")], []]),
    CaptionRow(
        testDescription: "stands over the end of a segment",
        frames: [(0, loaded("Hello")), (3, CEA608.end), (5, CEA608.erase)],
        cues: [[(3, 4, "Hello")], [(4, 5, "Hello")]]),
    CaptionRow(
        testDescription: "one follows the other",
        frames: [(0, loaded("one")), (1, CEA608.end + loaded("two")), (2, CEA608.end)],
        cues: [[(1, 2, "one"), (2, 4, "two")], [(4, 8, "two")]]),
    CaptionRow(
        testDescription: "ends where another period begins",
        frames: [(0, loaded("Hello")), (1, CEA608.end)], discontinuities: [1], cues: [[(1, 4, "Hello")], []]),
    CaptionRow(
        testDescription: "ends where media is missing",
        frames: [(0, loaded("Hello")), (1, CEA608.end)], missing: [1], cues: [[(1, 4, "Hello")], [], []]),
    CaptionRow(
        testDescription: "is erased 16 s after the last data",
        frames: [(0, loaded("Hello")), (1, CEA608.end)],
        cues: [
            [(1, 4, "Hello")], [(4, 8, "Hello")], [(8, 12, "Hello")], [(12, 16, "Hello")], [(16, 17, "Hello")],
        ]),
    CaptionRow(
        testDescription: "what is written on the screen within a quarter of a second is one cue",
        frames: [
            (1, CEA608.rollUp(2) + CEA608.code(0x14, 0x60) + CEA608.text("He")), (1.1, CEA608.text("ll")),
            (1.2, CEA608.text("o")), (1.5, CEA608.text(" you")),
        ], cues: [[(1, 1.5, "Hello"), (1.5, 4, "Hello you")]]),
    CaptionRow(
        testDescription: "text is escaped",
        frames: [(0, loaded("<i> & >")), (1, CEA608.end)], cues: [[(1, 4, "&lt;i&gt; &amp; &gt;")]]),
]

@Test(arguments: captionRows)
func captions(row: CaptionRow) throws {
    var segmenter = CaptionSegmenter(.cea608(channel: 1))
    for (index, expected) in row.cues.enumerated() where !row.missing.contains(index) {
        let (start, end) = (Ticks.seconds(Int64(index) * 4), Ticks.seconds(Int64(index) * 4 + 4))
        let frames = row.frames.filter { Int($0.time / 4) == index }
            .map {
                CaptionUnit(
                    time: .milliseconds(Int64($0.time * 1000)), content: .cea608(CEA608.pairs($0.bytes)))
            }
        let file = segmenter.write(
            frames, from: start, to: end, isDiscontinuous: row.discontinuities.contains(index))
        let cues = try WebVTTParser.parse(file).cues
        #expect(cues.map(\.payload) == expected.map(\.2), "segment \(index)")
        #expect(cues.map(\.start) == expected.map { Int64($0.0 * 1000) }, "segment \(index)")
        #expect(cues.map(\.end) == expected.map { Int64($0.1 * 1000) }, "segment \(index)")
    }
}

@Test func captionsGoOnWhereDurationsAreRounded() throws {
    var segmenter = CaptionSegmenter(.cea608(channel: 1))
    let frame = CaptionUnit(
        time: .seconds(1), content: .cea608(CEA608.pairs(loaded("Hello") + CEA608.end)))
    _ = segmenter.write([frame], from: .zero, to: .seconds(4), isDiscontinuous: false)
    for start in [Ticks.seconds(4) + Ticks(90), .seconds(8) - Ticks(90)] {
        let file = segmenter.write([], from: start, to: start + .seconds(4), isDiscontinuous: false)
        #expect(try WebVTTParser.parse(file).cues.map(\.payload) == ["Hello"])
    }
}

@Test func captionsOfASegmentAreBounded() throws {
    var segmenter = CaptionSegmenter(.cea608(channel: 1))
    let blink = (0..<3000).map { number in
        CaptionUnit(
            time: .milliseconds(Int64(number)),
            content: .cea608(CEA608.pairs(number % 2 == 0 ? loaded("\(number)") + CEA608.end : CEA608.erase)))
    }
    let file = segmenter.write(blink, from: .zero, to: .seconds(4), isDiscontinuous: false)
    #expect(try WebVTTParser.parse(file).cues.count == CaptionSegmenter.cueLimit)
    #expect(segmenter.counts[.droppedCues] == 1500 - CaptionSegmenter.cueLimit)
    #expect(segmenter.counts[.cues] == CaptionSegmenter.cueLimit)
}
