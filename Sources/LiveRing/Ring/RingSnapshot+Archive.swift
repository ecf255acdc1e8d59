package import Playlist

extension RingSnapshot {
    /// The most gaps that an archive may need.
    package static let maximumGaps = RingJournal.maximumUnrecorded

    /// The segments of an archive, and files that are elsewhere.
    /// - Parameters:
    ///   - entries: in the order of their numbers. Missing ones, `maximumGaps` at most, become gaps.
    ///   - directory: has the files that are not remote.
    package init(
        archived entries: some Sequence<RingEntry>, policy: RetentionPolicy, targetDuration: Int, declared: [Rendition],
        hasEnded: Bool, version: UInt64, directory: String, remote: any RemoteFiles
    ) {
        var index = RingIndex(policy: policy, targetDuration: targetDuration, declared: declared)
        var first: UInt64?
        for var entry in entries {
            let start = first ?? entry.mediaSequence
            (first, entry.listedFrom, entry.subtitleBytes) = (start, start, 0)
            index.appendGaps(before: entry)
            index.replay(entry)
        }
        self.init(
            version: version, index: index, hasEnded: hasEnded, rewindDrops: 0, housekeepingError: nil,
            directory: directory, remote: remote)
    }
}

extension ArchiveIndex {
    /// An index of the ring's segments, without any of them.
    package init(like snapshot: RingSnapshot) {
        self.init(targetDuration: snapshot.index.targetDuration, declared: snapshot.index.declaredRenditions)
    }
}

extension RingIndex {
    /// The longest segment that may be published, in 90 kHz ticks. Its EXTINF rounds to TARGETDURATION at most
    /// (RFC 8216 §4.3.3.1).
    package var maximumSegmentDuration: Int64 {
        Int64(targetDuration) * PlaylistTicks.ticksPerSecond + PlaylistTicks.ticksPerSecond / 2 - 1
    }
}
