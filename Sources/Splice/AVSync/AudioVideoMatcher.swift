import Demux
import Media
import Mux
import Transcode

/// Finds the sound that belongs to a stretch of picture.
///
/// Sound arrives either with the picture, in the same segments, or in a rendition of its own that runs ahead or
/// behind. Either way it is queued as stretches of one clock and one configuration. A picture takes the first stretch
/// whose times fit its own; where no clock fits (an advertisement whose sound counts from elsewhere), the one with the
/// same discontinuity number, laid against the start of the run.
struct AudioVideoMatcher: Equatable, Sendable {
    /// Sound and picture share a clock when they start no farther apart than this.
    static let sharedClockTolerance = Ticks.seconds(1)
    /// Sound that lacks for longer, in the middle of a run, has another clock; otherwise it has a hole.
    static let longestAudioGap = Ticks.seconds(60)
    /// Sound that is kept for pictures to come; what is older fits none.
    static let longestQueue = Ticks.seconds(120)

    /// Muxed sound may come so much later than its picture.
    static let longestInterleave = Ticks.seconds(3)

    /// What lies between the frames queued and the next ones.
    enum Discontinuity: Equatable, Sendable { case signaled, framesLost }

    /// A stretch of picture asking for its sound.
    struct VideoSpan: Equatable, Sendable {
        /// Presentation times on the picture's clock.
        var start: Ticks
        var end: Ticks
        var discontinuitySequence: UInt64
        var beginsRun: Bool
        /// Of the first picture on this clock, whether it could be shown or not: sound on another clock begins with it.
        var clockStart: Ticks?
        /// Its upstream segment has no sound and promises none: what comes later is of another programme.
        var hasNoAudio = false
    }

    private(set) var audioSpans: [AudioSpan] = []
    /// Of the sound taken last.
    private var configuration: AudioConfiguration?
    private var lastShift: Ticks?
    /// Where that ends, on the picture's clock.
    private var audioEnd: Ticks?
    /// The window that was asked for last.
    private var lastVideoSpan: VideoSpan?
    /// Of what was appended last.
    private var lastDiscontinuitySequence: UInt64 = 0
    /// What is added to a picture's discontinuity number to get its sound's: a rendition may be counted from elsewhere.
    /// Nil until a run began with sound.
    private var discontinuitySequenceOffset: UInt64?
    /// At first nobody knows what came before.
    private var pendingDiscontinuity: Discontinuity? = .framesLost
    /// Sound and picture come in the same segments.
    private let isMuxed: Bool
    /// The rendition's playlist ended: nothing more will come.
    private(set) var isEnded = false
    /// Frames that fitted no picture.
    private(set) var discarded = 0
    /// Frames that were left out because bytes of them are missing or doubted.
    private(set) var damaged = 0
    /// Frames in front of the first time of their stretch.
    private(set) var untimed = 0
    /// Timed metadata that came with frames which fitted no picture, or with none.
    private(set) var metadataDiscarded = 0
    /// What stood beside the sound taken last.
    private var matchedMetadata: [TimedMetadata] = []

    init(isMuxed: Bool) {
        self.isMuxed = isMuxed
        discontinuitySequenceOffset = isMuxed ? 0 : nil
    }

    /// The next frame begins a new stretch whatever its time.
    mutating func beginSpan(after cause: Discontinuity) { pendingDiscontinuity = cause }

    mutating func end() { isEnded = true }

    /// Damaged frames are left out: a decoder turns them into noise, a hole of one frame into silence.
    /// - Parameters:
    ///   - discontinuitySequence: nil for what goes on with the number of what came before.
    ///   - metadata: beside the packets; it goes with the first of them.
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
                        followsLoss: pendingDiscontinuity == .framesLost))
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

    /// Bounds what pictures that never come would have taken.
    private mutating func dropOldest() {
        var excess = audioSpans.reduce(Ticks.zero) { $0 + $1.queuedDuration } - Self.longestQueue
        while excess > .zero, let first = audioSpans.first {
            excess = excess - first.queuedDuration
            discardFirst()
        }
    }

    /// Whether sound that comes with the picture is on its way, but not there up to `due`.
    func isLate(for window: VideoSpan, due: Ticks) -> Bool {
        guard isMuxed, let index = match(window), index == audioSpans.count - 1 else { return false }
        let end = audioSpans[index].end + shift(of: audioSpans[index], for: window)
        return end <= due && end > window.start - Self.longestInterleave
    }

    /// Whether a run begins with `window` and nothing but what its predecessor left over is there to be its sound.
    func hasNoAudio(for window: VideoSpan) -> Bool {
        guard isMuxed, window.beginsRun, !window.hasNoAudio else { return false }
        return match(window).map { mayBeLeftover($0, window) } ?? true
    }

    /// Whether what was read decides the sound of `window`: it reaches the end of it, something else follows, or none
    /// can come any more. The answer depends on nothing but the sound that was read.
    func canMatch(_ window: VideoSpan) -> Bool {
        if isEnded { return true }
        guard var index = match(window) else { return allAudioFollows(window) }
        if mayBeLeftover(index, window) { return false }
        while audioSpans[index].end + shift(of: audioSpans[index], for: window)
            <= window.end - audioSpans[index].configuration.frameDuration
        {
            index += 1
            guard index < audioSpans.count else { return false }
            guard continues(index, after: index - 1, window) else { return true }
        }
        return true
    }

    /// The picture's clock jumped, and of the sound only what went with the old one was read: it is taken for sound on a
    /// clock of its own when there is more of it than a programme leaves over at its end.
    private func mayBeLeftover(_ index: Int, _ window: VideoSpan) -> Bool {
        guard window.beginsRun, !continuesClock(window), audioSpans[index].clockOffset != nil else { return false }
        return audioSpans[index].queuedDuration <= max(window.end - window.start, Self.longestInterleave)
    }

    /// Nothing matches, and what was read lies behind `window`.
    private func allAudioFollows(_ window: VideoSpan) -> Bool {
        audioSpans.contains { stretch in
            let distance = Ticks(wire: stretch.start.wire, near: window.end) - window.end
            let isNext = stretch.clockOffset == nil && distance > .zero && distance < Self.longestAudioGap
            return isNext || hasLaterSequence(stretch, than: window)
        }
    }

    /// Takes the sound of `window`; what lay before the stretch it is in fits no picture any more.
    mutating func dequeueAudio(for window: VideoSpan) -> [TimedAudio] {
        var window = window
        var taken: [TimedAudio] = []
        while let index = match(window) {
            for _ in 0..<index { discardFirst() }
            if window.beginsRun, !isMuxed, discontinuitySequenceOffset == nil || overlaps(audioSpans[0], window) {
                discontinuitySequenceOffset = audioSpans[0].discontinuitySequence &- window.discontinuitySequence
            }
            audioSpans[0].clockOffset = shift(of: audioSpans[0], for: window)
            configuration = audioSpans[0].configuration
            lastShift = audioSpans[0].clockOffset
            taken += audioSpans[0].dequeueFrames(before: window.end)
            matchedMetadata += audioSpans[0].dequeueMetadata(before: window.end)
            audioEnd = audioSpans[0].end + (audioSpans[0].clockOffset ?? .zero)
            guard audioSpans[0].frames.isEmpty, audioSpans.count > 1, continues(1, after: 0, window),
                audioSpans[1].configuration == configuration
            else { break }
            audioSpans.removeFirst()
            window.beginsRun = false
        }
        return taken
    }

    /// What is left of the sound of the window passed last: it came too late for it.
    /// - Parameter next: asks for its own first; nil when nothing follows.
    mutating func dequeueLateAudio(before next: VideoSpan?) -> [TimedAudio] {
        guard let lastVideoSpan, !lastVideoSpan.hasNoAudio,
            let current = audioSpans.firstIndex(where: { $0.clockOffset != nil }),
            isContinued(audioSpans[current], lastVideoSpan), next.flatMap(match) != current
        else { return [] }
        return audioSpans[current].dequeueFrames(before: lastVideoSpan.end)
    }

    /// What stood beside the sound taken since the last time, on the picture's clock.
    mutating func dequeueMetadata() -> [TimedMetadata] {
        defer { matchedMetadata = [] }
        return matchedMetadata
    }

    private mutating func discardFirst() {
        let first = audioSpans.removeFirst()
        discarded += first.frames.count
        metadataDiscarded += first.metadata.count
    }

    /// `window` is over, with sound or without.
    mutating func finish(_ window: VideoSpan) { lastVideoSpan = window }

    /// The configuration of the sound that `window` would take.
    func configuration(for window: VideoSpan) -> AudioConfiguration? {
        match(window).map { audioSpans[$0].configuration }
    }

    /// Where, inside `window`, sound begins that the current run's init section does not describe; nil when none does.
    /// - Parameter track: what that describes.
    func configurationChange(in window: VideoSpan, from track: AudioConfiguration?) -> Ticks? {
        if !window.beginsRun, let found = configuration(for: window), found != track { return window.start }
        return nextConfigurationStart(in: window)
    }

    /// Where sound of another configuration follows that which the window begins with, on the same clock.
    private func nextConfigurationStart(in window: VideoSpan) -> Ticks? {
        guard let current = match(window), current + 1 < audioSpans.count else { return nil }
        let (old, next) = (audioSpans[current], audioSpans[current + 1])
        guard next.configuration != old.configuration, !next.frames.isEmpty else { return nil }
        let start = Ticks(wire: next.start.wire, near: old.end)
        guard start > old.end - VideoTimestampUnwrapper.longestFrame else { return nil }
        let shown = start + shift(of: old, for: window)
        return shown < window.end ? max(shown, window.start) : nil
    }

    /// The sound's configuration changed on an unbroken clock: what is left of the old one is not asked for any more.
    mutating func discardSpans(codedAs configuration: AudioConfiguration) {
        while let first = audioSpans.first, first.configuration == configuration, audioSpans.count > 1 {
            discardFirst()
        }
    }

    private func match(_ window: VideoSpan) -> Int? {
        if window.hasNoAudio { return nil }
        let candidates = audioSpans.indices.filter { !audioSpans[$0].frames.isEmpty || isOpen($0) }
        guard window.beginsRun else {
            return candidates.first { audioSpans[$0].clockOffset != nil && isContinued(audioSpans[$0], window) }
                ?? candidates.first {
                    fitsNext(audioSpans[$0], window) && !hasLaterSequence(audioSpans[$0], than: window)
                }
                ?? candidates.first { matchesSequence($0, window) && hasOwnClock(audioSpans[$0], window) }
        }
        return matchPeriodStart(window, candidates)
    }

    /// A run begins: with sound that begins as well, unless sound and picture both go on as before.
    private func matchPeriodStart(_ window: VideoSpan, _ candidates: [Int]) -> Int? {
        let current = candidates.first { audioSpans[$0].clockOffset != nil }
        let later = candidates.filter { audioSpans[$0].clockOffset == nil }
        let fitting = later.first { matchesSequence($0, window) && overlaps(audioSpans[$0], window) }
        let isTagged = lastVideoSpan?.discontinuitySequence != window.discontinuitySequence
        if isTagged, let fitting { return fitting }
        let isKnown = isTagged && !isMuxed && discontinuitySequenceOffset != nil
        if isKnown, let own = later.first(where: { matchesSequence($0, window) && hasOwnClock(audioSpans[$0], window) })
        {
            return own
        }
        let next =
            fitting
            ?? later.first {
                overlaps(audioSpans[$0], window) && (isMuxed || !hasLaterSequence(audioSpans[$0], than: window))
            }
        if let current, continuesClock(window), isContinued(audioSpans[current], window) {
            let rest = audioSpans[current].end + (audioSpans[current].clockOffset ?? .zero) - window.start
            if next == nil || rest > VideoTimestampUnwrapper.longestFrame { return current }
        }
        return next ?? later.first { matchesSequence($0, window) && hasOwnClock(audioSpans[$0], window) }
            ?? current.flatMap {
                overlaps(audioSpans[$0], window) || outlasts(window, $0) && hasOwnClock(audioSpans[$0], window)
                    ? $0 : nil
            }
    }

    private func matchesSequence(_ index: Int, _ window: VideoSpan) -> Bool {
        discontinuitySequenceOffset.map {
            audioSpans[index].discontinuitySequence == window.discontinuitySequence &+ $0
        } ?? true
    }

    /// It came behind a discontinuity that `window` lies in front of.
    private func hasLaterSequence(_ stretch: AudioSpan, than window: VideoSpan) -> Bool {
        guard let discontinuitySequenceOffset else { return false }
        return Int64(
            bitPattern: stretch.discontinuitySequence &- window.discontinuitySequence &- discontinuitySequenceOffset)
            > 0
    }

    /// There is more of it than a programme leaves over at its end.
    private func outlasts(_ window: VideoSpan, _ index: Int) -> Bool {
        audioSpans[index].queuedDuration.count * 2 >= (window.end - window.start).count
    }

    /// The picture's clock goes on from the window before, counted from where it could not be shown yet.
    private func continuesClock(_ window: VideoSpan) -> Bool {
        guard let lastVideoSpan else { return false }
        return abs(((window.clockStart ?? window.start) - lastVideoSpan.end).count)
            <= VideoTimestampUnwrapper.longestFrame.count
    }

    /// Whether one stretch goes on, on the same clock, where another ends, with a hole or without.
    private func continues(_ index: Int, after other: Int, _ window: VideoSpan) -> Bool {
        let end = audioSpans[other].end
        let start = start(of: audioSpans[index], near: end)
        let shown = start + shift(of: audioSpans[other], for: window)
        return start > end - VideoTimestampUnwrapper.longestFrame && shown < window.end + Self.sharedClockTolerance
    }

    /// Whether it lies where the picture is, and does not go back behind the sound that was taken.
    private func fitsNext(_ stretch: AudioSpan, _ window: VideoSpan) -> Bool {
        guard overlaps(stretch, window) else { return false }
        guard let audioEnd, continuesClock(window) else { return true }
        return start(of: stretch, near: audioEnd) > audioEnd - VideoTimestampUnwrapper.longestFrame
    }

    private func start(of stretch: AudioSpan, near time: Ticks) -> Ticks {
        Ticks(wire: stretch.start.wire, near: time)
    }

    /// The last stretch may still grow.
    private func isOpen(_ index: Int) -> Bool {
        index == audioSpans.count - 1 && pendingDiscontinuity == nil && !isEnded
    }

    /// Whether what is left of the stretch lies on the picture's clock where the picture is.
    private func overlaps(_ stretch: AudioSpan, _ window: VideoSpan) -> Bool {
        let first = Ticks(wire: (stretch.frames.first?.pts ?? stretch.end).wire, near: window.start)
        let end = first + (stretch.end - (stretch.frames.first?.pts ?? stretch.end))
        return first < window.end + Self.sharedClockTolerance && end > window.start - Self.sharedClockTolerance
    }

    /// Whether the stretch, not matched yet, counts from somewhere else than the picture does.
    private func hasOwnClock(_ stretch: AudioSpan, _ window: VideoSpan) -> Bool {
        // Sound that was matched already has a clock of its own again when its picture's clock restarts alone.
        guard stretch.clockOffset == nil || window.beginsRun, let first = stretch.frames.first else {
            return false
        }
        let distance = Ticks(wire: first.pts.wire, near: window.start) - window.start
        let nearest = window.beginsRun && !stretch.followsLostFrames ? Self.sharedClockTolerance : Self.longestAudioGap
        return distance > nearest || distance < .zero - nearest
    }

    private func isContinued(_ stretch: AudioSpan, _ window: VideoSpan) -> Bool {
        let first = (stretch.frames.first?.pts ?? stretch.end) + (stretch.clockOffset ?? .zero)
        return first < window.end + Self.sharedClockTolerance && first > window.start - Ticks.seconds(10)
    }

    /// A run begins with sound that goes back behind what was heard, if its distance from the picture's clock stayed.
    private func wentBack(_ stretch: AudioSpan, _ window: VideoSpan) -> Bool {
        guard window.beginsRun, let lastShift, let audioEnd, let first = stretch.frames.first else { return false }
        return first.pts + lastShift < audioEnd - VideoTimestampUnwrapper.longestFrame
    }

    /// Of sound on a clock of its own before its picture. Nothing tells it: where programmes begin, their first frame of
    /// sound begins with the picture, or as much as a frame before it (an encoder's priming). The middle is wrong by half
    /// a frame at most.
    private static func assumedLead(_ stretch: AudioSpan) -> Ticks {
        Ticks(stretch.configuration.frameDuration.count / 2)
    }

    private func shift(of stretch: AudioSpan, for window: VideoSpan) -> Ticks {
        let isUnbroken = !window.beginsRun || continuesClock(window)
        if let shift = stretch.clockOffset, isUnbroken { return shift }
        let first = stretch.frames.first?.pts ?? stretch.end
        let unfolded = Ticks(wire: first.wire, near: window.start) - first
        if overlaps(stretch, window) { return unfolded }
        // On a clock of its own that goes on, be it behind a loss: as far from the picture's as it was before.
        if stretch.followsLostFrames || isUnbroken && !wentBack(stretch, window), let lastShift,
            abs((first + lastShift - window.start).count) < Self.longestAudioGap.count
        {
            return lastShift
        }
        return (window.clockStart ?? window.start) - Self.assumedLead(stretch) - first
    }
}
