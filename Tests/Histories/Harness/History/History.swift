import PlaylistRules

/// What an origin does over time, made from a seed.
///
/// A history is a list of things, each of which can be left out: the rest stays where it is.
struct History: Hashable {
    let seed: UInt64
    var events: [Event]
    /// Milliseconds.
    var length = 60_000

    init(seed: UInt64, events: [Event]) { (self.seed, self.events) = (seed, events) }

    /// Makes a history of a few or of many things.
    ///
    /// Traits are drawn one by one, and other things from one lot: so pairs stay frequent when things are added.
    /// - Parameters:
    ///   - only: things that are in the history.
    ///   - without: things that are not.
    ///   - length: milliseconds. A longer history has more things.
    init(seed: UInt64, only: [Thing] = [], without: Set<Thing> = [], length: Int = 60_000) {
        (self.seed, self.length) = (seed, length)
        events = []
        var random = SeededGenerator(seed: seed)
        for thing in only where !without.contains(thing) { draw(thing, without, using: &random) }
        let isRich = seed % 2 == 1
        for thing in Self.traits.shuffled(using: &random) {
            guard Int.random(in: 0..<100, using: &random) < (isRich ? 24 : 10) else { continue }
            draw(thing, without, using: &random)
        }
        let count =
            events.count { !$0.thing.isTrait } + Int.random(in: isRich ? 8...20 : 1...4, using: &random)
            * max(1, length / 60_000)
        for _ in 0..<100 * max(1, length / 60_000) where events.count(where: { !$0.thing.isTrait }) < count {
            draw(Self.tickets[Int.random(in: 0..<Self.tickets.count, using: &random)], without, using: &random)
        }
        events.sort { ($0.at, $0.thing.rawValue) < ($1.at, $1.thing.rawValue) }
    }

    /// Adds a thing, and those without which it does not exist, unless they conflict with others.
    private mutating func draw(_ thing: Thing, _ without: Set<Thing>, using random: inout SeededGenerator) {
        guard isPossible(thing), !without.contains(thing) else { return }
        let missing = thing.requirements.filter { !has($0) }
        guard missing.allSatisfy({ isPossible($0) && !without.contains($0) }) else { return }
        for requirement in missing { append(requirement, using: &random) }
        append(thing, using: &random)
    }

    private mutating func append(_ thing: Thing, using random: inout SeededGenerator) {
        let duration = Int.random(in: thing.durations, using: &random) * 1000
        // The channel begins in peace, and ends in peace unless the end is the thing.
        var at = Int.random(in: 8000...max(8000, length - 14_000 - duration), using: &random)
        if thing == .ended { at = Int.random(in: length - 22_000...length - 18_000, using: &random) }
        events.append(Event(thing: thing, at: thing.isTrait ? 0 : at, value: random.next(), duration: duration))
    }

    private func isPossible(_ thing: Thing) -> Bool {
        let isOnce = thing.isTrait || thing == .ended
        return !(isOnce && has(thing)) && events.allSatisfy { Thing.conflict($0.thing, thing) == nil }
    }

    private static let traits = Thing.allCases.filter(\.isTrait)
    /// The other things, each as often as it is to be drawn.
    private static let tickets = Thing.allCases.filter { !$0.isTrait }
        .flatMap { Array(repeating: $0, count: $0.weight) }

    func has(_ thing: Thing) -> Bool { events.contains { $0.thing == thing } }
    func all(_ thing: Thing) -> [Event] { events.filter { $0.thing == thing } }

    // MARK: - Traits

    /// Nominal duration of segments, milliseconds.
    var segmentDuration: Int { has(.shortSegments) ? 1000 : has(.longSegments) ? 4000 : 2000 }
    /// EXT-X-TARGETDURATION, seconds.
    var targetDuration: Int {
        if has(.rawStream) { return 3 }
        return has(.unevenSegments) ? segmentDuration / 1000 * 2 : segmentDuration / 1000
    }
    /// Segments in the playlist.
    var window: Int { has(.shortWindow) ? 4 : [6, 10, 15][Int(seed % 3)] }
    var isDated: Bool { !has(.undated) && !has(.rawStream) }
    var programFormat: Int { has(.reordered) ? 1 : has(.otherFormat) ? 2 : 0 }
    /// Seconds for which the channel has run before.
    var start: Int64 {
        all(.startsLate).first.map { [84, 305, 730, 50 * 365][$0.pick(0...3)] * 86_400 - 30 } ?? 0
    }

    /// Seconds of the spool.
    var rewind: Int { has(.shortRewind) ? 4 : 600 }

    /// Audio renditions with playlists of their own.
    var renditions: [AudioRendition] {
        (has(.companionAudio) || has(.dash) ? [.companion] : []) + (has(.secondLanguage) ? [.second] : [])
    }

    /// Milliseconds for which a segment can be requested after it left the playlist.
    var availability: Int { has(.strictRemoval) ? 500 : 20_000 }
}

/// An audio rendition with a playlist of its own.
enum AudioRendition: Int {
    /// The audio of the video, or another language.
    case companion, second
}

// MARK: - Text

extension History: CustomStringConvertible {
    /// One line that `init(text:)` reads.
    var description: String {
        "\(seed)" + (length == 60_000 ? "" : "~\(length)")
            + events.map { " \($0.thing.rawValue)@\($0.at)+\($0.duration)=\($0.value)" }.joined()
    }

    init?(text: String) {
        let words = text.split(separator: " ")
        let head = words.first?.split(separator: "~") ?? []
        guard let seed = head.first.flatMap({ UInt64($0) }) else { return nil }
        self.init(seed: seed, events: [])
        if head.count > 1 { length = Int(head[1]) ?? length }
        for word in words.dropFirst() {
            let parts = word.split { "@+=".contains($0) }
            guard parts.count == 4, let thing = Thing(rawValue: String(parts[0])), let at = Int(parts[1]),
                let duration = Int(parts[2]), let value = UInt64(parts[3])
            else { return nil }
            events.append(Event(thing: thing, at: at, value: value, duration: duration))
        }
    }
}
