package import Playlist

/// Which segments are listed, which have left the list and are still there, and which numbers come next.
///
/// Time is the media's own: the ring's clock is the sum of the durations published. During an outage nothing ages.
package struct RingIndex: Equatable, Sendable {
    /// An entry that no list shows any more (RFC 8216 §6.2.2).
    struct RetiredEntry: Equatable, Sendable {
        var entry: RingEntry
        /// Its file goes once the ring's clock is here.
        let expiresAt: Int64
    }

    struct InitializationUse: Equatable, Sendable {
        let file: SpoolFile
        /// Entries, listed and retired, that are read with it; gaps do not count.
        var uses: Int
        /// What is read with it has no picture.
        let isSoundAlone: Bool
    }

    package let policy: RetentionPolicy
    /// EXT-X-TARGETDURATION, seconds.
    package let targetDuration: Int
    // Slices: taking from the head costs nothing, however long the list. Their indices do not begin at 0.

    /// Consecutive media sequence numbers, oldest first.
    package private(set) var listed: ArraySlice<RingEntry> = []
    /// Consecutive media sequence numbers, oldest first, all below those of `listed`.
    private(set) var retired: ArraySlice<RetiredEntry> = []
    private(set) var initializations: [String: InitializationUse] = [:]
    package private(set) var nextMediaSequence: UInt64
    /// Discontinuity sequence number of the newest entry, also when that is gone.
    package private(set) var discontinuitySequence: UInt64
    /// Of all that is listed, 90 kHz ticks.
    package private(set) var listedTicks: Int64 = 0
    package private(set) var listedBytes: UInt64 = 0
    package private(set) var retiredBytes: UInt64 = 0
    /// Told of by segments that are no longer listed, and not over where the list begins; and what was told at the end.
    package private(set) var openDateRanges: OpenDateRanges
    /// The live list begins here at the latest, while this is listed; nil: it slides.
    private(set) var liveWindowStart: UInt64?
    private var publishedTicks: Int64 = 0
    private var longestPlaylist: LongestPlaylist

    package init(
        policy: RetentionPolicy, targetDuration: Int, nextMediaSequence: UInt64 = 0, discontinuitySequence: UInt64 = 0,
        openDateRanges: [DateRange] = [], liveFrom: UInt64? = nil
    ) {
        self.liveWindowStart = liveFrom
        self.openDateRanges = OpenDateRanges(openDateRanges)
        self.policy = policy
        self.targetDuration = targetDuration
        self.nextMediaSequence = nextMediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.longestPlaylist = LongestPlaylist(ticks: 0, newest: nextMediaSequence)
    }

    /// The first media sequence number listed, or the next one when nothing is.
    var firstMediaSequence: UInt64 { listed.first?.mediaSequence ?? nextMediaSequence }

    /// Lists `entry`, which has the next media sequence number, and evicts what the policy does not keep: one bounded
    /// step. The entry is stamped with where the list now begins.
    /// - Returns: the files that are no longer needed.
    mutating func publish(_ entry: RingEntry) -> [SpoolFile] {
        append(entry)
        let evicted = countToRetire()
        listed[listed.endIndex - 1].listedFrom = listed[listed.startIndex + evicted].mediaSequence
        retire(evicted)
        return removeExpired()
    }

    /// Lists an entry read back from the journal and evicts what it says was evicted with it.
    mutating func replay(_ entry: RingEntry) {
        append(entry)
        retire(listed.prefix { $0.mediaSequence < entry.listedFrom }.count)
        _ = removeExpired()
    }

    /// A segment has subtitles of so many bytes more: they stay as long as it does, and take as much room.
    mutating func addSubtitles(_ byteCount: Int, to mediaSequence: UInt64) {
        let bytes = UInt64(max(0, byteCount))
        if let place = listed.firstIndex(numbered: mediaSequence, by: \.mediaSequence) {
            listed[place].subtitleBytes += bytes
            listedBytes += bytes
        } else if let place = retired.firstIndex(numbered: mediaSequence, by: \.entry.mediaSequence) {
            retired[place].entry.subtitleBytes += bytes
            retiredBytes += bytes
        }
    }

    /// Tells of ranges, or more of them, without a segment: nothing more is published.
    mutating func addOpenDateRanges(_ ranges: [DateRange]) {
        for range in ranges { openDateRanges.merge(range) }
    }

    /// Evicts down to the shortest list that may be shown and forgets everything retired: the disk is full. Gaps take no
    /// room, so they do not push out what can be played.
    /// - Returns: the files that are no longer needed.
    mutating func dropRewind() -> [SpoolFile] {
        let playable = listed.filter { !$0.isGap }[...]
        let start = PlaylistWindow.shortest(targetDuration: targetDuration).start(in: playable)
        if let first = playable[start...].first {
            retire(listed.prefix { $0.mediaSequence < first.mediaSequence }.count)
        }
        longestPlaylist = LongestPlaylist(ticks: listedTicks, newest: nextMediaSequence)
        return removeRetired(retired.count)
    }

    /// Drops gaps from the head of the list, where nothing can be played, as far as the rest is long enough to be shown.
    mutating func dropLeadingGaps() {
        let gaps = listed.prefix { $0.isGap }.count
        let dispensable = PlaylistWindow.shortest(targetDuration: targetDuration).start(in: listed) - listed.startIndex
        retire(gaps == listed.count ? gaps : min(gaps, dispensable))
    }

    /// What the live list has stays in it from now on, as far as there is room; once more makes no difference.
    mutating func stopSliding() {
        let window = PlaylistWindow(wanted: policy.liveWindow, targetDuration: targetDuration)
        let start = window.start(in: listed)
        liveWindowStart = liveWindowStart ?? (start < listed.endIndex ? listed[start].mediaSequence : nextMediaSequence)
    }

    /// The live list slides again.
    mutating func resumeSliding() { liveWindowStart = nil }

    // The list only grows at its end and shrinks at its head; these three are all that moves it.

    private mutating func append(_ entry: RingEntry) {
        listed.append(entry)
        nextMediaSequence = entry.mediaSequence + 1
        discontinuitySequence = entry.discontinuitySequence
        listedTicks += entry.duration
        listedBytes += entry.storedBytes
        publishedTicks += entry.duration
        if !entry.isGap { retainInitialization(of: entry) }
        longestPlaylist.record(listedTicks, newest: entry.mediaSequence, oldest: firstMediaSequence)
    }

    private mutating func retire(_ count: Int) {
        for entry in listed.prefix(count) {
            retired.append(
                RetiredEntry(entry: entry, expiresAt: publishedTicks + entry.duration + longestPlaylist.ticks))
            listedTicks -= entry.duration
            listedBytes -= entry.storedBytes
            retiredBytes += entry.storedBytes
            for tag in entry.adMarkers.dateRanges { openDateRanges.merge(tag) }
        }
        listed.removeFirst(count)
        if let first = listed.first { openDateRanges.removeAll(endingBefore: first.programDateTime) }
    }

    private mutating func removeRetired(_ count: Int) -> [SpoolFile] {
        var files: [SpoolFile] = []
        let forgotten = retired.prefix(count).map(\.entry)
        retired.removeFirst(count)
        for entry in forgotten {
            retiredBytes -= entry.storedBytes
            if !entry.isGap {
                files.append(entry.segment)
                initializations[entry.initialization.name]?.uses -= 1
            }
            if let unused = releaseInitialization(entry.initialization.name) { files.append(unused) }
        }
        return files
    }

    private mutating func retainInitialization(of entry: RingEntry) {
        let first = InitializationUse(file: entry.initialization, uses: 0, isSoundAlone: entry.format.isSoundAlone)
        initializations[entry.initialization.name, default: first].uses += 1
    }

    /// - Returns: the file, when nothing is read with it and no gap lists it, whose EXT-X-MAP players may load.
    private mutating func releaseInitialization(_ name: String) -> SpoolFile? {
        guard initializations[name]?.uses == 0 else { return nil }
        func lists(_ entry: RingEntry) -> Bool { entry.initialization.name == name }
        guard !retired.contains(where: { lists($0.entry) }), !listed.contains(where: lists) else { return nil }
        return initializations.removeValue(forKey: name)?.file
    }

    /// How many entries the policy lets go now, without the list becoming shorter than the live window.
    private func countToRetire() -> Int {
        let floor = PlaylistWindow(wanted: policy.liveWindow, targetDuration: targetDuration).ticks
        let wanted = policy.rewind.map { max(PlaylistTicks.ticks($0), floor) } ?? .max
        let allowed = policy.byteLimit.map { $0 / 2 } ?? .max
        var (ticks, bytes, count) = (listedTicks, listedBytes, 0)
        for entry in listed.prefix(RetentionPolicy.evictionsPerPublish) {
            ticks -= entry.duration
            let isOld = ticks >= wanted && entry.mediaSequence < liveWindowStart ?? .max
            guard isOld || (bytes > allowed && ticks >= floor) else { break }
            guard listed.count - count > RetentionPolicy.minimumSegments else { break }
            bytes -= entry.storedBytes
            count += 1
        }
        return count
    }

    /// Forgets what has been kept long enough, and what there is no room for.
    private mutating func removeExpired() -> [SpoolFile] {
        var (stored, count) = (listedBytes + retiredBytes, 0)
        for old in retired.prefix(RetentionPolicy.evictionsPerPublish) {
            guard old.expiresAt <= publishedTicks || stored > policy.byteLimit ?? .max else { break }
            stored -= old.entry.storedBytes
            count += 1
        }
        return removeRetired(count)
    }
}

extension ArraySlice {
    /// Of elements that bear consecutive numbers: the index of the one with this.
    fileprivate func firstIndex(numbered number: UInt64, by numbering: (Element) -> UInt64) -> Int? {
        guard let first = first.map(numbering), number >= first, number - first < count else { return nil }
        return startIndex + Int(number - first)
    }
}

/// The longest list that any entry still listed was ever part of, or a little more.
///
/// Lists are counted in two generations. Once everything that stood in a list of the older one is gone, the younger
/// becomes the older.
private struct LongestPlaylist: Equatable, Sendable {
    private var older: Int64 = 0
    private var younger: Int64
    /// Newest entry of the older generation.
    private var boundary: UInt64

    init(ticks: Int64, newest: UInt64) {
        younger = ticks
        boundary = newest
    }

    var ticks: Int64 { max(older, younger) }

    mutating func record(_ listed: Int64, newest: UInt64, oldest: UInt64) {
        if oldest > boundary {
            older = younger
            younger = 0
            boundary = newest
        }
        younger = max(younger, listed)
    }
}
