/// Lays audio frames end to end on the channel's timeline, exact to the sample.
///
/// Inside a run frames are counted, not timed: each lasts what its samples last. The source's times are looked at only
/// to see whether it really departed (more than half a frame, kept up over five frames), and at the start of a run.
/// Then whole frames that overlap are left out, whole frames that lack are filled with silence, and the rest, less than
/// one frame, is carried by the duration of the first frame after the hole. So decode time never jumps.
struct AudioClock: Equatable, Sendable {
    /// A frame this early at a seam is kept: leaving it out would make a hole of nearly a whole frame.
    static let toleratedOverlap = ProgramTimeline.audioTime(.milliseconds(2))
    static let framesToDepart = 5
    /// What silence or a longer frame may close between two runs, where the first of them had no track of sound.
    static let longestLag = ProgramTimeline.audioTime(.seconds(1))
    /// The same where it had one: a segment at most.
    static let longestTail = ProgramTimeline.audioTime(.seconds(30))

    struct Counts: Equatable, Sendable {
        /// Frames left out because their time was taken already.
        var overlapping = 0
        /// Frames left out because the run's picture had ended.
        var trimmed = 0
        /// Frames of silence put where the source had none.
        var silent = 0
        /// Holes and overlaps inside runs.
        var departures = 0
    }

    /// A frame of the run before that came when that was written: where on the channel's timeline it belongs.
    private struct LateFrame: Equatable, Sendable {
        let time: Int64
        let payload: ArraySlice<UInt8>
    }

    /// Next decode time in the audio timescale, for the life of the channel; nil before the first frame.
    private(set) var next: Int64?
    private(set) var configuration: AudioConfiguration?
    private(set) var counts = Counts()
    private var timeline: ProgramTimeline?
    private var pending: [TimedAudio] = []
    private var late: [LateFrame] = []
    private var isAtStart = false
    /// Of the run's configuration; nil when none could be made.
    private var silence: SilentFrame?
    /// What was heard last, for the one case in which a frame is due and there is neither sound nor silence.
    private var lastPayload: [UInt8] = []
    private let fillsHoles: Bool

    /// - Parameters: `next`, `configuration`: where an earlier process of the channel stopped.
    ///   `fillsHoles`: with silence; otherwise the frame behind a hole lasts as much longer.
    init(next: Int64? = nil, configuration: AudioConfiguration? = nil, fillsHoles: Bool = true) {
        self.fillsHoles = fillsHoles
        self.next = next
        self.configuration = configuration
    }

    /// Another run begins. What was left of the old one came too late for its last segment, or lies behind the end of its
    /// picture.
    mutating func beginRun(
        _ configuration: AudioConfiguration?, silence: SilentFrame?, on timeline: ProgramTimeline
    ) {
        if configuration != self.configuration { lastPayload = [] }
        self.silence = silence
        counts.trimmed += late.count + pending.count
        late = configuration == self.configuration ? pendingInTime : []
        counts.trimmed -= late.count
        pending = []
        // Runs without any track of sound leave its clock behind: it goes on with the discontinuity that begins this one.
        // What a run with a track lacked at its end is silence.
        let start = ProgramTimeline.audioTime(timeline.outputPresentation)
        let longest = self.configuration == nil ? Self.longestLag : Self.longestTail
        if let next, start - next > longest { self.next = start }
        self.configuration = configuration
        self.timeline = timeline
        isAtStart = true
    }

    /// The channel went on to `position` without this clock; nothing is left of the run it was in.
    mutating func resume(at position: TimelinePosition) {
        counts.trimmed += late.count + pending.count
        (late, pending) = ([], [])
        timeline = nil
        next = position.audioDecodeTime ?? next
        configuration = position.sound ?? configuration
    }

    /// What is coded like the sound to come, and stands where silence would: see `layLate`.
    private var pendingInTime: [LateFrame] {
        guard let timeline else { return [] }
        return pending.map { LateFrame(time: timeline.audioTime(of: $0.pts), payload: $0.packet.payload) }
    }

    mutating func append(_ frames: [TimedAudio]) { pending += frames }

    /// Takes the samples that end no later than the picture of a segment does.
    /// - Parameters: `start`, `end`: presentation times of that segment's picture on the channel's timeline.
    /// - Returns: nil when the run has no sound at all; otherwise at least one sample.
    mutating func cut(from start: Ticks, to end: Ticks) -> (decodeTime: Int64, samples: [MuxSample])? {
        guard let configuration, let timeline else { return nil }
        let limit = ProgramTimeline.audioTime(end)
        var writer = AudioSampleWriter(
            configuration: configuration, silence: silence, fillsHoles: fillsHoles,
            next: next ?? firstTime(on: timeline, from: start), limit: limit)
        let decodeTime = writer.next
        layLate(into: &writer, on: timeline)
        let lateCount = writer.samples.count
        lay(into: &writer, on: timeline)
        if pending.isEmpty, writer.samples.count == lateCount { writer.fillWithSilence() }
        if writer.samples.isEmpty {
            let first = pending.first.flatMap {
                timeline.audioTime(of: $0.pts) - writer.next < writer.frame ? $0.packet.payload : nil
            }
            if writer.forceOne(first, otherwise: lastPayload) { pending.removeFirst() }
        }
        return give(writer, from: decodeTime)
    }

    /// Takes all samples of a run of sound alone, but for those last ones that may be where its times depart.
    /// - Parameter isEnding: nothing of the run follows: those are taken too.
    /// - Returns: nil when there are none.
    mutating func cutAll(isEnding: Bool = false) -> (decodeTime: Int64, samples: [MuxSample])? {
        guard let configuration, let timeline, let first = pending.first else { return nil }
        var writer = AudioSampleWriter(
            configuration: configuration, silence: silence, fillsHoles: fillsHoles,
            next: next ?? timeline.audioTime(of: first.pts), limit: .max)
        let decodeTime = writer.next
        layLate(into: &writer, on: timeline)
        lay(into: &writer, on: timeline, isEnding: isEnding)
        return give(writer, from: decodeTime)
    }

    private mutating func give(
        _ writer: AudioSampleWriter, from decodeTime: Int64
    ) -> (decodeTime: Int64, samples: [MuxSample])? {
        counts.silent += writer.silentFrames
        guard !writer.samples.isEmpty else { return nil }
        next = writer.next
        if silence == nil { lastPayload = writer.samples.last.map { Array($0.payload) } ?? [] }
        return (decodeTime, writer.samples)
    }

    /// Writes what is due up to the writer's limit.
    private mutating func lay(
        into writer: inout AudioSampleWriter, on timeline: ProgramTimeline, isEnding: Bool = false
    ) {
        var taken = 0
        while taken < pending.count {
            let lead = timeline.audioTime(of: pending[taken].pts) - writer.next
            var gap: Int64 = 0
            let verdict =
                isAtStart ? .departed : departure(at: taken, next: writer.next, frame: writer.frame, on: timeline)
            if verdict == .undecided, !isEnding { break }
            if verdict == .departed {
                if lead < -Self.toleratedOverlap {
                    counts.overlapping += 1
                    taken += 1
                    continue
                }
                if !isAtStart { counts.departures += 1 }
                gap = max(0, lead)
            }
            guard writer.write(pending[taken].packet.payload, after: gap) else { break }
            isAtStart = false
            taken += 1
        }
        pending.removeFirst(taken)
    }

    /// Sound of the last run that came when that was written goes on where it stopped, up to where the run's picture ended.
    /// A player hears it as it was: both runs are coded alike.
    private mutating func layLate(into writer: inout AudioSampleWriter, on timeline: ProgramTimeline) {
        let end = ProgramTimeline.audioTime(timeline.outputPresentation)
        for frame in late {
            let isNext = abs(frame.time - writer.next) * 2 <= writer.frame && writer.next + writer.frame <= end
            guard isNext, writer.write(frame.payload, after: 0) else {
                counts.trimmed += 1
                continue
            }
        }
        late = []
    }

    /// A channel's sound begins with its first frame that is not before the picture.
    private func firstTime(on timeline: ProgramTimeline, from start: Ticks) -> Int64 {
        let earliest = ProgramTimeline.audioTime(start)
        let times = pending.lazy.map { timeline.audioTime(of: $0.pts) }
        return times.first { $0 >= earliest } ?? earliest
    }

    private enum Departure { case none, departed, undecided }

    /// Whether the source's times leave the count by more than half a frame, one way, over five frames. As long as fewer
    /// have come and all of them do, it is undecided: one wild time is no departure.
    private func departure(at index: Int, next: Int64, frame: Int64, on timeline: ProgramTimeline) -> Departure {
        let seen = min(Self.framesToDepart, pending.count - index)
        var sign: Int64 = 0
        for offset in 0..<seen {
            let expected = next + Int64(offset) * frame
            let departure = timeline.audioTime(of: pending[index + offset].pts) - expected
            guard abs(departure) * 2 > frame, sign == 0 || departure.signum() == sign else { return .none }
            sign = departure.signum()
        }
        return seen < Self.framesToDepart ? .undecided : .departed
    }
}
