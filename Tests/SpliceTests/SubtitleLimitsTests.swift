import Support
import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Splice

/// Subtitles beyond what a channel holds.
@Suite struct SubtitleLimitsTests {
    private static func file(cues: Int, payload: String = "x") -> [UInt8] {
        var text = "WEBVTT\n\n"
        for cue in 0..<cues {
            let start = WebVTTTime.text(Int64(cue))
            text += "\(start) --> \(WebVTTTime.text(Int64(cue) + 2000))\n\(payload)\(cue)\n\n"
        }
        return Array(text.utf8)
    }

    @Test func cuesOfOneFileAreLimited() throws {
        let file = try WebVTTParser.parse(Self.file(cues: SubtitleLimits.fileCues + 7))
        #expect(file.cues.count == SubtitleLimits.fileCues)
        #expect(file.dropped == 7)
    }

    @Test func linesOfOneFileAreLimited() throws {
        let empty = [UInt8](repeating: 0x0A, count: SubtitleLimits.fileLines * 3)
        let file = try WebVTTParser.parse(Array("WEBVTT\n".utf8) + empty + Array("00:01.000 --> 00:02.000\nx\n".utf8))
        #expect(file.cues.isEmpty)
        #expect(file.dropped == 1)
    }

    @Test func definitionsOfOneFileAreLimited() throws {
        let text = "WEBVTT\n\n" + String(repeating: "STYLE\n::cue {}\n\n", count: 100)
        let file = try WebVTTParser.parse(Array(text.utf8))
        #expect(file.definitions.count == SubtitleLimits.definitions)
        #expect(file.dropped == 100 - SubtitleLimits.definitions)
    }

    /// Files whose video does not come are held up to a number of bytes, and without their text.
    @Test func heldFilesAreLimitedByTheirBytes() {
        var placer = CuePlacer()
        let file = Self.file(cues: 1000, payload: String(repeating: "p", count: 500))
        for number in 0..<20 {
            let input = SubtitleInput(mediaSequence: UInt64(number), duration: .seconds(6), bytes: file)
            placer.append(input, published: PublishedSpans())
        }
        // The newest one is held whatever its size.
        let held = max(1, SubtitleLimits.heldBytes / file.count)
        #expect(placer.counts[.unplacedCues] == (20 - held) * 1000)
    }

    @Test func heldFilesAreLimitedByTheirCues() {
        var placer = CuePlacer()
        let file = Self.file(cues: 3000)
        for number in 0..<20 {
            let input = SubtitleInput(mediaSequence: UInt64(number), duration: .seconds(6), bytes: file)
            placer.append(input, published: PublishedSpans())
        }
        #expect(placer.counts[.unplacedCues] == (20 - SubtitleLimits.heldCues / 3000) * 3000)
    }

    @Test func placedCuesAreLimited() {
        var segmenter = SubtitleSegmenter()
        let cues = (0..<SubtitleLimits.placedCues + 5).map { index in
            PlacedCue(
                cue: WebVTT.Cue(identifier: nil, start: 0, end: 0, settings: "", payload: "\(index)"), definitions: [],
                period: 0, start: Ticks(Int64(index)), end: .seconds(60))
        }
        segmenter.append(CuePlacer.Placement(cues: cues, coveredUntil: nil, undecidedFrom: nil))
        #expect(segmenter.counts[.droppedCues] == 5)
    }

    @Test func publishedFileIsLimited() {
        var segmenter = SubtitleSegmenter()
        let payload = String(repeating: "p", count: 40_000)
        let cues = (0..<40).map { index in
            PlacedCue(
                cue: WebVTT.Cue(identifier: nil, start: 0, end: 0, settings: "", payload: "\(index)\(payload)"),
                definitions: [], period: 0, start: .zero, end: .seconds(1))
        }
        segmenter.append(CuePlacer.Placement(cues: cues, coveredUntil: nil, undecidedFrom: nil))
        segmenter.append(
            SubtitleSegmenter.PublishedSegment(mediaSequence: 0, period: 0, start: .zero, end: .seconds(6)))
        segmenter.end()
        let files = segmenter.dequeueCompleted(on: PublishedSpans(), maxLateness: nil)
        #expect(files.count == 1)
        #expect(files.first.map { $0.bytes.count <= SubtitleLimits.publishedBytes + 1000 } == true)
        #expect(segmenter.counts[.cues] + segmenter.counts[.droppedCues] == 40)
        #expect(segmenter.counts[.droppedCues] > 0)
    }
}
