package import Playlist
import Support

/// The listed entries, the entries that left the playlist but can still be fetched, and the next numbers.
///
/// The clock of the ring is the sum of the published durations. During an outage nothing ages.
package struct RingIndex: Equatable, Sendable {
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
    // The cost of a publish does not depend on the number of entries: copies of an index share the entries, and no
    // property below is computed over all of them.

    /// All entries that can be fetched, with consecutive media sequence numbers, oldest first: the retired entries,
    /// which no playlist lists any more (RFC 8216 §6.2.2), then the listed ones.
    private(set) var entries = RingEntries()
    /// The index of the first listed entry.
    private var listedStart = 0
    /// The media sequence number that an entry at index 0 has or would have, modulo 2⁶⁴.
    private var numberOfIndexZero: UInt64 = 0
    /// For each retired entry, the clock of the ring at which its file is removed, in 90 kHz ticks.
    private var expiryTimes = PersistentVector<Int64>()
    /// The init sections in use, by file name.
    private(set) var initializations: [String: InitializationUse] = [:]
    /// The number of gaps, listed and retired, by the name of the init section that they list.
    private(set) var gapsByInitialization: [String: Int] = [:]
    /// The number of entries, listed and retired, that cannot be decoded without another.
    private(set) var dependentEntries = 0
    /// The indices of the listed entries that have date ranges.
    private(set) var indicesWithDateRanges = PersistentVector<Int>()
    /// The indices of the listed entries whose dates are before those of the entry before them.
    private(set) var indicesOfDateRegressions = PersistentVector<Int>()
    private(set) var liveWindow = LiveWindow()
    private(set) var variantSums: VariantSums
    /// The sums of each video track beside the leading one.
    private(set) var furtherSums: [VariantSums] = []
    private(set) var transportStreamSums = TransportStreamSums()
    /// The files that only transport streams need, and the number of entries, listed and retired, that need each.
    private(set) var sidecars: [SpoolFile: Int] = [:]
    package private(set) var nextMediaSequence: UInt64
    /// The discontinuity sequence number of the newest entry, even if that entry is evicted.
    package private(set) var discontinuitySequence: UInt64
    /// The duration of all listed entries in 90 kHz ticks.
    package private(set) var listedTicks: Int64 = 0
    package private(set) var listedBytes: UInt64 = 0
    package private(set) var retiredBytes: UInt64 = 0
    /// The date ranges of unlisted segments that reach into the playlist, and those added at the end of the channel.
    package private(set) var openDateRanges: OpenDateRanges
    /// The date ranges that may reach beyond the newest entry.
    private(set) var currentDateRanges: OpenDateRanges
    /// The latest media sequence number at which the live playlist may begin while it does not slide; nil if it slides.
    private(set) var liveWindowStart: UInt64?
    /// The closed captions of the channel, and the names of its audio.
    var declared: DeclaredRenditions
    /// As `DVRRing.declareVariants` says.
    var declaredVariants: [String: Variant] = [:]
    var declaredLayout: String?
    /// The clock of the ring in 90 kHz ticks.
    private(set) var publishedTicks: Int64 = 0
    private var longestPlaylist: LongestPlaylist

    package init(
        policy: RetentionPolicy, targetDuration: Int, nextMediaSequence: UInt64 = 0, discontinuitySequence: UInt64 = 0,
        openDateRanges: [DateRange] = [], liveWindowStart: UInt64? = nil, declared: [Rendition] = []
    ) {
        self.declared = DeclaredRenditions(declared)
        self.liveWindowStart = liveWindowStart
        self.openDateRanges = OpenDateRanges(openDateRanges)
        currentDateRanges = self.openDateRanges
        self.policy = policy
        self.targetDuration = RingRanges.targetDuration.clamp(targetDuration)
        self.nextMediaSequence = nextMediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.longestPlaylist = LongestPlaylist(ticks: 0, newest: nextMediaSequence)
        self.variantSums = VariantSums(targetDuration: self.targetDuration)
    }

    /// The entries that `dvr.m3u8` or a range lists.
    package var listed: RingEntries { entries[listedStart...] }

    /// The least part of the listed entries that `dvr.m3u8` lists; nil if it lists all of them.
    var rewindWindow: PlaylistWindow? {
        guard policy.hasArchive, let rewind = policy.rewind else { return nil }
        return window(max(rewind, policy.liveWindow))
    }

    /// The window of a playlist of `wanted` duration, or longer if RFC 8216 §6.2.2 requires it.
    func window(_ wanted: Duration) -> PlaylistWindow {
        PlaylistWindow(wanted: wanted, targetDuration: targetDuration)
    }

    /// The duration of the longest playlist that slides, in 90 kHz ticks.
    private var slidingTicks: Int64 { min(listedTicks, rewindWindow.map { $0.ticks } ?? .max) }

    /// The entries that can be fetched and that no playlist lists.
    var retired: RingEntries { entries[..<listedStart] }

    /// The first media sequence number listed, or the next one if the playlist is empty.
    var firstMediaSequence: UInt64 { entries.isEmpty ? nextMediaSequence : number(at: listedStart) }

    /// The media sequence number of the entry at `index`: they are consecutive.
    func number(at index: Int) -> UInt64 { numberOfIndexZero &+ UInt64(index) }

    /// Lists `entry`, which has the next media sequence number, and evicts one bounded step of what the policy drops.
    /// The number at which the playlist now begins is stored in the entry.
    /// - Returns: the files that are no longer needed.
    mutating func publish(_ entry: RingEntry) -> [SpoolFile] {
        append(entry)
        let count = dueForEviction
        entries[entries.endIndex - 1].listedFrom = entries[listedStart + count].mediaSequence
        retire(count)
        slideLiveWindow()
        return removeExpired()
    }

    /// Lists an entry of the journal, and evicts the entries that were evicted when it was published.
    mutating func replay(_ entry: RingEntry) {
        append(entry)
        retire(listed.prefix { $0.mediaSequence < entry.listedFrom }.count)
        slideLiveWindow()
        _ = removeExpired()
    }

    /// Lists the entries of a block of the journal, as if each were replayed. Only blocks may have been replayed
    /// before.
    mutating func replay(_ block: EntryBlock, _ figures: [EntryFigures?]) {
        var (index, previous) = (entries.endIndex, entries.last?.figures)
        entries.append(block)
        // The last entry that was made, and the number of following entries with the same texts.
        var (made, sharing) = (block[0], 0)
        for (position, known) in figures.enumerated() {
            let entry: EntryFigures
            if let known {
                if Self.isRegression(known, after: previous) { indicesOfDateRegressions.append(index) }
                variantSums.append(known)
                transportStreamSums.append(known.extent, isGap: false)
                count(known)
                (entry, sharing) = (known, sharing + 1)
            } else {
                recordSharing(sharing, with: made)
                (made, sharing) = (block[position], 0)
                entry = made.figures
                record(made, at: index, after: previous)
            }
            (index, previous) = (index + 1, entry)
            let first = firstMediaSequence
            if entry.listedFrom > first {
                recordSharing(sharing, with: made)
                sharing = 0
                retire(Int(min(entry.listedFrom - first, entry.mediaSequence - first)))
            }
            if !expiryTimes.isEmpty { _ = removeExpired() }
        }
        recordSharing(sharing, with: made)
    }

    /// Moves the beginning of the live playlist over the blocks that were replayed.
    mutating func finishReplayingBlocks() {
        let start = window(policy.liveWindow).start(in: listed)
        let latest = liveWindowStart.map { index(ofNumber: $0) ?? listedStart } ?? .max
        liveWindow.jump(to: min(start, latest), in: listed, dateRanged: indicesWithDateRanges)
    }

    /// Adds `count` entries with the format, the init section and the still of `entry`.
    private mutating func recordSharing(_ count: Int, with entry: RingEntry) {
        guard count > 0 else { return }
        variantSums.appendFormat(of: entry, count: count)
        retain(entry.initialization, count, isGap: false, isAudioOnly: entry.format.isAudioOnly)
        if let still = entry.transportStream?.still { sidecars[still, default: 0] += count }
    }

    /// Continues with other parameters. The live playlist does not begin earlier than it did before.
    /// - Parameter targetDuration: seconds. The larger of this value and the one before is used.
    mutating func setParameters(policy: RetentionPolicy, targetDuration: Int) {
        self.policy = policy
        let targetDuration = RingRanges.targetDuration.clamp(targetDuration)
        if targetDuration > self.targetDuration {
            self.targetDuration = targetDuration
            variantSums = VariantSums(targetDuration: targetDuration)
            furtherSums = []
            for entry in listed { appendSums(of: entry) }
        }
        dropLeadingGaps()
    }

    /// Adds the bytes of a subtitle file to a segment, or subtracts them. The file stays as long as the segment.
    mutating func addSubtitles(_ byteCount: Int, to mediaSequence: UInt64) {
        func add(to bytes: inout UInt64) { bytes = UInt64(clamping: Int64(clamping: bytes) + Int64(byteCount)) }
        guard let index = index(ofNumber: mediaSequence) else { return }
        var bytes = entries[index].subtitleBytes
        add(to: &bytes)
        entries.setSubtitleBytes(bytes, at: index)
        if index < listedStart { add(to: &retiredBytes) } else { add(to: &listedBytes) }
    }

    /// The number of newest segments that may get late media of a track.
    private static let lateSegments = 16

    /// The number and the file for late media; nil if its segment is not among the newest, or not a gap of the track.
    func lateFile(
        for media: NewTrack, ofVideoTrack track: Int, afterFragment fragment: UInt64
    ) -> (mediaSequence: UInt64, file: TrackFile)? {
        let entry = listed.suffix(Self.lateSegments).last {
            $0.resumePoint.fragmentSequenceNumber == fragment && !$0.isGap
        }
        guard let entry, entry.videoFiles.indices.contains(track), case .gap = entry.videoFiles[track]
        else { return nil }
        return (entry.mediaSequence, file(for: media, .video, track: track, mediaSequence: entry.mediaSequence))
    }

    /// Adds the file of a track to a segment. Later segments have no file of the track.
    mutating func add(_ file: TrackFile, toVideoTrack track: Int, of mediaSequence: UInt64) {
        guard let index = index(ofNumber: mediaSequence), index >= listedStart else { return }
        entries[index].videoFiles[track] = .own(file)
        listedBytes += UInt64(file.segment.byteCount)
        retain(file.initialization, isGap: false, isAudioOnly: false)
        furtherSums[track].append(entries[index].ofVideoTrack(track))
    }

    /// Adds date ranges, or attributes of them, that no segment can carry because the channel ends.
    mutating func addOpenDateRanges(_ ranges: [DateRange]) {
        for range in ranges { openDateRanges.merge(range) }
    }

    /// Keeps the current entries of the live playlist listed, as far as the policy permits. A second call has no
    /// effect.
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
        liveWindow.slide(in: listed, to: window(policy.liveWindow), notAfter: liveWindowStart)
    }

    // Only `append`, `retire` and `removeRetired` change the lists: entries are added at the end and leave at the front.

    private mutating func append(_ new: RingEntry) {
        let previous = listed.last
        let entry = previous.map { new.sharingTexts(with: $0) } ?? new
        entries.append(entry)
        record(entry, at: entries.endIndex - 1, after: previous?.figures)
    }

    /// Adds an entry to the sums and sets over all entries.
    private mutating func record(_ entry: RingEntry, at index: Int, after previous: EntryFigures?) {
        let figures = entry.figures
        if previous == nil { numberOfIndexZero = entry.mediaSequence &- UInt64(index) }
        if !entry.adMarkers.dateRanges.isEmpty { indicesWithDateRanges.append(index) }
        currentDateRanges.merge(dateRangesOf: CollectionOfOne(entry))
        if Self.isRegression(figures, after: previous) { indicesOfDateRegressions.append(index) }
        appendSums(of: entry)
        transportStreamSums.append(entry)
        discontinuitySequence = entry.discontinuitySequence
        retain(entry.initialization, isGap: entry.isGap, isAudioOnly: entry.format.isAudioOnly)
        for (file, isGap, isAudioOnly) in entry.initializations.dropFirst() {
            retain(file, isGap: isGap, isAudioOnly: isAudioOnly)
        }
        if !entry.isGap {
            for file in entry.transportStream?.sidecars ?? [] { sidecars[file, default: 0] += 1 }
        }
        count(figures)
    }

    /// Adds the numbers of an entry to the sums over all entries.
    private mutating func count(_ entry: EntryFigures) {
        StepCounter.add(1)
        currentDateRanges.removeAll(endingBefore: entry.programDateTime)
        liveWindow.append(lasting: entry.duration)
        if !entry.isIndependent { dependentEntries += 1 }
        nextMediaSequence = entry.mediaSequence + 1
        listedTicks += entry.duration
        listedBytes += entry.storedBytes
        publishedTicks += entry.duration
        longestPlaylist.record(slidingTicks, newest: entry.mediaSequence, oldest: firstMediaSequence)
    }

    private mutating func appendSums(of entry: RingEntry) {
        variantSums.append(entry)
        while furtherSums.count < entry.videoFiles.count {
            furtherSums.append(VariantSums(targetDuration: targetDuration))
        }
        for track in entry.videoFiles.indices { furtherSums[track].append(entry.ofVideoTrack(track)) }
    }

    private mutating func removeSums(of entry: RingEntry) {
        variantSums.remove(entry)
        for track in entry.videoFiles.indices { furtherSums[track].remove(entry.ofVideoTrack(track)) }
    }

    private mutating func retain(_ file: SpoolFile, _ count: Int = 1, isGap: Bool, isAudioOnly: Bool) {
        guard !isGap else {
            gapsByInitialization[file.name, default: 0] += count
            return
        }
        let unused = InitializationUse(file: file, uses: 0, isAudioOnly: isAudioOnly)
        initializations[file.name, default: unused].uses += count
    }
}

// MARK: - Eviction

// An entry leaves the playlist (it retires), stays fetchable for a while, and then its files are removed.

extension RingIndex {
    /// The number of listed entries that the policy drops with this publish.
    ///
    /// Entries are due if they are older than the archive or exceed their part of the byte limit. The playlist does not
    /// become shorter than the live window.
    private var dueForEviction: Int {
        let minimum = window(policy.liveWindow).ticks
        let longest = policy.listed.map { max(PlaylistTicks.ticks($0), minimum) } ?? .max
        let permittedBytes = permittedBytes
        var (ticks, bytes, count) = (listedTicks, listedBytes, 0)
        for entry in listed.prefix(RetentionPolicy.evictionsPerPublish) {
            ticks -= entry.duration
            let isOld = ticks >= longest && entry.mediaSequence < liveWindowStart ?? .max
            guard isOld || (bytes > permittedBytes && ticks >= minimum) else { break }
            guard listed.count - count > RetentionPolicy.minimumSegments else { break }
            bytes -= entry.storedBytes
            count += 1
        }
        return count
    }

    /// The bytes that listed segments may take. The rest is for segments that left every playlist, for as long as the
    /// longest sliding playlist lasts.
    private var permittedBytes: UInt64 {
        guard let limit = policy.byteLimit else { return .max }
        let (listed, sliding) = (UInt64(max(1, listedTicks)), UInt64(slidingTicks))
        return (listed + sliding).dividingFullWidth(limit.multipliedFullWidth(by: listed)).quotient
    }

    /// Removes the oldest entries because the disk is full: retired ones, and then listed ones.
    ///
    /// Gaps take no room on the disk, so they do not displace segments that can be played.
    /// - Parameters:
    ///   - bytes: the least number of bytes that are freed, if the removed entries have that many.
    ///   - window: the duration of the playlist that stays at least: no playlist becomes shorter than permitted.
    /// - Returns: the files that are no longer needed, and what the entries had in files.
    mutating func dropOldest(freeing bytes: UInt64, keeping window: Duration) -> (files: [SpoolFile], byteCount: UInt64)
    {
        var (freed, count) = (UInt64(0), 0)
        for entry in retired where freed < bytes {
            freed += entry.storedBytes
            count += 1
        }
        guard freed < bytes else { return (removeRetired(count), freed) }
        let start = self.window(window).startWithoutGaps(in: listed)
        let most = (listed[start...].firstIndex { !$0.isGap } ?? listedStart) - listedStart
        count = 0
        for entry in listed.prefix(most) where freed < bytes {
            freed += entry.storedBytes
            count += 1
        }
        retire(count)
        if count == most { longestPlaylist = LongestPlaylist(ticks: slidingTicks, newest: nextMediaSequence) }
        return (removeRetired(retired.count), freed)
    }

    /// Evicts gaps at the front of the playlist while the rest is long enough for a playlist.
    mutating func dropLeadingGaps() {
        let gaps = listed.prefix { $0.isGap }.count
        let excess = window(.zero).start(in: listed) - listed.startIndex
        retire(gaps == listed.count ? gaps : min(gaps, excess))
    }

    /// Moves the first `count` listed entries to `retired`. They expire when the longest playlist that listed them could
    /// have been played (RFC 8216 §6.2.2).
    private mutating func retire(_ count: Int) {
        guard count > 0 else { return }
        let retiring = listed.prefix(count)
        liveWindow.skip(to: retiring.endIndex, in: listed)
        for entry in retiring {
            removeSums(of: entry)
            expiryTimes.append(publishedTicks + entry.duration + longestPlaylist.ticks)
            listedTicks -= entry.duration
            listedBytes -= entry.storedBytes
            retiredBytes += entry.storedBytes
        }
        openDateRanges.merge(dateRangesOf: retiring)
        listedStart += count
        transportStreamSums.removeFirst(count)
        while let first = indicesWithDateRanges.first, first < listedStart { indicesWithDateRanges.removeFirst() }
        while let first = indicesOfDateRegressions.first, first <= listedStart {
            indicesOfDateRegressions.removeFirst()
        }
        if let first = listed.first { openDateRanges.removeAll(endingBefore: first.programDateTime) }
    }

    /// Removes retired entries that have expired or that exceed the byte limit.
    /// - Returns: the files that are no longer needed.
    private mutating func removeExpired() -> [SpoolFile] {
        var (stored, count) = (listedBytes + retiredBytes, 0)
        for (old, expiryTime) in zip(retired.prefix(RetentionPolicy.evictionsPerPublish), expiryTimes) {
            guard expiryTime <= publishedTicks || stored > policy.byteLimit ?? .max else { break }
            stored -= old.storedBytes
            count += 1
        }
        return removeRetired(count)
    }

    private mutating func removeRetired(_ count: Int) -> [SpoolFile] {
        var files: [SpoolFile] = []
        let removed = Array(retired.prefix(count))
        entries.removeFirst(count)
        expiryTimes.removeFirst(count)
        for entry in removed {
            retiredBytes -= entry.storedBytes
            if !entry.isIndependent { dependentEntries -= 1 }
            if !entry.isGap {
                files.append(entry.segment)
                files += entry.playableTracks.map(\.segment)
                files += (entry.transportStream?.sidecars ?? []).filter { release($0) }
            }
            files += entry.initializations.compactMap { releaseInitialization($0.file.name, isGap: $0.isGap) }
        }
        return files
    }

    /// - Returns: whether no other entry needs the file.
    private mutating func release(_ file: SpoolFile) -> Bool {
        sidecars[file, default: 1] -= 1
        guard sidecars[file] == 0 else { return false }
        sidecars[file] = nil
        return true
    }

    /// - Returns: the file of an init section if no other entry uses it and no gap lists it. Players may load the EXT-X-MAP of
    ///   a gap.
    private mutating func releaseInitialization(_ name: String, isGap: Bool) -> SpoolFile? {
        if isGap {
            gapsByInitialization[name, default: 1] -= 1
            if gapsByInitialization[name] == 0 { gapsByInitialization[name] = nil }
        } else {
            initializations[name]?.uses -= 1
        }
        guard initializations[name]?.uses == 0, gapsByInitialization[name] == nil else { return nil }
        return initializations.removeValue(forKey: name)?.file
    }
}
