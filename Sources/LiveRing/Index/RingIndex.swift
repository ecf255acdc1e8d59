package import Playlist

/// The listed entries, the entries that left the playlist but can still be fetched, and the next numbers.
///
/// The clock of the ring is the sum of the published durations. During an outage nothing ages.
package struct RingIndex: Equatable, Sendable {
    /// An entry that no playlist lists any more (RFC 8216 §6.2.2).
    struct RetiredEntry: Equatable, Sendable {
        var entry: RingEntry
        /// The clock of the ring at which the file is removed, in 90 kHz ticks.
        let expiresAt: Int64
    }

    struct InitializationUse: Equatable, Sendable {
        let file: SpoolFile
        /// The number of entries, listed and retired, that use the init section. Gaps do not count.
        var uses: Int
        /// Whether the segments that use the init section have audio and no video.
        let isAudioOnly: Bool
    }

    package private(set) var policy: RetentionPolicy
    /// EXT-X-TARGETDURATION in seconds, within `RingRanges.targetDuration`.
    package private(set) var targetDuration: Int
    // What a publish costs does not depend on the number of entries: copies of an index share them, and nothing below is
    // computed over all of them.

    /// The listed entries with consecutive media sequence numbers, oldest first.
    package internal(set) var listed = PersistentVector<RingEntry>()
    /// The retired entries with consecutive media sequence numbers, oldest first, all below those of `listed`.
    var retired = PersistentVector<RetiredEntry>()
    /// The init sections in use, by file name.
    var initializations: [String: InitializationUse] = [:]
    /// The number of gaps, listed and retired, by the name of the init section that they list.
    var gapsByInitialization: [String: Int] = [:]
    /// The number of entries, listed and retired, that cannot be decoded without another.
    var dependentEntries = 0
    /// The indices of the listed entries that have date ranges.
    var indicesWithDateRanges = PersistentVector<Int>()
    /// The indices of the listed entries whose dates are before those of the entry before them.
    var indicesOfDateRegressions = PersistentVector<Int>()
    var liveWindow = LiveWindow()
    var variantSums: VariantSums
    /// The stills in use, and the number of entries, listed and retired, that need each.
    var stills: [SpoolFile: Int] = [:]
    package private(set) var nextMediaSequence: UInt64
    /// The discontinuity sequence number of the newest entry, even if that entry is evicted.
    package private(set) var discontinuitySequence: UInt64
    /// The duration of all listed entries in 90 kHz ticks.
    package internal(set) var listedTicks: Int64 = 0
    package internal(set) var listedBytes: UInt64 = 0
    package internal(set) var retiredBytes: UInt64 = 0
    /// The date ranges of unlisted segments that reach into the playlist, and those added at the end of the channel.
    package internal(set) var openDateRanges: OpenDateRanges
    /// The latest media sequence number at which the live playlist may begin while it does not slide; nil if it slides.
    private(set) var liveWindowStart: UInt64?
    /// The clock of the ring in 90 kHz ticks.
    private(set) var publishedTicks: Int64 = 0
    var longestPlaylist: LongestPlaylist

    package init(
        policy: RetentionPolicy, targetDuration: Int, nextMediaSequence: UInt64 = 0, discontinuitySequence: UInt64 = 0,
        openDateRanges: [DateRange] = [], liveWindowStart: UInt64? = nil
    ) {
        self.liveWindowStart = liveWindowStart
        self.openDateRanges = OpenDateRanges(openDateRanges)
        self.policy = policy
        self.targetDuration = RingRanges.targetDuration.clamp(targetDuration)
        self.nextMediaSequence = nextMediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.longestPlaylist = LongestPlaylist(ticks: 0, newest: nextMediaSequence)
        self.variantSums = VariantSums(targetDuration: self.targetDuration)
    }

    /// The first media sequence number listed, or the next one if the playlist is empty.
    var firstMediaSequence: UInt64 { listed.first?.mediaSequence ?? nextMediaSequence }

    /// Lists `entry`, which has the next media sequence number, and evicts one bounded step of what the policy drops.
    /// The number at which the playlist now begins is stored in the entry.
    /// - Returns: the files that are no longer needed.
    mutating func publish(_ entry: RingEntry) -> [SpoolFile] {
        append(entry)
        let count = dueForEviction
        listed[listed.endIndex - 1].listedFrom = listed[listed.startIndex + count].mediaSequence
        retire(count)
        slideLiveWindow()
        return removeExpired()
    }

    /// Lists an entry of the journal and evicts the entries that it says were evicted with it.
    mutating func replay(_ entry: RingEntry) {
        append(entry)
        retire(listed.prefix { $0.mediaSequence < entry.listedFrom }.count)
        slideLiveWindow()
        _ = removeExpired()
    }

    /// Continues with other parameters. The live playlist does not begin earlier than before.
    /// - Parameter targetDuration: seconds. The larger of this value and the one before is used.
    mutating func setParameters(policy: RetentionPolicy, targetDuration: Int) {
        self.policy = policy
        let targetDuration = RingRanges.targetDuration.clamp(targetDuration)
        if targetDuration > self.targetDuration {
            self.targetDuration = targetDuration
            variantSums = VariantSums(targetDuration: targetDuration)
            for entry in listed { variantSums.append(entry) }
        }
        dropLeadingGaps()
    }

    /// Adds the bytes of a subtitle file to a segment, or subtracts them. The file stays as long as the segment.
    mutating func addSubtitles(_ byteCount: Int, to mediaSequence: UInt64) {
        func add(to bytes: inout UInt64) { bytes = UInt64(clamping: Int64(clamping: bytes) + Int64(byteCount)) }
        if let index = listedIndex(ofNumber: mediaSequence) {
            add(to: &listed[index].subtitleBytes)
            add(to: &listedBytes)
        } else if let index = retiredIndex(ofNumber: mediaSequence) {
            add(to: &retired[index].entry.subtitleBytes)
            add(to: &retiredBytes)
        }
    }

    /// Adds date ranges, or attributes of them, that no segment can carry any more because the channel ends.
    mutating func addOpenDateRanges(_ ranges: [DateRange]) {
        for range in ranges { openDateRanges.merge(range) }
    }

    /// Keeps the current entries of the live playlist listed as far as there is room. A second call has no effect.
    mutating func stopSliding() {
        let start = liveWindow.start
        liveWindowStart = liveWindowStart ?? (start < listed.endIndex ? listed[start].mediaSequence : nextMediaSequence)
    }

    /// Lets the live playlist slide again.
    mutating func resumeSliding() {
        liveWindowStart = nil
        slideLiveWindow()
    }

    private mutating func slideLiveWindow() {
        let window = PlaylistWindow(wanted: policy.liveWindow, targetDuration: targetDuration)
        liveWindow.slide(in: listed, to: window, notAfter: liveWindowStart)
    }

    // Only `append`, `retire` and `removeRetired` change the lists: entries are added at the end and leave at the front.

    private mutating func append(_ entry: RingEntry) {
        if !entry.adMarkers.dateRanges.isEmpty { indicesWithDateRanges.append(listed.endIndex) }
        if Self.isRegression(entry, after: listed.last) { indicesOfDateRegressions.append(listed.endIndex) }
        listed.append(entry)
        liveWindow.append(entry)
        variantSums.append(entry)
        if !entry.isIndependent { dependentEntries += 1 }
        nextMediaSequence = entry.mediaSequence + 1
        discontinuitySequence = entry.discontinuitySequence
        listedTicks += entry.duration
        listedBytes += entry.storedBytes
        publishedTicks += entry.duration
        retainInitialization(of: entry)
        if !entry.isGap, let still = entry.transportStream?.still { stills[still, default: 0] += 1 }
        longestPlaylist.record(listedTicks, newest: entry.mediaSequence, oldest: firstMediaSequence)
    }

    private mutating func retainInitialization(of entry: RingEntry) {
        guard !entry.isGap else {
            gapsByInitialization[entry.initialization.name, default: 0] += 1
            return
        }
        let unused = InitializationUse(file: entry.initialization, uses: 0, isAudioOnly: entry.format.isAudioOnly)
        initializations[entry.initialization.name, default: unused].uses += 1
    }
}
