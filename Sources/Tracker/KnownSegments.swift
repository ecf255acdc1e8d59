import Playlist

/// What is remembered of the segments listed so far: enough to know them again under another number.
struct KnownSegments: Sendable {
    enum Agreement: Equatable, Sendable {
        /// No media sequence number of the list is remembered.
        case nothingInCommon
        /// At least one number has the address it had.
        case sameAddress
        /// At least one number has the date it had: the strongest proof.
        case sameDate
        /// Every number in common is another segment now.
        case otherSegments
    }

    private struct Known: Sendable {
        /// As listed.
        let uri: String
        /// Without its query, which may be signed anew with each list.
        let address: String
        let byteRange: ByteRange?
        let date: ProgramDateTime?
        let duration: Duration

        init(_ segment: MediaSegment, _ date: ProgramDateTime?) {
            uri = segment.uri
            address = URIReference.withoutQuery(uri)
            byteRange = segment.byteRange
            self.date = date
            duration = segment.duration
        }

        func isSame(as listed: Known, by name: KeyPath<Known, String>) -> Bool {
            Key(self, name) == Key(listed, name) && !isDatedOtherwise(listed)
        }

        func isDatedOtherwise(_ listed: Known) -> Bool {
            guard let date, let other = listed.date else { return false }
            return date.distance(to: other) >= duration * 2
        }
    }

    /// The window of the last list learnt.
    private(set) var newest: Range<UInt64>
    /// Media sequence number of the first entry; the others follow without a hole.
    private var lowerBound: UInt64
    private var entries: [Known] = []

    /// Entries kept beyond the window: a stale edge shows lists of minutes ago.
    private static let history = 64

    /// `list` has segments.
    init(_ list: MediaPlaylist) {
        newest = list.window ?? 0..<0
        lowerBound = newest.lowerBound
        learn(list)
    }

    /// Adds what is new in a list that goes on from the ones before it.
    mutating func learn(_ list: MediaPlaylist) {
        guard let window = list.window else { return }
        newest = window
        if window.lowerBound > upperBound {
            entries = []
            lowerBound = window.lowerBound
        }
        guard window.upperBound > upperBound else { return }
        let dates = list.programDateTimes
        for index in Int(upperBound - window.lowerBound)..<list.segments.count {
            entries.append(Known(list.segments[index], dates[index]))
        }
        let kept = list.segments.count + Self.history
        guard entries.count > 2 * kept else { return }
        lowerBound += UInt64(entries.count - kept)
        entries.removeFirst(entries.count - kept)
    }

    /// Compares what both list, newest first: one number that kept its segment decides for the whole list.
    func agreement(with list: MediaPlaylist) -> Agreement {
        guard let window = list.window else { return .nothingInCommon }
        let common = window.clamped(to: lowerBound..<upperBound)
        guard !common.isEmpty else { return .nothingInCommon }
        let dates = list.programDateTimes
        var result = Agreement.otherSegments
        for number in common.reversed() {
            let index = Int(number - window.lowerBound)
            switch compare(Known(list.segments[index], dates[index]), at: Int(number - lowerBound)) {
            case .sameDate: return .sameDate
            case .sameAddress: result = .sameAddress
            case .nothingInCommon, .otherSegments: continue
            }
            if dates[index] == nil { break }
        }
        return result
    }

    /// Hosts and paths may change with a token, so a file name that tells its neighbours apart is enough. A date that
    /// is two segments off outweighs both.
    private func compare(_ listed: Known, at index: Int) -> Agreement {
        let known = entries[index]
        if known.isDatedOtherwise(listed) { return .otherSegments }
        if let old = known.date, let new = listed.date, old.distance(to: new) < known.duration / 2 { return .sameDate }
        guard known.byteRange == listed.byteRange else { return .otherSegments }
        if known.address == listed.address { return .sameAddress }
        let neighbour = index > 0 ? entries[index - 1] : entries.count > 1 ? entries[index + 1] : nil
        let isTelling = neighbour.map { fileName($0.address) != fileName(known.address) } ?? true
        return isTelling && fileName(known.address) == fileName(listed.address) ? .sameAddress : .otherSegments
    }

    /// What to add to an old number to get the new one of the same segment, where addresses prove it: at least one that
    /// stands once in either list, and no other segment under any number that both have then.
    func shift(to list: MediaPlaylist) -> Int64? {
        shift(to: list, by: \.uri) ?? shift(to: list, by: \.address)
    }

    private func shift(to list: MediaPlaylist, by name: KeyPath<Known, String>) -> Int64? {
        let listed = zip(list.segments, list.programDateTimes).map(Known.init)
        let known = Self.places(of: entries, by: name)
        var votes: [Int: Int] = [:]
        for (key, place) in Self.places(of: listed, by: name) {
            guard let place, let old = known[key] ?? nil else { continue }
            votes[place - old, default: 0] += 1
        }
        guard let first = list.window?.lowerBound,
            let apart = votes.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key
        else { return nil }
        let common = entries.indices.clamped(to: -apart..<listed.count - apart)
        guard common.allSatisfy({ entries[$0].isSame(as: listed[$0 + apart], by: name) }) else { return nil }
        return Int64(bitPattern: first &- lowerBound) &+ Int64(apart)
    }

    /// Where each stands; nil for what stands at several places.
    private static func places(of segments: [Known], by name: KeyPath<Known, String>) -> [Key: Int?] {
        var places: [Key: Int?] = [:]
        for (index, segment) in segments.enumerated() {
            let key = Key(segment, name)
            places[key] = .some(places[key] == nil ? index : nil)
        }
        return places
    }

    /// When the segment before `number` ended; nil when no date of it is known.
    func endDate(before number: UInt64) -> ProgramDateTime? {
        guard number > lowerBound, number <= upperBound else { return nil }
        let known = entries[Int(number - 1 - lowerBound)]
        return known.date?.advanced(by: known.duration)
    }

    private var upperBound: UInt64 { lowerBound + UInt64(entries.count) }

    private struct Key: Hashable {
        let address: String
        let byteRange: ByteRange?

        init(_ known: Known, _ name: KeyPath<Known, String>) {
            address = known[keyPath: name]
            byteRange = known.byteRange
        }
    }
}

/// What follows the last slash.
private func fileName(_ address: String) -> Substring {
    guard let slash = address.utf8.lastIndex(of: UInt8(ascii: "/")) else { return address[...] }
    return address[address.utf8.index(after: slash)...]
}
