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
    }

    private(set) var stretches: [AudioStretch] = []
    /// Of the sound taken last.
    private var configuration: AudioConfiguration?
    private var lastShift: Ticks?
    /// At first nobody knows what came before.
    private var pendingBreak: Break? = .loss
    /// Sound and picture come in the same segments.
    private let isMuxed: Bool
    /// The rendition's playlist ended: nothing more will come.
    private(set) var isEnded = false
    /// Frames that fitted no picture.
    private(set) var discarded = 0

    init(isMuxed: Bool) { self.isMuxed = isMuxed }

    /// The next frame begins a new stretch whatever its time.
    mutating func breakClock(_ cause: Break) { pendingBreak = cause }

    mutating func end() { isEnded = true }

    /// Damaged frames are left out: a decoder turns them into noise, a hole of one frame into silence.
    mutating func append(_ packets: [AudioPacket], discontinuitySequence: UInt64) {
        for packet in packets where !packet.isDamaged {
            if pendingBreak != nil || stretches.last?.continues(with: packet) != true {
                guard packet.pts != nil else { continue }
                stretches.append(
                    AudioStretch(
                        first: packet, discontinuitySequence: discontinuitySequence,
                        followsLoss: pendingBreak == .loss))
                pendingBreak = nil
            }
            stretches[stretches.count - 1].append(packet)
        }
        dropOldest()
    }

    /// Bounds what pictures that never come would have taken.
    private mutating func dropOldest() {
        var excess = stretches.reduce(Ticks.zero) { $0 + $1.queued } - Self.longestQueue
        while excess > .zero, let first = stretches.first {
            excess = excess - first.queued
            discarded += first.frames.count
            stretches.removeFirst()
        }
    }

    /// Whether sound that comes with the picture is on its way but all behind `window`.
    func isLate(for window: Window) -> Bool {
        guard isMuxed, !window.beginsRun, let last = stretches.last, let shift = last.shift else { return false }
        let end = last.end + shift
        return end <= window.start && end > window.start - Self.longestInterleave
    }

    /// Whether all the sound of `window` has arrived, or none can come any more.
    func isReady(for window: Window) -> Bool {
        guard let index = match(window) else {
            return isEnded || stretches.contains { $0.discontinuitySequence > window.discontinuitySequence }
        }
        let shift = shift(of: stretches[index], for: window)
        return stretches[index].end + shift >= window.end || index + 1 < stretches.count || isEnded
    }

    /// Takes the sound of `window`; what lay before the stretch it is in fits no picture any more.
    mutating func take(_ window: Window) -> [TimedAudio] {
        var window = window
        var taken: [TimedAudio] = []
        while let index = match(window), taken.isEmpty || stretches[index].configuration == configuration {
            discarded += stretches[..<index].reduce(0) { $0 + $1.frames.count }
            stretches.removeFirst(index)
            stretches[0].shift = shift(of: stretches[0], for: window)
            configuration = stretches[0].configuration
            lastShift = stretches[0].shift
            taken += stretches[0].take(before: window.end)
            guard stretches[0].frames.isEmpty, stretches.count > 1 else { break }
            stretches.removeFirst()
            window.beginsRun = false
        }
        return taken
    }

    /// The configuration of the sound that `window` would take.
    func configuration(for window: Window) -> AudioConfiguration? {
        match(window).map { stretches[$0].configuration }
    }

    /// Where, inside `window`, sound of another configuration follows that which the window begins with; nil when none
    /// does.
    func configurationChange(in window: Window) -> Ticks? {
        guard let current = match(window) else { return nil }
        let others = stretches[current...].filter {
            $0.configuration != stretches[current].configuration && !$0.frames.isEmpty && fits($0, window)
        }
        guard let other = others.first else { return nil }
        let start = Ticks(wire: other.start.wire, near: window.start)
        return start < window.end ? max(start, window.start) : nil
    }

    /// The sound's configuration changed on an unbroken clock: what is left of the old one is not asked for any more.
    mutating func abandon(_ configuration: AudioConfiguration) {
        while let first = stretches.first, first.configuration == configuration, stretches.count > 1 {
            discarded += first.frames.count
            stretches.removeFirst()
        }
    }

    private func match(_ window: Window) -> Int? {
        let candidates = stretches.indices.filter { !stretches[$0].frames.isEmpty || isOpen($0) }
        let announced = { (index: Int) in stretches[index].discontinuitySequence == window.discontinuitySequence }
        if window.beginsRun, let same = candidates.first(where: { announced($0) && fits(stretches[$0], window) }) {
            return same
        }
        return candidates.first { stretches[$0].shift != nil && goesOn(stretches[$0], window) }
            ?? candidates.first { fits(stretches[$0], window) }
            ?? candidates.first { announced($0) && hasOwnClock(stretches[$0], window) }
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
        // Muxed sound that was matched already has a clock of its own again when its picture's clock restarts alone.
        guard stretch.shift == nil || (isMuxed && window.beginsRun), let first = stretch.frames.first else {
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

    private func shift(of stretch: AudioStretch, for window: Window) -> Ticks {
        if let shift = stretch.shift, !window.beginsRun { return shift }
        let first = stretch.frames.first?.pts ?? stretch.end
        let unfolded = Ticks(wire: first.wire, near: window.start) - first
        if fits(stretch, window) { return unfolded }
        // Behind a loss on a clock of its own: as far from the picture's as it was before.
        if stretch.followsLoss, let lastShift, abs((first + lastShift - window.start).count) < Self.longestHole.count {
            return lastShift
        }
        return window.start - first
    }
}
