import Media
import Mux
import Transcode

/// Places audio frames end to end on the channel's timeline, exact to the sample.
///
/// Inside a period frames are counted, not timed: each lasts as long as its samples. The source's timestamps matter
/// only at the start of a period, and where they drift by more than half a frame over five frames. There, overlapping
/// frames are dropped and whole missing frames are filled with silence. The rest, less than one frame, extends the
/// first frame after the gap. So decode times never jump.
struct AudioTrackAssembler: Sendable {
    /// Overlap that is kept at a discontinuity; dropping the frame would leave a gap of nearly a whole frame.
    private static let toleratedOverlap = PeriodTimeline.audioTime(.milliseconds(2))
    static let framesToConfirmDrift = 5
    /// Longest time between two periods that silence or a longer frame fills, if the first had no audio track.
    static let longestLag = PeriodTimeline.audioTime(.seconds(1))
    /// Longest time that silence fills if the first period had an audio track: a segment at most.
    private static let longestMissingTail = PeriodTimeline.audioTime(.seconds(30))

    /// Next decode time in the audio timescale, for the life of the channel; nil before the first frame.
    private(set) var nextDecodeTime: Int64?
    private(set) var configuration: AudioConfiguration?
    /// Counts of frames dropped because they overlapped frames already written or because the video of their period had
    /// ended, of silent frames written, and of gaps and overlaps corrected inside periods.
    private(set) var counts = SpliceCounts()
    private var timeline: PeriodTimeline?
    private var pendingFrames: [TimedAudio] = []
    /// Audio frames that arrived after their period was written, with their times on the channel's timeline.
    private var lateFrames: [(time: Int64, payload: ArraySlice<UInt8>)] = []
    private var isAtStart = false
    /// Silent frame of the period's configuration; nil if none could be made.
    private var silence: SilentFrame?
    private var lastPayload: [UInt8] = []
    private let fillsGaps: Bool

    /// - Parameter fillsGaps: whether silence fills gaps; otherwise the frame after a gap lasts longer.
    init(next: Int64? = nil, configuration: AudioConfiguration? = nil, fillsGaps: Bool = true) {
        self.fillsGaps = fillsGaps
        self.nextDecodeTime = next
        self.configuration = configuration
    }

    /// Begins a period. Frames left of the old one came too late for its last segment, or lie after the end of its
    /// video.
    /// - Parameter start: where the track begins if it does later than the period.
    mutating func beginPeriod(
        _ configuration: AudioConfiguration?, silence: SilentFrame?, on timeline: PeriodTimeline, at start: Ticks? = nil
    ) {
        if configuration != self.configuration { lastPayload = [] }
        self.silence = silence
        let (carried, dropped) = remainingFrames(for: configuration)
        counts[.trimmedAudioFrames] += dropped
        (lateFrames, pendingFrames) = (carried, [])
        // After periods without an audio track, decode times resume at this discontinuity. Audio missing at the end of
        // a period that has a track is filled with silence.
        let start = PeriodTimeline.audioTime(start ?? timeline.outputPresentation)
        let longest = self.configuration == nil ? Self.longestLag : Self.longestMissingTail
        if let nextDecodeTime, start - nextDecodeTime > longest { self.nextDecodeTime = start }
        self.configuration = configuration
        self.timeline = timeline
        isAtStart = true
    }

    /// Resumes at a decode time that other sources reached; drops the frames left of the old period.
    mutating func resume(at decodeTime: Int64?, configuration: AudioConfiguration?) {
        dropPending()
        timeline = nil
        nextDecodeTime = decodeTime ?? nextDecodeTime
        self.configuration = configuration ?? self.configuration
    }

    /// Splits the frames left of the old period into those that the next one writes in place of silence (`writeLate`), and
    /// the number of those that are dropped.
    private func remainingFrames(for next: AudioConfiguration?) -> (
        carried: [(time: Int64, payload: ArraySlice<UInt8>)], dropped: Int
    ) {
        guard let timeline, next == configuration else { return ([], lateFrames.count + pendingFrames.count) }
        return (pendingFrames.map { (timeline.audioTime(of: $0.pts), $0.packet.payload) }, lateFrames.count)
    }

    mutating func append(_ frames: [TimedAudio]) { pendingFrames += frames }

    /// End of the pending frames on the channel's timeline, whether they are counted or timed; nil if there are none.
    var pendingEnd: Ticks? {
        guard let timeline, let configuration, let last = pendingFrames.last else { return nil }
        let frame = TrackTimescale.audio * Int64(configuration.samplesPerFrame) / Int64(configuration.sampleRate.hertz)
        let timed = timeline.audioTime(of: last.pts) + frame
        let counted = (nextDecodeTime ?? 0) + Int64(pendingFrames.count) * frame
        return PeriodTimeline.ticks(ofAudioTime: max(timed, counted)) + Ticks(1)
    }

    /// Drops and counts the frames that were not written: the channel ends.
    mutating func dropPending() {
        counts[.trimmedAudioFrames] += lateFrames.count + pendingFrames.count
        (lateFrames, pendingFrames) = ([], [])
    }

    /// Removes and returns the samples that end no later than the video of a segment.
    /// - Parameters:
    ///   - start: presentation time of that segment's video on the channel's timeline.
    ///   - isEnding: whether nothing follows, so that frames which may drift are returned too.
    ///   - isFinal: whether the track is one by itself, and no more of the segment's audio is waited for: silence takes
    ///     the place of what is missing.
    /// - Returns: nil if the period has no audio track, or a track by itself less than half of its audio and no silence;
    ///   otherwise at least one sample.
    mutating func dequeueSamples(
        from start: Ticks, to end: Ticks, isEnding: Bool = false, isFinal: Bool = false
    ) -> (decodeTime: Int64, samples: [MuxSample])? {
        guard let configuration, let timeline else { return nil }
        let limit = PeriodTimeline.audioTime(end)
        var writer = AudioSampleWriter(
            configuration: configuration, silence: silence, fillsGaps: fillsGaps,
            next: nextDecodeTime ?? firstTime(on: timeline, from: start), limit: limit)
        let decodeTime = writer.nextDecodeTime
        writeLate(into: &writer, on: timeline)
        let lateCount = writer.samples.count
        writePending(into: &writer, on: timeline, isEnding: isEnding, isFinal: isFinal)
        if pendingFrames.isEmpty, isFinal && writer.missesAudio || writer.samples.count == lateCount {
            writer.fillWithSilence()
        }
        if isFinal, !fillsGaps, writer.missesAudio, writer.duration * 2 < limit - decodeTime {
            // A track by itself has a gap instead. The audio after it is placed by its time.
            counts[.trimmedAudioFrames] += writer.samples.count - writer.silentFrames
            (nextDecodeTime, isAtStart) = (max(writer.nextDecodeTime, limit), true)
            return nil
        }
        if writer.samples.isEmpty {
            let first = pendingFrames.first.flatMap {
                timeline.audioTime(of: $0.pts) - writer.nextDecodeTime < writer.frameDuration ? $0.packet.payload : nil
            }
            if writer.writeAtLeastOne(first, otherwise: lastPayload) { pendingFrames.removeFirst() }
        }
        return finishSegment(writer, from: decodeTime)
    }

    /// Removes and returns all samples of an audio-only period, except the last ones while they may drift.
    /// - Parameter isEnding: whether nothing of the period follows, so that those are returned too.
    mutating func dequeueAllSamples(isEnding: Bool = false) -> (decodeTime: Int64, samples: [MuxSample])? {
        guard let configuration, let timeline, let first = pendingFrames.first else { return nil }
        var writer = AudioSampleWriter(
            configuration: configuration, silence: silence, fillsGaps: fillsGaps,
            next: nextDecodeTime ?? timeline.audioTime(of: first.pts), limit: .max)
        let decodeTime = writer.nextDecodeTime
        writeLate(into: &writer, on: timeline)
        writePending(into: &writer, on: timeline, isEnding: isEnding)
        return finishSegment(writer, from: decodeTime)
    }

    private mutating func finishSegment(
        _ writer: AudioSampleWriter, from decodeTime: Int64
    ) -> (decodeTime: Int64, samples: [MuxSample])? {
        counts[.silentAudioFrames] += writer.silentFrames
        guard !writer.samples.isEmpty else { return nil }
        nextDecodeTime = writer.nextDecodeTime
        if silence == nil { lastPayload = writer.samples.last.map { Array($0.payload) } ?? [] }
        return (decodeTime, writer.samples)
    }

    private mutating func writePending(
        into writer: inout AudioSampleWriter, on timeline: PeriodTimeline, isEnding: Bool = false, isFinal: Bool = false
    ) {
        var count = 0
        while count < pendingFrames.count {
            let lead = timeline.audioTime(of: pendingFrames[count].pts) - writer.nextDecodeTime
            var gap: Int64 = 0
            var verdict =
                isAtStart
                ? .confirmed : drift(at: count, next: writer.nextDecodeTime, frame: writer.frameDuration, on: timeline)
            // The audio before a few frames at the end of a segment is missing.
            if verdict == .undecided, isFinal, writer.missesAudio { verdict = .confirmed }
            if verdict == .undecided, !isEnding { break }
            if verdict == .confirmed {
                if lead < -Self.toleratedOverlap {
                    counts[.overlappingAudioFrames] += 1
                    count += 1
                    continue
                }
                if !isAtStart { counts[.audioGapsAndOverlaps] += 1 }
                gap = max(0, lead)
            }
            guard writer.write(pendingFrames[count].packet.payload, after: gap) else { break }
            isAtStart = false
            count += 1
        }
        pendingFrames.removeFirst(count)
    }

    /// Writes late audio of the last period from where that stopped, up to the end of its video. Both periods have one
    /// configuration, so a player decodes it as it was.
    private mutating func writeLate(into writer: inout AudioSampleWriter, on timeline: PeriodTimeline) {
        let end = PeriodTimeline.audioTime(timeline.outputPresentation)
        for frame in lateFrames {
            let isNext =
                abs(frame.time - writer.nextDecodeTime) * 2 <= writer.frameDuration
                && writer.nextDecodeTime + writer.frameDuration <= end
            guard isNext, writer.write(frame.payload, after: 0) else {
                counts[.trimmedAudioFrames] += 1
                continue
            }
        }
        lateFrames = []
    }

    /// Returns the decode time at which a channel's audio begins: its first frame that is not before the video.
    private func firstTime(on timeline: PeriodTimeline, from start: Ticks) -> Int64 {
        let earliest = PeriodTimeline.audioTime(start)
        let times = pendingFrames.lazy.map { timeline.audioTime(of: $0.pts) }
        return times.first { $0 >= earliest } ?? earliest
    }

    private enum Drift { case none, confirmed, undecided }

    /// Whether the source's timestamps depart from the count by more than half a frame, in one direction, over five
    /// frames. While fewer frames have come and all of them depart, the result is undecided: one wrong timestamp is no
    /// drift.
    private func drift(at index: Int, next: Int64, frame: Int64, on timeline: PeriodTimeline) -> Drift {
        let available = min(Self.framesToConfirmDrift, pendingFrames.count - index)
        var sign: Int64 = 0
        for offset in 0..<available {
            let expected = next + Int64(offset) * frame
            let error = timeline.audioTime(of: pendingFrames[index + offset].pts) - expected
            guard abs(error) * 2 > frame, sign == 0 || error.signum() == sign else { return .none }
            sign = error.signum()
        }
        return available < Self.framesToConfirmDrift ? .undecided : .confirmed
    }
}

struct AudioSampleWriter {
    let frameDuration: Int64
    let limit: Int64
    private let silence: SilentFrame?
    private let silentDuration: Int64
    private let fillsGaps: Bool
    private(set) var nextDecodeTime: Int64
    private(set) var samples: [MuxSample] = []
    private(set) var silentFrames = 0

    init(
        configuration: AudioConfiguration, silence: SilentFrame?, fillsGaps: Bool, next: Int64, limit: Int64
    ) {
        let duration = { (samples: Int) in
            TrackTimescale.audio * Int64(samples) / Int64(configuration.sampleRate.hertz)
        }
        frameDuration = duration(configuration.samplesPerFrame)
        silentDuration = duration(silence?.samples ?? configuration.samplesPerFrame)
        self.silence = silence
        self.fillsGaps = fillsGaps
        self.nextDecodeTime = next
        self.limit = limit
    }

    /// Writes a frame after a `gap`, whose whole frames are filled with silence.
    /// - Returns: false if the limit came first.
    mutating func write(_ payload: ArraySlice<UInt8>, after gap: Int64) -> Bool {
        var gap = gap
        while fillsGaps, silence != nil, gap >= silentDuration, nextDecodeTime + silentDuration <= limit {
            appendSilence()
            gap -= silentDuration
        }
        guard nextDecodeTime + gap + frameDuration <= limit else { return false }
        append(payload, lasting: min(frameDuration + gap, Int64(UInt32.max)))
        return true
    }

    /// The duration of the samples.
    var duration: Int64 { samples.reduce(0) { $0 + Int64($1.duration) } }

    /// Whether more than a few frames are missing up to the limit.
    var missesAudio: Bool { limit - nextDecodeTime > frameDuration * Int64(AudioTrackAssembler.framesToConfirmDrift) }

    mutating func fillWithSilence() {
        guard fillsGaps, silence != nil else { return }
        while nextDecodeTime + silentDuration <= limit { appendSilence() }
    }

    /// Writes one frame even if it ends past the limit: a fragment has samples for each track of its init section.
    /// - Parameters:
    ///   - payload: the frame that is due here; nil if none is, then silence is written.
    ///   - last: payload for a configuration without silence; it lasts as long as the fragment.
    /// - Returns: whether `payload` was written.
    mutating func writeAtLeastOne(_ payload: ArraySlice<UInt8>?, otherwise last: [UInt8]) -> Bool {
        if let payload {
            append(payload, lasting: frameDuration)
        } else if silence != nil {
            appendSilence()
        } else {
            append(last[...], lasting: min(max(frameDuration, limit - nextDecodeTime), Int64(UInt32.max)))
        }
        return payload != nil
    }

    private mutating func appendSilence() {
        guard let silence else { return }
        append(silence.payload[...], lasting: silentDuration)
        silentFrames += 1
    }

    private mutating func append(_ payload: ArraySlice<UInt8>, lasting duration: Int64) {
        samples.append(
            MuxSample(duration: UInt32(duration), compositionOffset: 0, isSync: true, payload: payload))
        nextDecodeTime += duration
    }
}
