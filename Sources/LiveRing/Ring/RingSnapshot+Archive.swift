package import Playlist

extension RingSnapshot {
    /// The segments of an archive, and files that are elsewhere.
    /// - Parameters:
    ///   - entries: in order. Missing numbers become gaps.
    ///   - directory: has the files that are not remote.
    package init(
        archived entries: some Sequence<RingEntry>, policy: RetentionPolicy, targetDuration: Int, declared: [Rendition],
        hasEnded: Bool, version: UInt64, directory: String, remote: any RemoteFiles
    ) {
        var index = RingIndex(policy: policy, targetDuration: targetDuration, declared: declared)
        var first: UInt64?
        for var entry in entries {
            // Numbers that jump are damaged, or beyond what was asked for.
            guard first == nil || entry.mediaSequence <= index.nextMediaSequence + RingJournal.maximumUnrecorded
            else { continue }
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
