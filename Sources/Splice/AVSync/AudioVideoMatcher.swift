import Demux
import Media

/// Matches audio to video on the unwrapped 90 kHz clock.
///
/// Audio arrives muxed with the video or in a companion rendition, ahead of the video or after it. It is queued as
/// `AudioSpan`s: consecutive frames on one clock with one configuration. A video span gets the first audio span whose
/// timestamps overlap it. If none does, as in an ad whose audio counts from another base, it gets the span with the
/// same discontinuity sequence number, aligned to the start of the period.
struct AudioVideoMatcher: Sendable {
    /// Largest distance between audio and video that share a clock.
    static let sharedClockTolerance = Ticks.seconds(1)
    /// Longest audio gap inside a period; a longer gap means that the audio moved to another clock.
    static let longestAudioGap = Ticks.seconds(60)
    /// Longest queue of audio for later video; older audio is discarded.
    static let longestQueue = Ticks.seconds(120)
    /// The number of spans queued, beyond which the oldest are discarded: two a second for as long.
    private static let spanLimit = 256

    /// Segments of a rendition that are read before it is taken for audio on a clock of its own: more than those with which
    /// it is joined before the video.
    static let settlingSegments: Int64 = 3
    /// Missing segments of video whose audio is expected.
    static let longestMissing: UInt64 = 64

    /// Longest time by which muxed audio may follow its video. Waiting longer would cost latency, never waiting audio.
    static let longestInterleave = Ticks.seconds(3)

    /// Kind of discontinuity between the queued audio frames and the next ones. `joined`: nothing was received before.
    enum Discontinuity: Equatable, Sendable { case joined, signaled, framesLost }

    struct VideoSpan: Equatable, Sendable {
        var start: Ticks
        var end: Ticks
        var discontinuitySequence: UInt64
        var beginsPeriod: Bool
        /// Time of the first frame on this clock, even if that frame was dropped; audio on another clock begins with
        /// it.
        var clockStart: Ticks?
        /// Whether video is missing before the span, or none was received before.
        var followsLoss = false
        /// The segments of video that are missing before the span, in all.
        var missingBefore: UInt64 = 0
        /// Date of `start` in milliseconds since 1970; nil if the upstream gave none.
        var date: Int64?
        /// Whether the upstream segment has no audio and declares none; later audio belongs to another program.
        var hasNoAudio = false
    }

    private(set) var audioSpans: [AudioSpan] = []
    private var configuration: AudioConfiguration?
    private(set) var lastClockOffset: Ticks?
    /// End of that audio, on the video's clock.
    private(set) var audioEnd: Ticks?
    /// The number of the video's clock then.
    private(set) var audioClock: Int?
    /// Clocks of the video before that of `lastVideoSpan`.
    private(set) var clockCount = 0
    private(set) var lastVideoSpan: VideoSpan?
    private var lastDiscontinuitySequence: UInt64 = 0
    /// Difference between the discontinuity sequence numbers of audio and video, which a rendition may count from
    /// another base. Nil until a period began with audio.
    private(set) var discontinuitySequenceOffset: UInt64?
    /// Video that passed while that difference was not known, one span for each number and clock.
    private var passedSpans: [VideoSpan] = []
    private static let passedLimit = 16
    /// Discontinuity before the next packet.
    private(set) var pendingDiscontinuity: Discontinuity? = .joined
    let isMuxed: Bool
    let longestSegment: Ticks
    /// Whether the rendition's playlist ended, so that no audio follows.
    private(set) var isEnded = false
    /// Counts of frames that matched no video, were damaged or had no time, and of timed metadata items whose frames
    /// matched no video or that came without a frame.
    private(set) var counts = SpliceCounts()
    private var matchedMetadata: [TimedMetadata] = []
    /// Whether the dates of audio and video agree.
    private(set) var dating = AudioDating()

    /// Bytes of the queued audio, beyond which the oldest is discarded.
    var byteLimit: Int

    init(isMuxed: Bool, longestSegment: Ticks = .zero, byteLimit: Int = .max) {
        self.isMuxed = isMuxed
        self.byteLimit = byteLimit
        self.longestSegment = longestSegment
        discontinuitySequenceOffset = isMuxed ? 0 : nil
    }

    mutating func append(_ entry: CompanionQueue.Entry) {
        switch entry {
        case .segment(let demuxed, let number):
            append(demuxed.flushed.audio, discontinuitySequence: nil)
            append(
                demuxed.packets.audio, after: demuxed.boundary, discontinuitySequence: number,
                metadata: demuxed.packets.metadata, date: demuxed.date)
        case .ended(let remaining):
            append(remaining, discontinuitySequence: nil)
            isEnded = true
        }
    }

    /// - Parameter videoStart: time of the first video in the segment of the packets; nil if it has none.
    mutating func append(
        _ packets: [AudioPacket], after boundary: SegmentBoundary, discontinuitySequence: UInt64,
        metadata: [TimedMetadata] = [], videoStart: Ticks? = nil, date: Int64? = nil
    ) {
        if boundary != .plain { beginSpan(after: boundary == .loss ? .framesLost : .signaled) }
        append(
            packets, discontinuitySequence: discontinuitySequence, metadata: metadata, videoStart: videoStart,
            date: date)
    }

    /// Makes the next frame begin a span, whatever its time.
    mutating func beginSpan(after cause: Discontinuity) { pendingDiscontinuity = cause }

    mutating func end() { isEnded = true }

    /// Appends audio packets to the queue. Damaged frames are dropped: a decoder turns them into noise, but a gap of
    /// one frame into silence.
    /// - Parameters:
    ///   - discontinuitySequence: nil if the packets belong to the segment of the packets before.
    ///   - metadata: timed metadata that belongs to the first of the packets.
    ///   - date: that of the first of the packets, in milliseconds since 1970; nil if it is not known.
    mutating func append(
        _ packets: [AudioPacket], discontinuitySequence: UInt64?, metadata: [TimedMetadata] = [],
        videoStart: Ticks? = nil, date: Int64? = nil
    ) {
        var (metadata, date) = (metadata, date)
        for packet in packets {
            guard !packet.isDamaged else {
                counts[.damagedAudioFrames] += 1
                continue
            }
            if pendingDiscontinuity != nil || audioSpans.last?.continues(with: packet) != true {
                guard packet.pts != nil else {
                    counts[.untimedAudioFrames] += 1
                    continue
                }
                audioSpans.append(
                    AudioSpan(
                        first: packet, discontinuitySequence: discontinuitySequence ?? lastDiscontinuitySequence,
                        after: pendingDiscontinuity, videoStart: videoStart))
                pendingDiscontinuity = nil
                learnSequenceOffset()
            }
            audioSpans[audioSpans.count - 1].append(packet)
            audioSpans[audioSpans.count - 1].append(metadata)
            if let first = date { audioSpans[audioSpans.count - 1].record(first) }
            (metadata, date) = ([], nil)
        }
        counts[.discardedTimedMetadata] += metadata.count
        lastDiscontinuitySequence = discontinuitySequence ?? lastDiscontinuitySequence
        dropOldest()
    }

    private mutating func dropOldest() {
        var (duration, bytes, count) = (Ticks.zero, 0, 0)
        let kept = audioSpans.reversed().prefix { span in
            duration = duration + span.queuedDuration
            bytes += span.byteCount
            count += 1
            return duration <= Self.longestQueue && bytes <= byteLimit && count <= Self.spanLimit
        }
        discardFirst(audioSpans.count - kept.count)
    }

    /// Whether muxed audio of `span` is on its way but does not reach `due` yet.
    func isLate(for span: VideoSpan, due: Ticks) -> Bool {
        guard isMuxed, let match = match(span), match.index == audioSpans.count - 1 else { return false }
        let end = audioSpans[match.index].end + match.clockOffset
        return end <= due && end > span.start - Self.longestInterleave
    }

    /// Whether a period begins with `span` and the queue holds only audio left from the period before.
    func hasNoAudio(for span: VideoSpan) -> Bool {
        guard isMuxed, span.beginsPeriod, !span.hasNoAudio else { return false }
        return match(span).map { mayBeLeftover($0.index, span) } ?? true
    }

    /// Whether enough audio was appended to decide the audio of `span`: audio up to its end, other audio after it, or
    /// the end of the rendition. The answer depends only on the audio that was read.
    func canMatch(_ span: VideoSpan) -> Bool {
        if isEnded { return true }
        guard let match = match(span) else { return allAudioFollows(span) }
        if mayBeLeftover(match.index, span) { return false }
        var (index, offset) = (match.index, match.clockOffset)
        while audioSpans[index].end + offset <= span.end - audioSpans[index].configuration.frameDuration {
            index += 1
            guard index < audioSpans.count else { return false }
            guard continues(index, after: index - 1, span) else { return true }
            offset = clockOffset(of: audioSpans[index], for: span)
        }
        return true
    }

    /// Whether the matched audio may be left over from before a jump of the video's clock. More audio than a program
    /// leaves at its end is audio on a clock of its own.
    private func mayBeLeftover(_ index: Int, _ span: VideoSpan) -> Bool {
        guard span.beginsPeriod, !continuesClock(span), audioSpans[index].clockOffset != nil else { return false }
        return audioSpans[index].queuedDuration <= max(span.end - span.start, Self.longestInterleave)
    }

    /// Whether there is audio that begins after `span`, so that none before it is to come.
    private func allAudioFollows(_ span: VideoSpan) -> Bool {
        audioSpans.indices.contains { index in
            let audio = audioSpans[index]
            guard audio.clockOffset == nil else { return false }
            if isOfOtherDate(audio, span) { return dating.isLater(audio, than: span) }
            if hasLaterSequence(audio, than: span) { return true }
            let distance = Ticks(wire: audio.start.wire, near: span.end) - span.end
            guard distance > .zero, distance < Self.longestAudioGap else { return false }
            // On another clock it may be audio of earlier video.
            return isMuxed || followsClock(span) && followsMatchedClock(audio) || isSettled(index, span)
        }
    }

    /// Removes and returns the audio frames of `span`, with times on the video's clock. Audio before the matched span
    /// is discarded.
    mutating func dequeueAudio(for span: VideoSpan) -> [TimedAudio] {
        var span = span
        var frames: [TimedAudio] = []
        while let match = match(span) {
            discardFirst(match.index)
            let isUnknown = discontinuitySequenceOffset == nil || hasRestarted(span)
            // A span has the number of its beginning, which says nothing about a later period; nor does that of audio before a
            // late tag.
            let isTelling = audioSpans[0].clockOffset == nil && audioSpans[0].cause != nil
            if span.beginsPeriod, !isMuxed, isUnknown || isTelling && overlaps(audioSpans[0], span) {
                discontinuitySequenceOffset = audioSpans[0].discontinuitySequence &- span.discontinuitySequence
            }
            configuration = audioSpans[0].configuration
            // Audio that is on the video's clock, and begins after the span, is new to the next one.
            if audioSpans[0].clockOffset == nil, overlaps(audioSpans[0], span),
                let first = audioSpans[0].frames.first, first.pts + match.clockOffset >= span.end
            {
                break
            }
            if match.rule == .continuedSpan { dating.compare(audioSpans[0], with: span) }
            audioSpans[0].clockOffset = match.clockOffset
            lastClockOffset = audioSpans[0].clockOffset
            frames += audioSpans[0].dequeueFrames(before: span.end)
            matchedMetadata += audioSpans[0].dequeueMetadata(before: span.end)
            audioEnd = audioSpans[0].end + (audioSpans[0].clockOffset ?? .zero)
            audioClock = clock(of: span)
            guard audioSpans[0].frames.isEmpty, audioSpans.count > 1, continues(1, after: 0, span),
                audioSpans[1].configuration == configuration
            else { break }
            audioSpans.removeFirst()
            span.beginsPeriod = false
        }
        return frames
    }

    /// Removes and returns audio that arrived after its video span was handled.
    /// - Parameter next: the next video span, which is matched first; nil if none follows.
    mutating func dequeueLateAudio(before next: VideoSpan?) -> [TimedAudio] {
        guard let lastVideoSpan, !lastVideoSpan.hasNoAudio,
            let current = audioSpans.firstIndex(where: { $0.clockOffset != nil }),
            isContinued(audioSpans[current], lastVideoSpan), next.flatMap(match)?.index != current
        else { return [] }
        return audioSpans[current].dequeueFrames(before: lastVideoSpan.end)
    }

    /// Removes and returns the audio that goes on after the last video span, for `longest` at most. Other audio is
    /// discarded, because no video follows.
    mutating func dequeueTail(upTo longest: Ticks) -> [TimedAudio] {
        defer {
            discardFirst(audioSpans.count)
            counts[.discardedTimedMetadata] += dequeueMetadata().count
        }
        guard var span = lastVideoSpan else { return [] }
        span.beginsPeriod = false
        span.end = span.end + longest
        guard let match = match(span), match.rule == .continuedSpan,
            audioSpans[match.index].configuration == configuration
        else { return [] }
        return dequeueAudio(for: span)
    }

    mutating func dequeueMetadata() -> [TimedMetadata] {
        defer { matchedMetadata = [] }
        return matchedMetadata
    }

    private mutating func discardFirst(_ count: Int) {
        for span in audioSpans.prefix(count) {
            counts[.unmatchedAudioFrames] += span.frames.count
            counts[.discardedTimedMetadata] += span.metadata.count
        }
        audioSpans.removeFirst(count)
    }

    mutating func finish(_ span: VideoSpan) {
        let isOverlapped = audioSpans.contains { isOfOtherDate($0, span) && overlaps($0, span, within: .zero) }
        dating.recordMissing(isOverlapped, span)
        (clockCount, lastVideoSpan) = (clock(of: span), span)
        guard discontinuitySequenceOffset == nil else {
            passedSpans = []
            return
        }
        if let last = passedSpans.last, !span.beginsPeriod, last.discontinuitySequence == span.discontinuitySequence {
            passedSpans[passedSpans.count - 1].end = span.end
        } else {
            passedSpans = passedSpans.suffix(Self.passedLimit - 1) + [span]
        }
    }

    /// Learns the difference of the numbers from the newest audio span, if it belongs to video that passed without audio. Late
    /// audio would otherwise be taken for audio of the next period on a clock of its own.
    private mutating func learnSequenceOffset() {
        guard discontinuitySequenceOffset == nil, let audio = audioSpans.last else { return }
        let passed = passedSpans.last { span in
            // Audio of the next period may begin a little before that.
            let time = Ticks(wire: audio.start.wire, near: span.start) + Self.longestLead
            return time >= span.start && time < span.end
        }
        discontinuitySequenceOffset = passed.map { audio.discontinuitySequence &- $0.discontinuitySequence }
    }

    /// Longest time by which audio begins before its video, but for the tolerance of clocks.
    private static let longestLead = Ticks.milliseconds(500)

    func configuration(for span: VideoSpan) -> AudioConfiguration? {
        match(span).map { audioSpans[$0.index].configuration }
    }

    /// Returns the time inside `span` at which audio begins that the current init section does not describe; nil if
    /// there is none.
    func configurationChange(in span: VideoSpan, from track: AudioConfiguration?) -> Ticks? {
        if !span.beginsPeriod, let found = configuration(for: span), found != track { return span.start }
        return nextConfigurationStart(in: span)
    }

    /// Returns the time at which audio of another configuration follows on the same clock.
    private func nextConfigurationStart(in span: VideoSpan) -> Ticks? {
        guard let match = match(span), match.index + 1 < audioSpans.count else { return nil }
        let (current, next) = (audioSpans[match.index], audioSpans[match.index + 1])
        guard next.configuration != current.configuration, !next.frames.isEmpty else { return nil }
        let start = Ticks(wire: next.start.wire, near: current.end)
        guard start > current.end - Ticks.longestFrame else { return nil }
        let presented = start + match.clockOffset
        return presented < span.end ? max(presented, span.start) : nil
    }

    /// Discards the rest of the old configuration after the audio configuration changed on an unbroken clock.
    mutating func discardSpans(codedAs configuration: AudioConfiguration) {
        discardFirst(audioSpans.dropLast().prefix { $0.configuration == configuration }.count)
    }
}
