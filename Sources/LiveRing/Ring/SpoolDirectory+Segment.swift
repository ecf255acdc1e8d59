// Step 1 of a publish.

extension SpoolDirectory {
    /// Writes the missing files of a segment. Each file is written under another name and renamed when it is complete.
    func write(_ segment: NewSegment, as entry: RingEntry, in index: RingIndex) throws(RingError) {
        if index.initializations[entry.initialization.name] == nil {
            try write(entry.initialization.name, [segment.initialization.bytes[...]])
        }
        for file in index.newFiles(of: segment) { try write(file.name, [file.bytes[...]]) }
        for (track, file) in zip(segment.tracks, entry.trackFiles) {
            if let track, let file { try write(track, as: file, of: entry.mediaSequence, in: index) }
        }
        try write(media: entry.segment.name, of: entry.mediaSequence, [segment.header[...]] + segment.payload)
    }

    func write(
        _ track: NewTrack, as file: TrackFile, of mediaSequence: UInt64, in index: RingIndex
    ) throws(RingError) {
        if index.initializations[file.initialization.name] == nil {
            try write(file.initialization.name, [track.initialization.bytes[...]])
        }
        try write(media: file.segment.name, of: mediaSequence, [track.header[...]] + track.payload)
    }
}

extension RingIndex {
    /// The transport stream's files of a segment that no earlier segment needs.
    func newFiles(of segment: NewSegment) -> [SidecarFile] {
        segment.sidecars.filter { sidecars[$0.file] == nil }
    }
}
