/// Entries and files by number and by name.
extension RingIndex {
    /// The file of the segment called `name` if it is listed or can still be fetched (RFC 8216 §6.2.2).
    package func segmentFile(named name: String) -> SpoolFile? {
        guard let number = SpoolName.mediaSequence(ofSegment: name), let entry = entry(numbered: number) else {
            return nil
        }
        return entry.segment.name == name && !entry.isGap ? entry.segment : nil
    }

    /// The file of a track beside the leading one called `name` if its segment is listed or can still be fetched.
    package func trackFile(named name: String) -> SpoolFile? {
        guard let (_, _, number) = SpoolName.trackFile(named: name) else { return nil }
        return entry(numbered: number)?.playableTracks.first { $0.segment.name == name }?.segment
    }

    /// The entry whose segment is called `name` as a transport stream, if it is listed or can still be fetched.
    package func entry(ofTransportStream name: String) -> RingEntry? {
        guard let segment = SpoolName.segment(ofTransportStream: name),
            let number = SpoolName.mediaSequence(ofSegment: segment), let entry = entry(numbered: number)
        else { return nil }
        return entry.segment.name == segment && !entry.isGap && entry.transportStream != nil ? entry : nil
    }

    /// The file of the init section called `name` if a segment that can be fetched uses it.
    package func initializationFile(named name: String) -> SpoolFile? { initializations[name]?.file }

    /// Whether the segment or init section called `name` has audio and no video.
    package func isAudioOnly(_ name: String) -> Bool {
        if let initialization = initializations[name] { return initialization.isAudioOnly }
        guard let number = SpoolName.mediaSequence(ofSegment: name) else { return false }
        return entry(numbered: number)?.format.isAudioOnly ?? false
    }

    /// The media sequence number of the oldest entry that can be fetched, or of the next entry.
    var oldestMediaSequence: UInt64 { entries.isEmpty ? nextMediaSequence : number(at: entries.startIndex) }

    /// The newest entry that can be fetched.
    var newest: RingEntry? { entries.last }

    /// The names of the files, besides those of one segment, that have to be in the spool.
    var sharedFiles: Set<String> { Set(initializations.keys).union(sidecars.keys.map(\.name)) }

    /// The entry with a media sequence number, if it is listed or can still be fetched.
    package func entry(numbered number: UInt64) -> RingEntry? {
        index(ofNumber: number).map { entries[$0] }
    }

    /// The listed entries from a media sequence number on.
    package func listed(from number: UInt64) -> RingEntries {
        guard number > firstMediaSequence else { return listed }
        return entries[(index(ofNumber: number) ?? entries.endIndex)...]
    }

    func index(ofNumber number: UInt64) -> Int? {
        let first = oldestMediaSequence
        guard number >= first, number < nextMediaSequence else { return nil }
        return entries.startIndex + Int(number - first)
    }
}
