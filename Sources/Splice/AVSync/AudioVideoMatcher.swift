import Demux
import Media
import Mux
import Transcode

/// Matches audio to video on the unwrapped 90 kHz clock.
///
/// Audio arrives muxed with the video or in a companion rendition, ahead of the video or after it. It is queued as
/// `AudioSpan`s: consecutive frames on one clock with one configuration. A video span gets the first audio span whose
/// timestamps overlap it. If none does, as in an ad whose audio counts from another base, it gets the span with the
/// same discontinuity sequence number, aligned to the start of the period.
struct AudioVideoMatcher: Equatable, Sendable {
    /// Largest distance between audio and video that share a clock.
    static let sharedClockTolerance = Ticks.seconds(1)
    /// Longest audio gap inside a period; a longer gap means that the audio moved to another clock.
    static let longestAudioGap = Ticks.seconds(60)
    /// Longest queue of audio for later video; older audio is discarded.
    static let longestQueue = Ticks.seconds(120)

    /// Longest time by which muxed audio may follow its video.
    static let longestInterleave = Ticks.seconds(3)

    /// Kind of discontinuity between the queued audio frames and the next ones.
    enum Discontinuity: Equatable, Sendable { case signaled, framesLost }

    /// A span of video for which audio is requested.
    struct VideoSpan: Equatable, Sendable {
        /// Presentation times on the video's clock.
        var start: Ticks
        var end: Ticks
        var discontinuitySequence: UInt64
        var beginsPeriod: Bool
        /// Time of the first frame on this clock, even if that frame was dropped; audio on another clock begins with
        /// it.
        var clockStart: Ticks?
        /// Whether the upstream segment has no audio and declares none; later audio belongs to another program.
        var hasNoAudio = false
    }

    private(set) var audioSpans: [AudioSpan] = []
    /// Configuration of the audio dequeued last.
    private var configuration: AudioConfiguration?
    private var lastClockOffset: Ticks?
    /// End of that audio, on the video's clock.
    private var audioEnd: Ticks?
    /// Video span that was handled last.
    private var lastVideoSpan: VideoSpan?
    /// Discontinuity sequence number of the packets appended last.
    private var lastDiscontinuitySequence: UInt64 = 0
    /// Difference between the discontinuity sequence numbers of audio and video, which a rendition may count from
    /// another base. Nil until a period began with audio.
    private var discontinuitySequenceOffset: UInt64?
    /// Discontinuity before the next packet. The first packet follows an unknown one.
    private var pendingDiscontinuity: Discontinuity? = .framesLost
    /// Whether audio and video come in the same segments.
    private let isMuxed: Bool
    /// Whether the rendition's playlist ended, so that no audio follows.
    private(set) var isEnded = false
    /// Number of frames that matched no video.
    private(set) var discarded = 0
    /// Number of frames dropped because their bytes were lost or damaged.
    private(set) var damaged = 0
    /// Number of frames before the first timestamp of their span.
    private(set) var untimed = 0
    /// Number of timed metadata items whose frames matched no video, or that came without a frame.
    private(set) var metadataDiscarded = 0
    /// Timed metadata of the audio dequeued last.
    private var matchedMetadata: [TimedMetadata] = []

    init(isMuxed: Bool) {
        self.isMuxed = isMuxed
        discontinuitySequenceOffset = isMuxed ? 0 : nil
    }

    /// Makes the next frame begin a span, whatever its time.
    mutating func beginSpan(after cause: Discontinuity) { pendingDiscontinuity = cause }

    mutating func end() { isEnded = true }

    /// Appends audio packets to the queue. Damaged frames are dropped: a decoder turns them into noise, but a gap of
    /// one frame into silence.
    /// - Parameters:
    ///   - discontinuitySequence: nil if the packets belong to the segment of the packets before.
    ///   - metadata: timed metadata that belongs to the first of the packets.
    mutating func append(
        _ packets: [AudioPacket], discontinuitySequence: UInt64?, metadata: [TimedMetadata] = []
    ) {
        var metadata = metadata
        for packet in packets {
            guard !packet.isDamaged else {
                damaged += 1
                continue
            }
            if pendingDiscontinuity != nil || audioSpans.last?.continues(with: packet) != true {
                guard packet.pts != nil else {
                    untimed += 1
                    continue
                }
                audioSpans.append(
                    AudioSpan(
                        first: packet, discontinuitySequence: discontinuitySequence ?? lastDiscontinuitySequence,
                        followsLostFrames: pendingDiscontinuity == .framesLost))
                pendingDiscontinuity = nil
            }
            audioSpans[audioSpans.count - 1].append(packet)
            audioSpans[audioSpans.count - 1].append(metadata)
            metadata = []
        }
        metadataDiscarded += metadata.count
        lastDiscontinuitySequence = discontinuitySequence ?? lastDiscontinuitySequence
        dropOldest()
    }

    /// Bounds the queue if the video for it never comes.
    private mutating func dropOldest() {
        var excess = audioSpans.reduce(Ticks.zero) { $0 + $1.queuedDuration } - Self.longestQueue
        while excess > .zero, let first = audioSpans.first {
            excess = excess - first.queuedDuration
            discardFirst()
        }
    }

    /// Whether muxed audio of `span` is on its way but does not reach `due` yet.
    func isLate(for span: VideoSpan, due: Ticks) -> Bool {
        guard isMuxed, let index = match(span), index == audioSpans.count - 1 else { return false }
        let end = audioSpans[index].end + clockOffset(of: audioSpans[index], for: span)
        return end <= due && end > span.start - Self.longestInterleave
    }

    /// Whether a period begins with `span` and the queue holds only audio left from the period before.
    func hasNoAudio(for span: VideoSpan) -> Bool {
        guard isMuxed, span.beginsPeriod, !span.hasNoAudio else { return false }
        return match(span).map { mayBeLeftover($0, span) } ?? true
    }

    /// Whether enough audio was appended to decide the audio of `span`: audio up to its end, other audio after it, or
    /// the end of the rendition. The answer depends only on the audio that was read.
    func canMatch(_ span: VideoSpan) -> Bool {
        if isEnded { return true }
        guard var index = match(span) else { return allAudioFollows(span) }
        if mayBeLeftover(index, span) { return false }
        while audioSpans[index].end + clockOffset(of: audioSpans[index], for: span)
            <= span.end - audioSpans[index].configuration.frameDuration
        {
            index += 1
            guard index < audioSpans.count else { return false }
            guard continues(index, after: index - 1, span) else { return true }
        }
        return true
    }

    /// Whether the matched audio may be left over from before a jump of the video's clock. More audio than a program
    /// leaves at its end is audio on a clock of its own.
    private func mayBeLeftover(_ index: Int, _ span: VideoSpan) -> Bool {
        guard span.beginsPeriod, !continuesClock(span), audioSpans[index].clockOffset != nil else { return false }
        return audioSpans[index].queuedDuration <= max(span.end - span.start, Self.longestInterleave)
    }

    /// Whether all queued audio follows `span`.
    private func allAudioFollows(_ span: VideoSpan) -> Bool {
        audioSpans.contains { audio in
            let distance = Ticks(wire: audio.start.wire, near: span.end) - span.end
            let isNext = audio.clockOffset == nil && distance > .zero && distance < Self.longestAudioGap
            return isNext || hasLaterSequence(audio, than: span)
        }
    }

    /// Removes and returns the audio frames of `span`, with times on the video's clock. Audio before the matched span
    /// is discarded.
    mutating func dequeueAudio(for span: VideoSpan) -> [TimedAudio] {
        var span = span
        var frames: [TimedAudio] = []
        while let index = match(span) {
            for _ in 0..<index { discardFirst() }
            if span.beginsPeriod, !isMuxed, discontinuitySequenceOffset == nil || overlaps(audioSpans[0], span) {
                discontinuitySequenceOffset = audioSpans[0].discontinuitySequence &- span.discontinuitySequence
            }
            audioSpans[0].clockOffset = clockOffset(of: audioSpans[0], for: span)
            configuration = audioSpans[0].configuration
            lastClockOffset = audioSpans[0].clockOffset
            frames += audioSpans[0].dequeueFrames(before: span.end)
            matchedMetadata += audioSpans[0].dequeueMetadata(before: span.end)
            audioEnd = audioSpans[0].end + (audioSpans[0].clockOffset ?? .zero)
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
            isContinued(audioSpans[current], lastVideoSpan), next.flatMap(match) != current
        else { return [] }
        return audioSpans[current].dequeueFrames(before: lastVideoSpan.end)
    }

    /// Removes and returns the metadata of dequeued audio, with times on the video's clock.
    mutating func dequeueMetadata() -> [TimedMetadata] {
        defer { matchedMetadata = [] }
        return matchedMetadata
    }

    private mutating func discardFirst() {
        let first = audioSpans.removeFirst()
        discarded += first.frames.count
        metadataDiscarded += first.metadata.count
    }

    /// Records that `span` was handled, with audio or without.
    mutating func finish(_ span: VideoSpan) { lastVideoSpan = span }

    /// Returns the configuration of the audio that matches `span`.
    func configuration(for span: VideoSpan) -> AudioConfiguration? {
        match(span).map { audioSpans[$0].configuration }
    }

    /// Returns the time inside `span` at which audio begins that the current init section does not describe; nil if
    /// there is none.
    /// - Parameter track: configuration that the current init section describes.
    func configurationChange(in span: VideoSpan, from track: AudioConfiguration?) -> Ticks? {
        if !span.beginsPeriod, let found = configuration(for: span), found != track { return span.start }
        return nextConfigurationStart(in: span)
    }

    /// Returns the time at which audio of another configuration follows on the same clock.
    private func nextConfigurationStart(in span: VideoSpan) -> Ticks? {
        guard let index = match(span), index + 1 < audioSpans.count else { return nil }
        let (current, next) = (audioSpans[index], audioSpans[index + 1])
        guard next.configuration != current.configuration, !next.frames.isEmpty else { return nil }
        let start = Ticks(wire: next.start.wire, near: current.end)
        guard start > current.end - VideoTimestampUnwrapper.longestFrame else { return nil }
        let presented = start + clockOffset(of: current, for: span)
        return presented < span.end ? max(presented, span.start) : nil
    }

    /// Discards the rest of the old configuration after the audio configuration changed on an unbroken clock.
    mutating func discardSpans(codedAs configuration: AudioConfiguration) {
        while let first = audioSpans.first, first.configuration == configuration, audioSpans.count > 1 {
            discardFirst()
        }
    }

    private func match(_ span: VideoSpan) -> Int? {
        if span.hasNoAudio { return nil }
        let candidates = audioSpans.indices.filter { !audioSpans[$0].frames.isEmpty || isOpen($0) }
        guard span.beginsPeriod else {
            return candidates.first { audioSpans[$0].clockOffset != nil && isContinued(audioSpans[$0], span) }
                ?? candidates.first {
                    fitsNext(audioSpans[$0], span) && !hasLaterSequence(audioSpans[$0], than: span)
                }
                ?? candidates.first { matchesSequence($0, span) && hasOwnClock(audioSpans[$0], span) }
        }
        return matchPeriodStart(span, candidates)
    }

    /// Matches the first span of a period: to audio that begins as well, unless audio and video both continue.
    private func matchPeriodStart(_ span: VideoSpan, _ candidates: [Int]) -> Int? {
        let current = candidates.first { audioSpans[$0].clockOffset != nil }
        let later = candidates.filter { audioSpans[$0].clockOffset == nil }
        let fitting = later.first { matchesSequence($0, span) && overlaps(audioSpans[$0], span) }
        let isTagged = lastVideoSpan?.discontinuitySequence != span.discontinuitySequence
        if isTagged, let fitting { return fitting }
        let isKnown = isTagged && !isMuxed && discontinuitySequenceOffset != nil
        if isKnown, let own = later.first(where: { matchesSequence($0, span) && hasOwnClock(audioSpans[$0], span) }) {
            return own
        }
        let next =
            fitting
            ?? later.first {
                overlaps(audioSpans[$0], span) && (isMuxed || !hasLaterSequence(audioSpans[$0], than: span))
            }
        if let current, continuesClock(span), isContinued(audioSpans[current], span) {
            let remaining = audioSpans[current].end + (audioSpans[current].clockOffset ?? .zero) - span.start
            if next == nil || remaining > VideoTimestampUnwrapper.longestFrame { return current }
        }
        return next ?? later.first { matchesSequence($0, span) && hasOwnClock(audioSpans[$0], span) }
            ?? current.flatMap {
                overlaps(audioSpans[$0], span) || outlasts(span, $0) && hasOwnClock(audioSpans[$0], span)
                    ? $0 : nil
            }
    }

    private func matchesSequence(_ index: Int, _ span: VideoSpan) -> Bool {
        discontinuitySequenceOffset.map {
            audioSpans[index].discontinuitySequence == span.discontinuitySequence &+ $0
        } ?? true
    }

    /// Whether the audio follows a discontinuity that `span` precedes.
    private func hasLaterSequence(_ audio: AudioSpan, than span: VideoSpan) -> Bool {
        guard let discontinuitySequenceOffset else { return false }
        return Int64(
            bitPattern: audio.discontinuitySequence &- span.discontinuitySequence &- discontinuitySequenceOffset)
            > 0
    }

    /// Whether the audio is longer than what a program leaves over at its end.
    private func outlasts(_ span: VideoSpan, _ index: Int) -> Bool {
        audioSpans[index].queuedDuration.count * 2 >= (span.end - span.start).count
    }

    /// Whether the video's clock continues from the span before, counted from the first frame, presented or dropped.
    private func continuesClock(_ span: VideoSpan) -> Bool {
        guard let lastVideoSpan else { return false }
        return abs(((span.clockStart ?? span.start) - lastVideoSpan.end).count)
            <= VideoTimestampUnwrapper.longestFrame.count
    }

    /// Whether one audio span continues another on the same clock, with a gap or without.
    private func continues(_ index: Int, after other: Int, _ span: VideoSpan) -> Bool {
        let end = audioSpans[other].end
        let start = start(of: audioSpans[index], near: end)
        let presented = start + clockOffset(of: audioSpans[other], for: span)
        return start > end - VideoTimestampUnwrapper.longestFrame && presented < span.end + Self.sharedClockTolerance
    }

    /// Whether the audio overlaps `span` and does not go back before the audio dequeued last.
    private func fitsNext(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        guard overlaps(audio, span) else { return false }
        guard let audioEnd, continuesClock(span) else { return true }
        return start(of: audio, near: audioEnd) > audioEnd - VideoTimestampUnwrapper.longestFrame
    }

    private func start(of audio: AudioSpan, near time: Ticks) -> Ticks {
        Ticks(wire: audio.start.wire, near: time)
    }

    /// Whether more frames may be appended to the audio span.
    private func isOpen(_ index: Int) -> Bool {
        index == audioSpans.count - 1 && pendingDiscontinuity == nil && !isEnded
    }

    /// Whether the rest of the audio overlaps `span` on the video's clock.
    private func overlaps(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        let first = Ticks(wire: (audio.frames.first?.pts ?? audio.end).wire, near: span.start)
        let end = first + (audio.end - (audio.frames.first?.pts ?? audio.end))
        return first < span.end + Self.sharedClockTolerance && end > span.start - Self.sharedClockTolerance
    }

    /// Whether the audio, not matched yet, is on another clock than the video.
    private func hasOwnClock(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        // Matched audio counts as unmatched again when the video's clock alone restarts.
        guard audio.clockOffset == nil || span.beginsPeriod, let first = audio.frames.first else {
            return false
        }
        let distance = Ticks(wire: first.pts.wire, near: span.start) - span.start
        let nearest = span.beginsPeriod && !audio.followsLostFrames ? Self.sharedClockTolerance : Self.longestAudioGap
        return distance > nearest || distance < .zero - nearest
    }

    private func isContinued(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        let first = (audio.frames.first?.pts ?? audio.end) + (audio.clockOffset ?? .zero)
        return first < span.end + Self.sharedClockTolerance && first > span.start - Ticks.seconds(10)
    }

    /// Whether, at the start of a period, the known clock offset would move audio back before the audio dequeued last.
    private func wentBack(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        guard span.beginsPeriod, let lastClockOffset, let audioEnd, let first = audio.frames.first else { return false }
        return first.pts + lastClockOffset < audioEnd - VideoTimestampUnwrapper.longestFrame
    }

    /// Assumed time between the start of audio on its own clock and its video. The first audio frame of a program
    /// begins with the video or up to one frame before it (encoder priming). Half a frame is wrong by half a frame at
    /// most.
    private static func assumedLead(_ audio: AudioSpan) -> Ticks {
        Ticks(audio.configuration.frameDuration.count / 2)
    }

    private func clockOffset(of audio: AudioSpan, for span: VideoSpan) -> Ticks {
        let isUnbroken = !span.beginsPeriod || continuesClock(span)
        if let offset = audio.clockOffset, isUnbroken { return offset }
        let first = audio.frames.first?.pts ?? audio.end
        let unwrapped = Ticks(wire: first.wire, near: span.start) - first
        if overlaps(audio, span) { return unwrapped }
        // On its own continuing clock, even after a loss, the offset to the video stays as it was.
        if audio.followsLostFrames || isUnbroken && !wentBack(audio, span), let lastClockOffset,
            abs((first + lastClockOffset - span.start).count) < Self.longestAudioGap.count
        {
            return lastClockOffset
        }
        return (span.clockStart ?? span.start) - Self.assumedLead(audio) - first
    }
}
