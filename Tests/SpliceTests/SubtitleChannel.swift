import TestSupport

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// A made-up channel with one subtitle rendition: programmes on clocks of their own, cut into segments of picture and
/// segments of text, handed to a `SubtitleTimeline` in some order.
struct SubtitleChannel {
    struct Cue {
        /// Seconds × 1000 behind the programme's first picture.
        var start: Int64
        var end: Int64
        var text: String
    }

    struct SourceProgram {
        /// Presentation time of its first picture on its own clock; the wire has the low 33 bits.
        var clock: Int64
        /// Milliseconds of each segment.
        var pictures: [Int64]
        var texts: [Int64]
        var cues: [Cue] = []
        /// Added to its discontinuity number by a tag in front of it.
        var isTagged = true
    }

    enum Mapping {
        /// MPEGTS is the programme's clock, LOCAL where cue times count from.
        case right
        /// No X-TIMESTAMP-MAP, and cue times count from the beginning of each segment.
        case absentPerSegment
        /// The map is off by so many milliseconds everywhere.
        case off(Int64)
    }

    enum Step: Equatable {
        case picture, text
    }

    var programs: [SourceProgram]
    var mapping = Mapping.right
    var hasDates = true
    /// Of the text playlist's media sequence against the picture's, when both have segments of the same length.
    var numberOffset: UInt64 = 0
    var textDiscontinuityOffset: UInt64 = 0
    var lateness: Ticks? = .seconds(60)

    /// Where programme `index` begins on the channel's timeline.
    func output(_ index: Int) -> Int64 {
        18_000 + programs[..<index].reduce(0) { $0 + $1.pictures.reduce(0, +) * 90 }
    }

    private func discontinuity(_ index: Int) -> UInt64 {
        UInt64(programs[...index].count { $0.isTagged })
    }

    static let epoch: Int64 = 1_700_000_000_000

    /// Segments of picture, with their published numbers.
    var pictures: [(spans: [SourceSpan], pending: SubtitleSegmenter.PublishedSegment)] {
        var number: UInt64 = 100
        var result: [([SourceSpan], SubtitleSegmenter.PublishedSegment)] = []
        for (index, programme) in programs.enumerated() {
            var begin: Int64 = 0
            for length in programme.pictures {
                let output = self.output(index) + begin * 90
                let span = SourceSpan(
                    period: index, mediaSequence: number, discontinuitySequence: discontinuity(index),
                    programDateTime: hasDates ? Self.epoch + output / 90 : nil,
                    start: Ticks(programme.clock + begin * 90), end: Ticks(programme.clock + (begin + length) * 90),
                    outputStart: Ticks(output))
                let pending = SubtitleSegmenter.PublishedSegment(
                    mediaSequence: number, period: index, start: Ticks(output), end: Ticks(output + length * 90))
                result.append(([span], pending))
                (begin, number) = (begin + length, number + 1)
            }
        }
        return result
    }

    var texts: [SubtitleInput] {
        var number = 100 + numberOffset
        var result: [SubtitleInput] = []
        for (index, programme) in programs.enumerated() {
            var begin: Int64 = 0
            for length in programme.texts {
                let date = hasDates ? Self.epoch + output(index) / 90 + begin : nil
                result.append(
                    SubtitleInput(
                        mediaSequence: number, discontinuitySequence: discontinuity(index) + textDiscontinuityOffset,
                        duration: Ticks(length * 90), programDateTime: date,
                        bytes: text(of: programme, from: begin, to: begin + length)))
                (begin, number) = (begin + length, number + 1)
            }
        }
        return result
    }

    private func text(of programme: SourceProgram, from begin: Int64, to end: Int64) -> [UInt8] {
        // Local times begin at an hour, as broadcasters like it.
        let local: Int64 = 3_600_000
        var lines = ["WEBVTT"]
        var base = local
        let wire = { (time: Int64) in Ticks(time).wire.count }
        switch mapping {
        case .right: lines.append("X-TIMESTAMP-MAP=LOCAL:01:00:00.000,MPEGTS:\(wire(programme.clock))")
        case .off(let milliseconds):
            lines.append("X-TIMESTAMP-MAP=MPEGTS:\(wire(programme.clock + milliseconds * 90)),LOCAL:01:00:00.000")
        case .absentPerSegment: base = -begin
        }
        for cue in programme.cues where cue.start < end && cue.end > begin {
            let (start, stop) = (max(0, base + cue.start), base + cue.end)
            lines.append("\n\(WebVTTTime.text(start)) --> \(WebVTTTime.text(stop))\n\(cue.text)")
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// What is given when pictures and texts come in that order, then the rest of the texts, then the rest of the pictures.
    func run(_ order: [Step]) -> SubtitleResult {
        var timeline = SubtitleTimeline(renditions: 1, lateness: lateness)
        var (pictures, texts) = (self.pictures[...], self.texts[...])
        var run = SubtitleResult(segments: pictures.map(\.pending))
        for step in order + texts.map({ _ in .text }) + pictures.map({ _ in .picture }) {
            switch step {
            case .picture:
                guard let next = pictures.popFirst() else { continue }
                run.take(timeline.append(next.spans, of: next.pending))
            case .text:
                guard let next = texts.popFirst() else { continue }
                run.take(timeline.append(next, rendition: 0))
            }
        }
        run.settledBeforeTheEnd = run.files.count
        run.take(timeline.end(0))
        run.take(timeline.endVideo())
        run.counts = timeline.counts
        return run
    }

    /// Picture and text as a live channel has them: what ends first comes first.
    var inStep: [Step] {
        var (picture, text): (Int64, Int64) = (0, 0)
        var steps: [Step] = []
        var (pictures, texts) = (programs.flatMap(\.pictures)[...], programs.flatMap(\.texts)[...])
        while let nextPicture = pictures.first, let nextText = texts.first {
            if picture + nextPicture <= text + nextText {
                picture += nextPicture
                pictures.removeFirst()
                steps.append(.picture)
            } else {
                text += nextText
                texts.removeFirst()
                steps.append(.text)
            }
        }
        return steps
    }
}

/// What a timeline gave.
struct SubtitleResult {
    let segments: [SubtitleSegmenter.PublishedSegment]
    var files: [SegmentSubtitles] = []
    var counts = SubtitleCounts()
    var settledBeforeTheEnd = 0

    init(segments: [SubtitleSegmenter.PublishedSegment]) { self.segments = segments }

    mutating func take(_ settled: [SegmentSubtitles]) { files += settled }

    /// Cues of each file, by the number of its segment.
    var cues: [UInt64: [WebVTT.Cue]] {
        Dictionary(
            files.map { ($0.mediaSequence, (try? WebVTTParser.parse($0.bytes))?.cues ?? []) }, uniquingKeysWith: +)
    }

    /// Start and end of each cue, milliseconds, by its text; several where files differ.
    var times: [String: Set<[Int64]>] {
        cues.values.joined().reduce(into: [:]) { $0[$1.payload, default: []].insert([$1.start, $1.end]) }
    }

    /// Each file stands once, in order; a cue is in the files of all segments it overlaps, and in no others.
    var faults: [String] {
        var faults: [String] = []
        if files.map(\.mediaSequence) != segments.map(\.mediaSequence) { faults.append("not one file a segment") }
        let cues = self.cues
        let all = Set(
            cues.values.joined().map { [$0.start, $0.end] + [Int64(bitPattern: UInt64($0.payload.utf8.count))] })
        if all.isEmpty { faults.append("no cue at all") }
        for segment in segments {
            let held = cues[segment.mediaSequence] ?? []
            if Set(held).count != held.count { faults.append("a cue stands twice in \(segment.mediaSequence)") }
            if held.contains(where: { $0.start * 90 >= segment.end.count || $0.end * 90 + 45 < segment.start.count }) {
                faults.append("a foreign cue in \(segment.mediaSequence)")
            }
        }
        return faults
    }
}
