import Demux
import Media
import Mux
import Transcode

/// Lays audio frames end to end on the channel's timeline, exact to the sample.
///
/// Inside a run frames are counted, not timed: each lasts what its samples last. The source's times are looked at only
/// to see whether it really departed (more than half a frame, kept up over five frames), and at the start of a run.
/// Then whole frames that overlap are left out, whole frames that lack are filled with silence, and the rest, less than
/// one frame, is carried by the duration of the first frame after the hole. So decode time never jumps.
struct AudioTrackAssembler: Equatable, Sendable {
    /// A frame this early at a seam is kept: leaving it out would make a hole of nearly a whole frame.
    static let toleratedOverlap = PeriodTimeline.audioTime(.milliseconds(2))
    static let framesToConfirmDrift = 5
    /// What silence or a longer frame may close between two runs, where the first of them had no track of sound.
    static let longestLag = PeriodTimeline.audioTime(.seconds(1))
    /// The same where it had one: a segment at most.
    static let longestMissingTail = PeriodTimeline.audioTime(.seconds(30))

    struct Counts: Equatable, Sendable {
        /// Frames left out because their time was taken already.
        var overlapping = 0
        /// Frames left out because the run's picture had ended.
        var trimmed = 0
        /// Frames of silence put where the source had none.
        var silentFrames = 0
        /// Holes and overlaps inside runs.
        var driftCorrections = 0
    }

    /// A frame of the run before that came when that was written: where on the channel's timeline it belongs.
    private struct LateFrame: Equatable, Sendable {
        let time: Int64
        let payload: ArraySlice<UInt8>
    }

    /// Next decode time in the audio timescale, for the life of the channel; nil before the first frame.
    private(set) var nextDecodeTime: Int64?
    private(set) var configuration: AudioConfiguration?
    private(set) var counts = Counts()
    private var timeline: PeriodTimeline?
    private var pendingFrames: [TimedAudio] = []
    private var lateFrames: [LateFrame] = []
    private var isAtStart = false
    /// Of the run's configuration; nil when none could be made.
    private var silence: SilentFrame?
    /// What was heard last, for the one case in which a frame is due and there is neither sound nor silence.
    private var lastPayload: [UInt8] = []
    private let fillsGaps: Bool

    /// - Parameters: `next`, `configuration`: where an earlier process of the channel stopped.
    ///   `fillsHoles`: with silence; otherwise the frame behind a hole lasts as much longer.
    init(next: Int64? = nil, configuration: AudioConfiguration? = nil, fillsHoles: Bool = true) {
        self.fillsGaps = fillsHoles
        self.nextDecodeTime = next
        self.configuration = configuration
    }

    /// Another run begins. What was left of the old one came too late for its last segment, or lies behind the end of its
    /// picture.
    mutating func beginPeriod(
        _ configuration: AudioConfiguration?, silence: SilentFrame?, on timeline: PeriodTimeline
    ) {
        if configuration != self.configuration { lastPayload = [] }
        self.silence = silence
        counts.trimmed += lateFrames.count + pendingFrames.count
        lateFrames = configuration == self.configuration ? pendingInTime : []
        counts.trimmed -= lateFrames.count
        pendingFrames = []
        // Runs without any track of sound leave its clock behind: it goes on with the discontinuity that begins this one.
        // What a run with a track lacked at its end is silence.
        let start = PeriodTimeline.audioTime(timeline.outputPresentation)
        let longest = self.configuration == nil ? Self.longestLag : Self.longestMissingTail
        if let nextDecodeTime, start - nextDecodeTime > longest { self.nextDecodeTime = start }
        self.configuration = configuration
        self.timeline = timeline
        isAtStart = true
    }

    /// The channel went on to `position` without this clock; nothing is left of the run it was in.
    mutating func resume(at position: TimelinePosition) {
        counts.trimmed += lateFrames.count + pendingFrames.count
        (lateFrames, pendingFrames) = ([], [])
        timeline = nil
        nextDecodeTime = position.audioDecodeTime ?? nextDecodeTime
        configuration = position.audio ?? configuration
    }

    /// What is coded like the sound to come, and stands where silence would: see `layLate`.
    private var pendingInTime: [LateFrame] {
        guard let timeline else { return [] }
        return pendingFrames.map { LateFrame(time: timeline.audioTime(of: $0.pts), payload: $0.packet.payload) }
    }

    mutating func append(_ frames: [TimedAudio]) { pendingFrames += frames }

    /// Takes the samples that end no later than the picture of a segment does.
    /// - Parameters: `start`, `end`: presentation times of that segment's picture on the channel's timeline.
    /// - Returns: nil when the run has no sound at all; otherwise at least one sample.
    mutating func dequeueSamples(from start: Ticks, to end: Ticks) -> (decodeTime: Int64, samples: [MuxSample])? {
        guard let configuration, let timeline else { return nil }
        let limit = PeriodTimeline.audioTime(end)
        var writer = AudioSampleWriter(
            configuration: configuration, silence: silence, fillsHoles: fillsGaps,
            next: nextDecodeTime ?? firstTime(on: timeline, from: start), limit: limit)
        let decodeTime = writer.nextDecodeTime
        writeLate(into: &writer, on: timeline)
        let lateCount = writer.samples.count
        writePending(into: &writer, on: timeline)
        if pendingFrames.isEmpty, writer.samples.count == lateCount { writer.fillWithSilence() }
        if writer.samples.isEmpty {
            let first = pendingFrames.first.flatMap {
                timeline.audioTime(of: $0.pts) - writer.nextDecodeTime < writer.frameDuration ? $0.packet.payload : nil
            }
            if writer.writeAtLeastOne(first, otherwise: lastPayload) { pendingFrames.removeFirst() }
        }
        return finishSegment(writer, from: decodeTime)
    }

    /// Takes all samples of a run of sound alone, but for those last ones that may be where its times depart.
    /// - Parameter isEnding: nothing of the run follows: those are taken too.
    /// - Returns: nil when there are none.
    mutating func dequeueAllSamples(isEnding: Bool = false) -> (decodeTime: Int64, samples: [MuxSample])? {
        guard let configuration, let timeline, let first = pendingFrames.first else { return nil }
        var writer = AudioSampleWriter(
            configuration: configuration, silence: silence, fillsHoles: fillsGaps,
            next: nextDecodeTime ?? timeline.audioTime(of: first.pts), limit: .max)
        let decodeTime = writer.nextDecodeTime
        writeLate(into: &writer, on: timeline)
        writePending(into: &writer, on: timeline, isEnding: isEnding)
        return finishSegment(writer, from: decodeTime)
    }

    private mutating func finishSegment(
        _ writer: AudioSampleWriter, from decodeTime: Int64
    ) -> (decodeTime: Int64, samples: [MuxSample])? {
        counts.silentFrames += writer.silentFrames
        guard !writer.samples.isEmpty else { return nil }
        nextDecodeTime = writer.nextDecodeTime
        if silence == nil { lastPayload = writer.samples.last.map { Array($0.payload) } ?? [] }
        return (decodeTime, writer.samples)
    }

    /// Writes what is due up to the writer's limit.
    private mutating func writePending(
        into writer: inout AudioSampleWriter, on timeline: PeriodTimeline, isEnding: Bool = false
    ) {
        var taken = 0
        while taken < pendingFrames.count {
            let lead = timeline.audioTime(of: pendingFrames[taken].pts) - writer.nextDecodeTime
            var gap: Int64 = 0
            let verdict =
                isAtStart
                ? .confirmed : drift(at: taken, next: writer.nextDecodeTime, frame: writer.frameDuration, on: timeline)
            if verdict == .undecided, !isEnding { break }
            if verdict == .confirmed {
                if lead < -Self.toleratedOverlap {
                    counts.overlapping += 1
                    taken += 1
                    continue
                }
                if !isAtStart { counts.driftCorrections += 1 }
                gap = max(0, lead)
            }
            guard writer.write(pendingFrames[taken].packet.payload, after: gap) else { break }
            isAtStart = false
            taken += 1
        }
        pendingFrames.removeFirst(taken)
    }

    /// Sound of the last run that came when that was written goes on where it stopped, up to where the run's picture ended.
    /// A player hears it as it was: both runs are coded alike.
    private mutating func writeLate(into writer: inout AudioSampleWriter, on timeline: PeriodTimeline) {
        let end = PeriodTimeline.audioTime(timeline.outputPresentation)
        for frame in lateFrames {
            let isNext =
                abs(frame.time - writer.nextDecodeTime) * 2 <= writer.frameDuration
                && writer.nextDecodeTime + writer.frameDuration <= end
            guard isNext, writer.write(frame.payload, after: 0) else {
                counts.trimmed += 1
                continue
            }
        }
        lateFrames = []
    }

    /// A channel's sound begins with its first frame that is not before the picture.
    private func firstTime(on timeline: PeriodTimeline, from start: Ticks) -> Int64 {
        let earliest = PeriodTimeline.audioTime(start)
        let times = pendingFrames.lazy.map { timeline.audioTime(of: $0.pts) }
        return times.first { $0 >= earliest } ?? earliest
    }

    private enum Drift { case none, confirmed, undecided }

    /// Whether the source's times leave the count by more than half a frame, one way, over five frames. As long as fewer
    /// have come and all of them do, it is undecided: one wild time is no departure.
    private func drift(at index: Int, next: Int64, frame: Int64, on timeline: PeriodTimeline) -> Drift {
        let seen = min(Self.framesToConfirmDrift, pendingFrames.count - index)
        var sign: Int64 = 0
        for offset in 0..<seen {
            let expected = next + Int64(offset) * frame
            let departure = timeline.audioTime(of: pendingFrames[index + offset].pts) - expected
            guard abs(departure) * 2 > frame, sign == 0 || departure.signum() == sign else { return .none }
            sign = departure.signum()
        }
        return seen < Self.framesToConfirmDrift ? .undecided : .confirmed
    }
}
