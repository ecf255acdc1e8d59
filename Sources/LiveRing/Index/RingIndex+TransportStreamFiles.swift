// The files with media for transport streams: each stays as long as an entry that can be fetched needs it.

extension RingIndex {
    struct TransportStreamFileUse: Equatable, Sendable {
        let file: SpoolFile
        /// The number of entries, listed and retired, that need the file.
        var uses: Int
    }

    mutating func retainTransportStreamFiles(of entry: RingEntry) {
        for file in entry.transportStream?.files ?? [] {
            transportStreamFiles[file.name, default: TransportStreamFileUse(file: file, uses: 0)].uses += 1
        }
    }

    /// - Returns: the files that no other entry needs.
    mutating func releaseTransportStreamFiles(of entry: RingEntry) -> [SpoolFile] {
        (entry.transportStream?.files ?? []).compactMap { file in
            transportStreamFiles[file.name]?.uses -= 1
            guard transportStreamFiles[file.name]?.uses == 0 else { return nil }
            return transportStreamFiles.removeValue(forKey: file.name)?.file
        }
    }
}
