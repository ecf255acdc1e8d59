import Support
import TestSupport

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// A generated channel with one subtitle rendition, for tests of `SubtitleTimeline`.
///
/// Its programs have clocks of their own, and are divided into video segments and subtitle segments.
struct SubtitleChannel {
    struct Cue {
        /// Milliseconds after the program's first frame.
        var start: Int64
        var end: Int64
        var text: String
    }

    struct SourceProgram {
        /// Presentation time of its first frame on its own clock, not reduced to 33 bits.
        var clock: Int64
        /// Durations of the segments, milliseconds.
        var video: [Int64]
        var subtitles: [Int64]
        var cues: [Cue] = []
        /// Whether EXT-X-DISCONTINUITY precedes it.
        var isTagged = true
    }

    enum Mapping {
        /// MPEGTS is the program's clock, and LOCAL the origin of cue times.
        case correct
        /// No X-TIMESTAMP-MAP, and cue times count from the start of each segment.
        case absentPerSegment
        /// The map has a constant error, milliseconds.
        case shifted(Int64)
    }

    enum Step: Equatable {
        case video, subtitles
    }

    var programs: [SourceProgram]
    var mapping = Mapping.correct
    var hasDates = true
    /// Difference of the subtitle playlist's media sequence number to the video's, if both have segments of equal duration.
    var numberOffset: UInt64 = 0
    var discontinuityOffset: UInt64 = 0
    var lateness: Ticks? = .seconds(60)
    /// Numbers of video segments that are lost.
    var lostVideo: Set<UInt64> = []

    /// Returns the start of a program on the channel's timeline.
    func output(_ index: Int) -> Int64 {
        18_000 + programs[..<index].reduce(0) { $0 + $1.video.reduce(0, +) * 90 }
    }

    private func discontinuity(_ index: Int) -> UInt64 {
        UInt64(programs[...index].count { $0.isTagged })
    }

    static let epoch: Int64 = 1_700_000_000_000

    /// Video segments with their published numbers.
    var videoSegments: [(spans: [SourceSpan], pending: SubtitleSegmenter.PublishedSegment)] {
        var (number, period, lost): (UInt64, Int, Int64) = (100, -1, 0)
        var result: [([SourceSpan], SubtitleSegmenter.PublishedSegment)] = []
        for (index, program) in programs.enumerated() {
            period += 1
            var begin: Int64 = 0
            for length in program.video {
                defer { (begin, number) = (begin + length, number + 1) }
                guard !lostVideo.contains(number) else {
                    (period, lost) = (period + 1, lost + length * 90)
                    continue
                }
                let time = self.output(index) + begin * 90
                let output = time - lost
                let span = SourceSpan(
                    period: period, mediaSequence: number, discontinuitySequence: discontinuity(index),
                    programDateTime: hasDates ? Self.epoch + time / 90 : nil,
                    start: Ticks(program.clock + begin * 90), end: Ticks(program.clock + (begin + length) * 90),
                    outputStart: Ticks(output))
                let pending = SubtitleSegmenter.PublishedSegment(
                    mediaSequence: number, period: period, start: Ticks(output), end: Ticks(output + length * 90))
                result.append(([span], pending))
            }
        }
        return result
    }

    var subtitleSegments: [SubtitleInput] {
        var number = 100 + numberOffset
        var result: [SubtitleInput] = []
        for (index, program) in programs.enumerated() {
            var begin: Int64 = 0
            for length in program.subtitles {
                let date = hasDates ? Self.epoch + output(index) / 90 + begin : nil
                result.append(
                    SubtitleInput(
                        mediaSequence: number, discontinuitySequence: discontinuity(index) + discontinuityOffset,
                        duration: Ticks(length * 90), programDateTime: date,
                        bytes: text(of: program, from: begin, to: begin + length)))
                (begin, number) = (begin + length, number + 1)
            }
        }
        return result
    }

    private func text(of program: SourceProgram, from begin: Int64, to end: Int64) -> [UInt8] {
        // Local times begin at one hour, as is common in broadcasting.
        let local: Int64 = 3_600_000
        var lines = ["WEBVTT"]
        var base = local
        let wire = { (time: Int64) in Ticks(time).wire.count }
        switch mapping {
        case .correct: lines.append("X-TIMESTAMP-MAP=LOCAL:01:00:00.000,MPEGTS:\(wire(program.clock))")
        case .shifted(let milliseconds):
            lines.append("X-TIMESTAMP-MAP=MPEGTS:\(wire(program.clock + milliseconds * 90)),LOCAL:01:00:00.000")
        case .absentPerSegment: base = -begin
        }
        for cue in program.cues where cue.start < end && cue.end > begin {
            let (start, stop) = (max(0, base + cue.start), base + cue.end)
            lines.append("\n\(WebVTTTime.text(start)) --> \(WebVTTTime.text(stop))\n\(cue.text)")
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Feeds the segments in `order`, then the remaining subtitle segments, then the remaining video segments.
    func result(_ order: [Step]) -> SubtitleResult {
        var timeline = SubtitleTimeline(sources: [nil], lateness: lateness)
        var (video, subtitles) = (videoSegments[...], subtitleSegments[...])
        var result = SubtitleResult(segments: video.map(\.pending))
        for step in order + subtitles.map({ _ in .subtitles }) + video.map({ _ in .video }) {
            switch step {
            case .video:
                guard let next = video.popFirst() else { continue }
                result.append(timeline.append(next.spans, of: next.pending))
            case .subtitles:
                guard let next = subtitles.popFirst() else { continue }
                result.append(timeline.append(next, rendition: 0))
            }
        }
        result.filesBeforeEnd = result.files.count
        result.append(timeline.end(0))
        result.append(timeline.endVideo())
        result.counts = timeline.counts(of: 0)
        return result
    }

    /// The order of segments in a live channel: by the end of the segment.
    var liveOrder: [Step] {
        var (videoEnd, subtitleEnd): (Int64, Int64) = (0, 0)
        var steps: [Step] = []
        var (video, subtitles) = (programs.flatMap(\.video)[...], programs.flatMap(\.subtitles)[...])
        while let nextVideo = video.first, let nextSubtitles = subtitles.first {
            if videoEnd + nextVideo <= subtitleEnd + nextSubtitles {
                videoEnd += nextVideo
                video.removeFirst()
                steps.append(.video)
            } else {
                subtitleEnd += nextSubtitles
                subtitles.removeFirst()
                steps.append(.subtitles)
            }
        }
        return steps
    }
}

/// The output of a `SubtitleTimeline`.
struct SubtitleResult {
    let segments: [SubtitleSegmenter.PublishedSegment]
    var files: [SegmentSubtitles] = []
    var counts = Counts<SubtitleCount>()
    /// Files emitted before the end of the channel.
    var filesBeforeEnd = 0

    init(segments: [SubtitleSegmenter.PublishedSegment]) { self.segments = segments }

    mutating func append(_ files: [SegmentSubtitles]) { self.files += files }

    /// Cues of each file, by the number of its segment.
    var cues: [UInt64: [WebVTT.Cue]] {
        Dictionary(
            files.map { ($0.mediaSequence, (try? WebVTTParser.parse($0.bytes))?.cues ?? []) }, uniquingKeysWith: +)
    }

    /// Start and end of each cue in milliseconds, by its text. There are several if files differ.
    var times: [String: Set<[Int64]>] {
        cues.values.joined().reduce(into: [:]) { $0[$1.payload, default: []].insert([$1.start, $1.end]) }
    }

    /// Violations of the rules: one file per segment, in order, and a cue in the files of exactly the segments it overlaps.
    var faults: [String] {
        var faults: [String] = []
        if files.map(\.mediaSequence) != segments.map(\.mediaSequence) { faults.append("not one file per segment") }
        let cues = self.cues
        let all = Set(
            cues.values.joined().map { [$0.start, $0.end] + [Int64(bitPattern: UInt64($0.payload.utf8.count))] })
        if all.isEmpty { faults.append("no cue at all") }
        for segment in segments {
            let fileCues = cues[segment.mediaSequence] ?? []
            if Set(fileCues).count != fileCues.count { faults.append("a duplicate cue in \(segment.mediaSequence)") }
            if fileCues.contains(where: { $0.start * 90 >= segment.end.count || $0.end * 90 + 45 < segment.start.count }
            ) {
                faults.append("a cue of another segment in \(segment.mediaSequence)")
            }
        }
        return faults
    }
}
