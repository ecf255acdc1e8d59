/// Finds the sound that belongs to a stretch of picture.
///
/// Sound arrives either with the picture, in the same segments, or in a rendition of its own that runs ahead or
/// behind. Either way it is queued as stretches of one clock and one configuration. A picture takes the first stretch
/// whose times fit its own; where no clock fits (an advertisement whose sound counts from elsewhere), the one with the
/// same discontinuity number, laid against the start of the run.
struct RenditionMerger: Equatable, Sendable {
    /// Sound and picture share a clock when they start no farther apart than this.
    static let sharedClock = Ticks.seconds(1)
    /// Sound that lacks for longer, in the middle of a run, has another clock; otherwise it has a hole.
    static let longestHole = Ticks.seconds(60)
    /// Sound that is kept for pictures to come; what is older fits none.
    static let longestQueue = Ticks.seconds(120)

    /// Muxed sound may come so much later than its picture.
    static let longestInterleave = Ticks.seconds(3)

    /// What lies between the frames queued and the next ones.
    enum Break: Equatable, Sendable { case announced, loss }

    /// A stretch of picture asking for its sound.
    struct Window: Equatable, Sendable {
        /// Presentation times on the picture's clock.
        var start: Ticks
        var end: Ticks
        var discontinuitySequence: UInt64
        var beginsRun: Bool
        /// Of the first picture on this clock, whether it could be shown or not: sound on another clock begins with it.
        var clockStart: Ticks?
        /// Its upstream segment has no sound and promises none: what comes later is of another programme.
        var hasNoSound = false
    }

    private(set) var stretches: [AudioStretch] = []
    /// Of the sound taken last.
    private var configuration: AudioConfiguration?
    private var lastShift: Ticks?
    /// Where that ends, on the picture's clock.
    private var soundEnd: Ticks?
    /// The window that was asked for last.
    private var last: Window?
    /// Of what was appended last.
    private var lastNumber: UInt64 = 0
    /// What is added to a picture's discontinuity number to get its sound's: a rendition may be counted from elsewhere.
    /// Nil until a run began with sound.
    private var numberOffset: UInt64?
    /// At first nobody knows what came before.
    private var pendingBreak: Break? = .loss
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
    private var metadata: [TimedMetadata] = []

    init(isMuxed: Bool) {
        self.isMuxed = isMuxed
        numberOffset = isMuxed ? 0 : nil
    }

    /// The next frame begins a new stretch whatever its time.
    mutating func breakClock(_ cause: Break) { pendingBreak = cause }

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
            if pendingBreak != nil || stretches.last?.continues(with: packet) != true {
                guard packet.pts != nil else {
                    untimed += 1
                    continue
                }
                stretches.append(
                    AudioStretch(
                        first: packet, discontinuitySequence: discontinuitySequence ?? lastNumber,
                        followsLoss: pendingBreak == .loss))
                pendingBreak = nil
            }
            stretches[stretches.count - 1].append(packet)
            stretches[stretches.count - 1].append(metadata)
            metadata = []
        }
        metadataDiscarded += metadata.count
        lastNumber = discontinuitySequence ?? lastNumber
        dropOldest()
    }

    /// Bounds what pictures that never come would have taken.
    private mutating func dropOldest() {
        var excess = stretches.reduce(Ticks.zero) { $0 + $1.queued } - Self.longestQueue
        while excess > .zero, let first = stretches.first {
            excess = excess - first.queued
            discardFirst()
        }
    }

    /// Whether sound that comes with the picture is on its way, but not there up to `due`.
    func isLate(for window: Window, due: Ticks) -> Bool {
        guard isMuxed, let index = match(window), index == stretches.count - 1 else { return false }
        let end = stretches[index].end + shift(of: stretches[index], for: window)
        return end <= due && end > window.start - Self.longestInterleave
    }

    /// Whether a run begins with `window` and nothing but what its predecessor left over is there to be its sound.
    func hasNothing(for window: Window) -> Bool {
        guard isMuxed, window.beginsRun, !window.hasNoSound else { return false }
        return match(window).map { mayBeLeftOver($0, window) } ?? true
    }

    /// Whether what was read decides the sound of `window`: it reaches the end of it, something else follows, or none
    /// can come any more. The answer depends on nothing but the sound that was read.
    func covers(_ window: Window) -> Bool {
        if isEnded { return true }
        guard var index = match(window) else { return isPast(window) }
        if mayBeLeftOver(index, window) { return false }
        while stretches[index].end + shift(of: stretches[index], for: window)
            <= window.end - stretches[index].configuration.frameDuration
        {
            index += 1
            guard index < stretches.count else { return false }
            guard continues(index, after: index - 1, window) else { return true }
        }
        return true
    }

    /// The picture's clock jumped, and of the sound only what went with the old one was read: it is taken for sound on a
    /// clock of its own when there is more of it than a programme leaves over at its end.
    private func mayBeLeftOver(_ index: Int, _ window: Window) -> Bool {
        guard window.beginsRun, !continuesClock(window), stretches[index].shift != nil else { return false }
        return stretches[index].queued <= max(window.end - window.start, Self.longestInterleave)
    }

    /// Nothing matches, and what was read lies behind `window`.
    private func isPast(_ window: Window) -> Bool {
        stretches.contains { stretch in
            let distance = Ticks(wire: stretch.start.wire, near: window.end) - window.end
            let isNext = stretch.shift == nil && distance > .zero && distance < Self.longestHole
            return isNext || isAhead(stretch, of: window)
        }
    }

    /// Takes the sound of `window`; what lay before the stretch it is in fits no picture any more.
    mutating func take(_ window: Window) -> [TimedAudio] {
        var window = window
        var taken: [TimedAudio] = []
        while let index = match(window) {
            for _ in 0..<index { discardFirst() }
            if window.beginsRun, !isMuxed, numberOffset == nil || fits(stretches[0], window) {
                numberOffset = stretches[0].discontinuitySequence &- window.discontinuitySequence
            }
            stretches[0].shift = shift(of: stretches[0], for: window)
            configuration = stretches[0].configuration
            lastShift = stretches[0].shift
            taken += stretches[0].take(before: window.end)
            metadata += stretches[0].takeMetadata(before: window.end)
            soundEnd = stretches[0].end + (stretches[0].shift ?? .zero)
            guard stretches[0].frames.isEmpty, stretches.count > 1, continues(1, after: 0, window),
                stretches[1].configuration == configuration
            else { break }
            stretches.removeFirst()
            window.beginsRun = false
        }
        return taken
    }

    /// What is left of the sound of the window passed last: it came too late for it.
    /// - Parameter next: asks for its own first; nil when nothing follows.
    mutating func takeLate(before next: Window?) -> [TimedAudio] {
        guard let last, !last.hasNoSound, let current = stretches.firstIndex(where: { $0.shift != nil }),
            goesOn(stretches[current], last), next.flatMap(match) != current
        else { return [] }
        return stretches[current].take(before: last.end)
    }

    /// What stood beside the sound taken since the last time, on the picture's clock.
    mutating func takeMetadata() -> [TimedMetadata] {
        defer { metadata = [] }
        return metadata
    }

    private mutating func discardFirst() {
        let first = stretches.removeFirst()
        discarded += first.frames.count
        metadataDiscarded += first.metadata.count
    }

    /// `window` is over, with sound or without.
    mutating func pass(_ window: Window) { last = window }

    /// The configuration of the sound that `window` would take.
    func configuration(for window: Window) -> AudioConfiguration? {
        match(window).map { stretches[$0].configuration }
    }

    /// Where, inside `window`, sound begins that the current run's init section does not describe; nil when none does.
    /// - Parameter track: what that describes.
    func change(in window: Window, from track: AudioConfiguration?) -> Ticks? {
        if !window.beginsRun, let found = configuration(for: window), found != track { return window.start }
        return configurationChange(in: window)
    }

    /// Where sound of another configuration follows that which the window begins with, on the same clock.
    private func configurationChange(in window: Window) -> Ticks? {
        guard let current = match(window), current + 1 < stretches.count else { return nil }
        let (old, next) = (stretches[current], stretches[current + 1])
        guard next.configuration != old.configuration, !next.frames.isEmpty else { return nil }
        let start = Ticks(wire: next.start.wire, near: old.end)
        guard start > old.end - VideoClock.longestFrame else { return nil }
        let shown = start + shift(of: old, for: window)
        return shown < window.end ? max(shown, window.start) : nil
    }

    /// The sound's configuration changed on an unbroken clock: what is left of the old one is not asked for any more.
    mutating func abandon(_ configuration: AudioConfiguration) {
        while let first = stretches.first, first.configuration == configuration, stretches.count > 1 {
            discardFirst()
        }
    }

    private func match(_ window: Window) -> Int? {
        if window.hasNoSound { return nil }
        let candidates = stretches.indices.filter { !stretches[$0].frames.isEmpty || isOpen($0) }
        guard window.beginsRun else {
            return candidates.first { stretches[$0].shift != nil && goesOn(stretches[$0], window) }
                ?? candidates.first { comesNext(stretches[$0], window) && !isAhead(stretches[$0], of: window) }
                ?? candidates.first { isAnnounced($0, window) && hasOwnClock(stretches[$0], window) }
        }
        return matchStart(window, candidates)
    }

    /// A run begins: with sound that begins as well, unless sound and picture both go on as before.
    private func matchStart(_ window: Window, _ candidates: [Int]) -> Int? {
        let current = candidates.first { stretches[$0].shift != nil }
        let later = candidates.filter { stretches[$0].shift == nil }
        let fitting = later.first { isAnnounced($0, window) && fits(stretches[$0], window) }
        let isTagged = last?.discontinuitySequence != window.discontinuitySequence
        if isTagged, let fitting { return fitting }
        let isKnown = isTagged && !isMuxed && numberOffset != nil
        if isKnown, let own = later.first(where: { isAnnounced($0, window) && hasOwnClock(stretches[$0], window) }) {
            return own
        }
        let next =
            fitting ?? later.first { fits(stretches[$0], window) && (isMuxed || !isAhead(stretches[$0], of: window)) }
        if let current, continuesClock(window), goesOn(stretches[current], window) {
            let rest = stretches[current].end + (stretches[current].shift ?? .zero) - window.start
            if next == nil || rest > VideoClock.longestFrame { return current }
        }
        return next ?? later.first { isAnnounced($0, window) && hasOwnClock(stretches[$0], window) }
            ?? current.flatMap {
                fits(stretches[$0], window) || outlasts(window, $0) && hasOwnClock(stretches[$0], window) ? $0 : nil
            }
    }

    private func isAnnounced(_ index: Int, _ window: Window) -> Bool {
        numberOffset.map { stretches[index].discontinuitySequence == window.discontinuitySequence &+ $0 } ?? true
    }

    /// It came behind a discontinuity that `window` lies in front of.
    private func isAhead(_ stretch: AudioStretch, of window: Window) -> Bool {
        guard let numberOffset else { return false }
        return Int64(bitPattern: stretch.discontinuitySequence &- window.discontinuitySequence &- numberOffset) > 0
    }

    /// There is more of it than a programme leaves over at its end.
    private func outlasts(_ window: Window, _ index: Int) -> Bool {
        stretches[index].queued.count * 2 >= (window.end - window.start).count
    }

    /// The picture's clock goes on from the window before, counted from where it could not be shown yet.
    private func continuesClock(_ window: Window) -> Bool {
        guard let last else { return false }
        return abs(((window.clockStart ?? window.start) - last.end).count) <= VideoClock.longestFrame.count
    }

    /// Whether one stretch goes on, on the same clock, where another ends, with a hole or without.
    private func continues(_ index: Int, after other: Int, _ window: Window) -> Bool {
        let end = stretches[other].end
        let start = start(of: stretches[index], near: end)
        let shown = start + shift(of: stretches[other], for: window)
        return start > end - VideoClock.longestFrame && shown < window.end + Self.sharedClock
    }

    /// Whether it lies where the picture is, and does not go back behind the sound that was taken.
    private func comesNext(_ stretch: AudioStretch, _ window: Window) -> Bool {
        guard fits(stretch, window) else { return false }
        guard let soundEnd, continuesClock(window) else { return true }
        return start(of: stretch, near: soundEnd) > soundEnd - VideoClock.longestFrame
    }

    private func start(of stretch: AudioStretch, near time: Ticks) -> Ticks {
        Ticks(wire: stretch.start.wire, near: time)
    }

    /// The last stretch may still grow.
    private func isOpen(_ index: Int) -> Bool { index == stretches.count - 1 && pendingBreak == nil && !isEnded }

    /// Whether what is left of the stretch lies on the picture's clock where the picture is.
    private func fits(_ stretch: AudioStretch, _ window: Window) -> Bool {
        let first = Ticks(wire: (stretch.frames.first?.pts ?? stretch.end).wire, near: window.start)
        let end = first + (stretch.end - (stretch.frames.first?.pts ?? stretch.end))
        return first < window.end + Self.sharedClock && end > window.start - Self.sharedClock
    }

    /// Whether the stretch, not matched yet, counts from somewhere else than the picture does.
    private func hasOwnClock(_ stretch: AudioStretch, _ window: Window) -> Bool {
        // Sound that was matched already has a clock of its own again when its picture's clock restarts alone.
        guard stretch.shift == nil || window.beginsRun, let first = stretch.frames.first else {
            return false
        }
        let distance = Ticks(wire: first.pts.wire, near: window.start) - window.start
        let nearest = window.beginsRun && !stretch.followsLoss ? Self.sharedClock : Self.longestHole
        return distance > nearest || distance < .zero - nearest
    }

    private func goesOn(_ stretch: AudioStretch, _ window: Window) -> Bool {
        let first = (stretch.frames.first?.pts ?? stretch.end) + (stretch.shift ?? .zero)
        return first < window.end + Self.sharedClock && first > window.start - Ticks.seconds(10)
    }

    /// A run begins with sound that goes back behind what was heard, if its distance from the picture's clock stayed.
    private func restarts(_ stretch: AudioStretch, _ window: Window) -> Bool {
        guard window.beginsRun, let lastShift, let soundEnd, let first = stretch.frames.first else { return false }
        return first.pts + lastShift < soundEnd - VideoClock.longestFrame
    }

    /// Of sound on a clock of its own before its picture. Nothing tells it: where programmes begin, their first frame of
    /// sound begins with the picture, or as much as a frame before it (an encoder's priming). The middle is wrong by half
    /// a frame at most.
    private static func likelyLead(_ stretch: AudioStretch) -> Ticks {
        Ticks(stretch.configuration.frameDuration.count / 2)
    }

    private func shift(of stretch: AudioStretch, for window: Window) -> Ticks {
        let isUnbroken = !window.beginsRun || continuesClock(window)
        if let shift = stretch.shift, isUnbroken { return shift }
        let first = stretch.frames.first?.pts ?? stretch.end
        let unfolded = Ticks(wire: first.wire, near: window.start) - first
        if fits(stretch, window) { return unfolded }
        // On a clock of its own that goes on, be it behind a loss: as far from the picture's as it was before.
        if stretch.followsLoss || isUnbroken && !restarts(stretch, window), let lastShift,
            abs((first + lastShift - window.start).count) < Self.longestHole.count
        {
            return lastShift
        }
        return (window.clockStart ?? window.start) - Self.likelyLead(stretch) - first
    }
}
