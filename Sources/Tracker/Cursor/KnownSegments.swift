import Playlist
import Support

/// Fingerprints of the segments listed so far, by which they are recognized under other numbers.
struct KnownSegments: Sendable {
    /// The media sequence numbers of the playlist recorded last.
    private(set) var newest: Range<UInt64>
    /// The fewest segments that one of the playlists listed.
    private var fewestListed: Int
    /// Media sequence number of the first entry; the numbers of the others are consecutive.
    private var lowerBound: UInt64
    private var entries: [Fingerprint] = []

    /// Entries kept before the window, because a stale edge serves playlists that are minutes old.
    private static let history = 64
    /// The newest segments of a playlist that are remembered: a long window is recognized by its end.
    private static let longestWindow = 512

    /// - Parameter playlist: a playlist that has segments.
    init(_ playlist: MediaPlaylist) {
        newest = playlist.window ?? 0..<0
        fewestListed = playlist.segments.count
        lowerBound = newest.lowerBound
        update(from: playlist)
    }

    /// Adds what is new in a playlist that continues the ones before it.
    mutating func update(from playlist: MediaPlaylist) {
        guard let window = playlist.window else { return }
        newest = window
        fewestListed = min(fewestListed, playlist.segments.count)
        if window.lowerBound > upperBound {
            entries = []
            lowerBound = window.lowerBound
        }
        guard window.upperBound > upperBound else { return }
        let dates = playlist.programDateTimes
        let newCount = Int(window.upperBound - max(upperBound, window.lowerBound))
        if newCount > Self.longestWindow {
            entries = []
            lowerBound = window.upperBound - UInt64(Self.longestWindow)
        }
        for index in Int(upperBound - window.lowerBound)..<playlist.segments.count {
            entries.append(Fingerprint(playlist.segments[index], dates[index]))
        }
        let kept = min(playlist.segments.count, Self.longestWindow) + Self.history
        if entries.count > 2 * kept { keepNewest(kept) }
    }

    /// The same segments under other numbers; nil if those are not numbers.
    /// - Parameter offset: the difference between the new numbers and the known ones.
    func renumbered(by offset: Int64) -> KnownSegments? {
        let shift = { (number: UInt64) -> UInt64? in
            let (sum, overflows) = number.addingReportingOverflow(UInt64(bitPattern: offset))
            return overflows == (offset < 0) ? sum : nil
        }
        guard let first = shift(lowerBound), let start = shift(newest.lowerBound), let end = shift(newest.upperBound),
            start <= end
        else { return nil }
        var known = self
        (known.lowerBound, known.newest) = (first, start..<end)
        return known
    }

    /// Whether a playlist that ends early is no old one: it lists no more than half as many segments as any before.
    ///
    /// A packager that begins again lists its first segments under the names that the first ones of the last run had. What a
    /// cache kept has about as many segments as all others.
    func outgrew(_ playlist: MediaPlaylist) -> Bool { playlist.segments.count * 2 <= fewestListed }

    mutating func keepNewest(_ count: Int) {
        guard entries.count > count else { return }
        lowerBound += UInt64(entries.count - count)
        entries = Array(entries.suffix(count))
    }

    /// Returns when the segment before `number` ended; nil if its date is unknown.
    func endDate(before number: UInt64) -> ProgramDateTime? {
        guard number > lowerBound, number <= upperBound else { return nil }
        let known = entries[Int(number - 1 - lowerBound)]
        return known.date?.advanced(by: known.duration)
    }

    private var upperBound: UInt64 { lowerBound + UInt64(entries.count) }

    // MARK: - Comparison by number

    enum Match: Equatable, Sendable {
        /// No media sequence number of the playlist is known.
        case noOverlap
        /// At least one number has the same URL as before.
        case sameURL
        /// At least one number has the same date as before, which is the strongest proof.
        case sameDate
        /// Every common number belongs to another segment now.
        case differentSegments
    }

    /// Compares the segments with common numbers, newest first. One number that kept its segment decides.
    func match(with playlist: MediaPlaylist) -> Match {
        guard let window = playlist.window else { return .noOverlap }
        let common = window.clamped(to: lowerBound..<upperBound)
        guard !common.isEmpty else { return .noOverlap }
        let dates = playlist.programDateTimes
        var result = Match.differentSegments
        for number in common.reversed() {
            let index = Int(number - window.lowerBound)
            switch compare(Fingerprint(playlist.segments[index], dates[index]), at: Int(number - lowerBound)) {
            case .sameDate: return .sameDate
            case .sameURL: result = .sameURL
            case .noOverlap, .differentSegments: continue
            }
            if dates[index] == nil { break }
        }
        return result
    }

    /// Compares one listed segment with the known one of the same number.
    ///
    /// Host and path may change with a token, so an equal file name is enough if the neighbor has another name. Dates
    /// that differ by two segments outweigh both.
    private func compare(_ listed: Fingerprint, at index: Int) -> Match {
        let known = entries[index]
        if known.hasDifferentDate(listed) { return .differentSegments }
        // By the shorter one: numbers may have moved by one short segment.
        if let old = known.date, let new = listed.date,
            old.distance(to: new) < min(known.duration, listed.duration) / 2
        {
            return .sameDate
        }
        guard known.byteRange == listed.byteRange else { return .differentSegments }
        if known.uriWithoutQuery == listed.uriWithoutQuery { return .sameURL }
        let neighbor = index > 0 ? entries[index - 1] : entries.count > 1 ? entries[index + 1] : nil
        let isDistinctive = neighbor.map { $0.fileName != known.fileName } ?? true
        return isDistinctive && known.fileName == listed.fileName ? .sameURL : .differentSegments
    }

    // MARK: - Comparison by URL

    /// Returns the difference between the new number and the known number of the same segment, if URLs prove it.
    ///
    /// The proof needs one URL that occurs once in either playlist. With that difference, all common numbers must
    /// belong to the same segments.
    func numberOffset(to playlist: MediaPlaylist) -> Int64? {
        numberOffset(to: playlist, by: \.uri) ?? numberOffset(to: playlist, by: \.uriWithoutQuery)
    }

    private func numberOffset(to playlist: MediaPlaylist, by name: KeyPath<Fingerprint, String>) -> Int64? {
        let listed = zip(playlist.segments, playlist.programDateTimes).map(Fingerprint.init)
        let known = Self.indices(of: entries, by: name)
        var votes: [Int: Int] = [:]
        for (identity, index) in Self.indices(of: listed, by: name) {
            guard let index, let old = known[identity] ?? nil else { continue }
            votes[index - old, default: 0] += 1
        }
        guard let first = playlist.window?.lowerBound,
            let offset = votes.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key
        else { return nil }
        let common = entries.indices.clamped(to: -offset..<listed.count - offset)
        guard common.allSatisfy({ entries[$0].isSame(as: listed[$0 + offset], by: name) }) else { return nil }
        return Int64(bitPattern: first &- lowerBound) &+ Int64(offset)
    }

    /// Returns the index of each segment; nil for a segment that occurs more than once.
    private static func indices(
        of segments: [Fingerprint], by name: KeyPath<Fingerprint, String>
    ) -> [SegmentIdentity: Int?] {
        StepCounter.add(segments.count)
        var indices: [SegmentIdentity: Int?] = [:]
        for (index, segment) in segments.enumerated() {
            let identity = SegmentIdentity(segment, name)
            indices[identity] = .some(indices[identity] == nil ? index : nil)
        }
        return indices
    }

    private struct Fingerprint: Sendable {
        /// As listed.
        let uri: String
        /// Without the query, which may be signed anew in each playlist.
        let uriWithoutQuery: String
        let byteRange: ByteRange?
        let date: ProgramDateTime?
        let duration: Duration

        init(_ segment: MediaSegment, _ date: ProgramDateTime?) {
            StepCounter.add(1)
            uri = Self.shortened(segment.uri)
            uriWithoutQuery = Self.shortened(URIReference.withoutQuery(segment.uri))
            byteRange = segment.byteRange
            self.date = date
            duration = segment.duration
        }

        /// A long URI is remembered by its end, which has the file name, and by a hash of the whole.
        private static func shortened(_ uri: String) -> String {
            guard uri.utf8.count > longestURI else { return uri }
            let hash = uri.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            return "\(String(hash, radix: 16))/\(String(decoding: uri.utf8.suffix(longestURI / 2), as: UTF8.self))"
        }

        private static let longestURI = 192

        /// The part of the path after the last slash.
        var fileName: Substring {
            let slash = uriWithoutQuery.utf8.lastIndex(of: UInt8(ascii: "/"))
            return slash.map { uriWithoutQuery[uriWithoutQuery.utf8.index(after: $0)...] } ?? uriWithoutQuery[...]
        }

        func isSame(as listed: Fingerprint, by name: KeyPath<Fingerprint, String>) -> Bool {
            SegmentIdentity(self, name) == SegmentIdentity(listed, name) && !hasDifferentDate(listed)
        }

        func hasDifferentDate(_ listed: Fingerprint) -> Bool {
            guard let date, let other = listed.date else { return false }
            return date.distance(to: other) >= duration * 2
        }
    }

    private struct SegmentIdentity: Hashable {
        let name: String
        let byteRange: ByteRange?

        init(_ segment: Fingerprint, _ name: KeyPath<Fingerprint, String>) {
            self.name = segment[keyPath: name]
            byteRange = segment.byteRange
        }
    }
}
