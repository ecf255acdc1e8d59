import Playlist

/// What is remembered of the segments listed so far: enough to know them again under another number.
struct KnownSegments: Sendable {
    enum Match: Equatable, Sendable {
        /// No media sequence number of the list is remembered.
        case noOverlap
        /// At least one number has the address it had.
        case sameURL
        /// At least one number has the date it had: the strongest proof.
        case sameDate
        /// Every number in common is another segment now.
        case differentSegments
    }

    private struct Fingerprint: Sendable {
        /// As listed.
        let uri: String
        /// Without its query, which may be signed anew with each list.
        let uriWithoutQuery: String
        let byteRange: ByteRange?
        let date: ProgramDateTime?
        let duration: Duration

        init(_ segment: MediaSegment, _ date: ProgramDateTime?) {
            uri = segment.uri
            uriWithoutQuery = URIReference.withoutQuery(uri)
            byteRange = segment.byteRange
            self.date = date
            duration = segment.duration
        }

        func isSame(as listed: Fingerprint, by name: KeyPath<Fingerprint, String>) -> Bool {
            SegmentIdentity(self, name) == SegmentIdentity(listed, name) && !hasDifferentDate(listed)
        }

        func hasDifferentDate(_ listed: Fingerprint) -> Bool {
            guard let date, let other = listed.date else { return false }
            return date.distance(to: other) >= duration * 2
        }
    }

    /// The window of the last list learnt.
    private(set) var newest: Range<UInt64>
    /// Media sequence number of the first entry; the others follow without a hole.
    private var lowerBound: UInt64
    private var entries: [Fingerprint] = []

    /// Entries kept beyond the window: a stale edge shows lists of minutes ago.
    private static let history = 64

    /// `list` has segments.
    init(_ list: MediaPlaylist) {
        newest = list.window ?? 0..<0
        lowerBound = newest.lowerBound
        update(from: list)
    }

    /// Adds what is new in a list that goes on from the ones before it.
    mutating func update(from list: MediaPlaylist) {
        guard let window = list.window else { return }
        newest = window
        if window.lowerBound > upperBound {
            entries = []
            lowerBound = window.lowerBound
        }
        guard window.upperBound > upperBound else { return }
        let dates = list.programDateTimes
        for index in Int(upperBound - window.lowerBound)..<list.segments.count {
            entries.append(Fingerprint(list.segments[index], dates[index]))
        }
        let kept = list.segments.count + Self.history
        guard entries.count > 2 * kept else { return }
        lowerBound += UInt64(entries.count - kept)
        entries.removeFirst(entries.count - kept)
    }

    /// Compares what both list, newest first: one number that kept its segment decides for the whole list.
    func match(with list: MediaPlaylist) -> Match {
        guard let window = list.window else { return .noOverlap }
        let common = window.clamped(to: lowerBound..<upperBound)
        guard !common.isEmpty else { return .noOverlap }
        let dates = list.programDateTimes
        var result = Match.differentSegments
        for number in common.reversed() {
            let index = Int(number - window.lowerBound)
            switch compare(Fingerprint(list.segments[index], dates[index]), at: Int(number - lowerBound)) {
            case .sameDate: return .sameDate
            case .sameURL: result = .sameURL
            case .noOverlap, .differentSegments: continue
            }
            if dates[index] == nil { break }
        }
        return result
    }

    /// Hosts and paths may change with a token, so a file name that tells its neighbours apart is enough. A date that
    /// is two segments off outweighs both.
    private func compare(_ listed: Fingerprint, at index: Int) -> Match {
        let known = entries[index]
        if known.hasDifferentDate(listed) { return .differentSegments }
        if let old = known.date, let new = listed.date, old.distance(to: new) < known.duration / 2 { return .sameDate }
        guard known.byteRange == listed.byteRange else { return .differentSegments }
        if known.uriWithoutQuery == listed.uriWithoutQuery { return .sameURL }
        let neighbour = index > 0 ? entries[index - 1] : entries.count > 1 ? entries[index + 1] : nil
        let isTelling = neighbour.map { fileName($0.uriWithoutQuery) != fileName(known.uriWithoutQuery) } ?? true
        return isTelling && fileName(known.uriWithoutQuery) == fileName(listed.uriWithoutQuery)
            ? .sameURL : .differentSegments
    }

    /// What to add to an old number to get the new one of the same segment, where addresses prove it: at least one that
    /// stands once in either list, and no other segment under any number that both have then.
    func numberOffset(to list: MediaPlaylist) -> Int64? {
        shift(to: list, by: \.uri) ?? shift(to: list, by: \.uriWithoutQuery)
    }

    private func shift(to list: MediaPlaylist, by name: KeyPath<Fingerprint, String>) -> Int64? {
        let listed = zip(list.segments, list.programDateTimes).map(Fingerprint.init)
        let known = Self.indices(of: entries, by: name)
        var votes: [Int: Int] = [:]
        for (key, place) in Self.indices(of: listed, by: name) {
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
    private static func indices(of segments: [Fingerprint], by name: KeyPath<Fingerprint, String>) -> [SegmentIdentity:
        Int?]
    {
        var places: [SegmentIdentity: Int?] = [:]
        for (index, segment) in segments.enumerated() {
            let key = SegmentIdentity(segment, name)
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

    private struct SegmentIdentity: Hashable {
        let address: String
        let byteRange: ByteRange?

        init(_ known: Fingerprint, _ name: KeyPath<Fingerprint, String>) {
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
