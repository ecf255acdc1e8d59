// Eviction: an entry leaves the playlist (it retires), stays fetchable for a while, and then its files are removed.

extension RingIndex {
    /// The number of listed entries that the policy drops with this publish.
    ///
    /// Entries are due if they are older than the rewind or exceed their half of the byte limit. The playlist does not
    /// become shorter than the live window.
    var dueForEviction: Int {
        let minimum = PlaylistWindow(wanted: policy.liveWindow, targetDuration: targetDuration).ticks
        let rewind = policy.rewind.map { max(PlaylistTicks.ticks($0), minimum) } ?? .max
        let allowedBytes = policy.byteLimit.map { $0 / 2 } ?? .max
        var (ticks, bytes, count) = (listedTicks, listedBytes, 0)
        for entry in listed.prefix(RetentionPolicy.evictionsPerPublish) {
            ticks -= entry.duration
            let isOld = ticks >= rewind && entry.mediaSequence < liveWindowStart ?? .max
            guard isOld || (bytes > allowedBytes && ticks >= minimum) else { break }
            guard listed.count - count > RetentionPolicy.minimumSegments else { break }
            bytes -= entry.storedBytes
            count += 1
        }
        return count
    }

    /// Evicts down to the shortest playlist that is allowed and removes every retired entry, because the disk is full.
    ///
    /// Gaps take no room on the disk, so they do not displace segments that can be played.
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

    /// Evicts gaps at the front of the playlist while the rest is long enough for a playlist.
    mutating func dropLeadingGaps() {
        let gaps = listed.prefix { $0.isGap }.count
        let excess = PlaylistWindow.shortest(targetDuration: targetDuration).start(in: listed) - listed.startIndex
        retire(gaps == listed.count ? gaps : min(gaps, excess))
    }

    /// Moves the first `count` listed entries to `retired`. They expire when the longest playlist that listed them could
    /// have been played (RFC 8216 §6.2.2).
    mutating func retire(_ count: Int) {
        let retiring = listed.prefix(count)
        liveWindow.skip(to: retiring.endIndex, in: listed)
        for entry in retiring {
            variantSums.remove(entry)
            retired.append(
                RetiredEntry(entry: entry, expiresAt: publishedTicks + entry.duration + longestPlaylist.ticks))
            listedTicks -= entry.duration
            listedBytes -= entry.storedBytes
            retiredBytes += entry.storedBytes
        }
        openDateRanges.merge(dateRangesOf: retiring)
        listed.removeFirst(count)
        while let first = indicesWithDateRanges.first, first < listed.startIndex { indicesWithDateRanges.removeFirst() }
        while let first = indicesOfDateRegressions.first, first <= listed.startIndex {
            indicesOfDateRegressions.removeFirst()
        }
        if let first = listed.first { openDateRanges.removeAll(endingBefore: first.programDateTime) }
    }

    /// Removes retired entries that have expired or that exceed the byte limit.
    /// - Returns: the files that are no longer needed.
    mutating func removeExpired() -> [SpoolFile] {
        var (stored, count) = (listedBytes + retiredBytes, 0)
        for old in retired.prefix(RetentionPolicy.evictionsPerPublish) {
            guard old.expiresAt <= publishedTicks || stored > policy.byteLimit ?? .max else { break }
            stored -= old.entry.storedBytes
            count += 1
        }
        return removeRetired(count)
    }

    private mutating func removeRetired(_ count: Int) -> [SpoolFile] {
        var files: [SpoolFile] = []
        let removed = retired.prefix(count).map(\.entry)
        retired.removeFirst(count)
        for entry in removed {
            retiredBytes -= entry.storedBytes
            if !entry.isIndependent { dependentEntries -= 1 }
            if !entry.isGap {
                files.append(entry.segment)
                if let still = entry.transportStream?.still, releaseStill(still) { files.append(still) }
            }
            if let unused = releaseInitialization(of: entry) { files.append(unused) }
        }
        return files
    }

    /// - Returns: whether no other entry needs the file.
    private mutating func releaseStill(_ still: SpoolFile) -> Bool {
        stills[still, default: 1] -= 1
        guard stills[still] == 0 else { return false }
        stills[still] = nil
        return true
    }

    /// - Returns: the file of the entry's init section if no other entry uses it and no gap lists it. Players may load the
    ///   EXT-X-MAP of a gap.
    private mutating func releaseInitialization(of entry: RingEntry) -> SpoolFile? {
        let name = entry.initialization.name
        if entry.isGap {
            gapsByInitialization[name, default: 1] -= 1
            if gapsByInitialization[name] == 0 { gapsByInitialization[name] = nil }
        } else {
            initializations[name]?.uses -= 1
        }
        guard initializations[name]?.uses == 0, gapsByInitialization[name] == nil else { return nil }
        return initializations.removeValue(forKey: name)?.file
    }
}
