// Look-up of entries and files by number and by name.

extension RingIndex {
    /// The file of the segment called `name` if it is listed or can still be fetched (RFC 8216 §6.2.2).
    package func segmentFile(named name: String) -> SpoolFile? {
        guard let number = SpoolName.mediaSequence(ofSegment: name), let entry = entry(numbered: number) else {
            return nil
        }
        return entry.segment.name == name && !entry.isGap ? entry.segment : nil
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

    /// All entries, retired and listed, oldest first.
    var entries: [RingEntry] { retired.map(\.entry) + listed }

    var entryCount: Int { retired.count + listed.count }

    /// The media sequence number of the oldest entry that can be fetched, or of the next entry.
    var oldestMediaSequence: UInt64 { retired.first?.entry.mediaSequence ?? firstMediaSequence }

    /// The newest entry that can be fetched.
    var newest: RingEntry? { listed.last ?? retired.last?.entry }

    /// The names of all files that have to be in the spool.
    var files: Set<String> {
        Set(entries.lazy.filter { !$0.isGap }.map(\.segment.name)).union(initializations.keys)
            .union(stills.keys.map(\.name))
    }

    /// The entry with a media sequence number, if it is listed or can still be fetched.
    package func entry(numbered number: UInt64) -> RingEntry? {
        if let index = listedIndex(ofNumber: number) { return listed[index] }
        return retiredIndex(ofNumber: number).map { retired[$0].entry }
    }

    func listedIndex(ofNumber number: UInt64) -> Int? { listed.firstIndex(ofNumber: number, by: \.mediaSequence) }

    func retiredIndex(ofNumber number: UInt64) -> Int? {
        retired.firstIndex(ofNumber: number, by: \.entry.mediaSequence)
    }
}

extension PersistentVector {
    /// The index of the element with `number`, if the elements have consecutive numbers.
    fileprivate func firstIndex(ofNumber number: UInt64, by numbering: (Element) -> UInt64) -> Int? {
        guard let first = first.map(numbering), number >= first, number - first < count else { return nil }
        return startIndex + Int(number - first)
    }
}
