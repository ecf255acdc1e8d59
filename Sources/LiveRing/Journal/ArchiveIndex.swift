package import Playlist

/// The index of a part of an archive outside the spool: a journal of its segments, and the objects that contain their
/// files.
///
/// Its text has the form of a `RingJournal`, with a comment line for each object in its head.
package struct ArchiveIndex: Equatable, Sendable {
    /// Files one after the other under one name.
    package struct Object: Equatable, Sendable {
        package let name: String
        package let files: [SpoolFile]

        package init(name: String, files: [SpoolFile]) { (self.name, self.files) = (name, files) }

        package var byteCount: Int { files.reduce(0) { $0 + $1.byteCount } }
    }

    package struct Place: Equatable, Sendable {
        /// The index of the object that contains the file.
        package let object: Int
        /// Offset of the file's first byte in the object.
        package let start: Int
    }

    private static let objectTag = "#LIVERELAY-OBJECT:"

    package private(set) var entries = RingEntries()
    package private(set) var objects: [Object] = []
    /// Seconds.
    package private(set) var targetDuration: Int
    package private(set) var declared: [Rendition]
    /// The approximate size of the records in the text, in bytes.
    package private(set) var recordBytes = 0

    /// An index without segments.
    package init(targetDuration: Int, declared: [Rendition]) {
        (self.targetDuration, self.declared) = (targetDuration, declared)
    }

    /// Adds the entry of a segment. If its files are lost, it becomes a gap.
    package mutating func append(_ entry: RingEntry, isLost: Bool) {
        var entry = entry
        if isLost { entry.isGap = true }
        recordBytes += RingJournal.record(entry).utf8.count
        entries.append(entry)
    }

    package mutating func append(_ object: Object) { objects.append(object) }

    /// The text of the index in UTF-8.
    package var text: [UInt8] {
        let journal = RingJournal(
            targetDuration: targetDuration, mediaSequence: entries.first?.mediaSequence ?? 0,
            discontinuitySequence: entries.first.map { $0.discontinuitySequence - ($0.isDiscontinuous ? 1 : 0) } ?? 0,
            openDateRanges: [], declared: declared, entries: entries, hasEnded: false,
            declaresIndependentSegments: entries.allSatisfy(\.isIndependent))
        let lines = objects.map { object in
            let files = object.files.map { "\($0.name):\($0.byteCount)" }
            return "\(Self.objectTag)\(([object.name] + files).joined(separator: " "))\n"
        }
        let head = "#EXTM3U\n"
        return Array((head + lines.joined() + journal.text.dropFirst(head.count)).utf8)
    }

    /// Reads the text of an index. Damaged records are left out.
    /// - Parameter name: the name of the index, for errors.
    package init(_ text: [UInt8], name: String) throws(RingError) {
        guard let journal = try RingJournal.read(text, path: name) else {
            throw .unknownJournalFormat(path: name, found: nil)
        }
        (entries, targetDuration, declared) = (journal.entries, journal.targetDuration, journal.declared)
        recordBytes = entries.reduce(0) { $0 + RingJournal.record($1).utf8.count }
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: Self.objectTag.utf8) {
            let words = String(decoding: line.dropFirst(Self.objectTag.utf8.count), as: UTF8.self).split(separator: " ")
            let files = words.dropFirst().compactMap(Self.file)
            guard let object = words.first, SpoolName.isArchiveObject(object), files.count == words.count - 1 else {
                throw .damagedJournalEntry(uri: name, attribute: Self.objectTag)
            }
            objects.append(Object(name: String(object), files: files))
        }
    }

    private static func file(_ word: Substring) -> SpoolFile? {
        let parts = word.split(separator: ":")
        guard parts.count == 2, SpoolName.isRingFile(String(parts[0])), let size = Int64(parts[1]),
            RingRanges.sizes.contains(size)
        else { return nil }
        return SpoolFile(name: String(parts[0]), byteCount: Int(size))
    }

    /// The places of all files, by file name.
    package var places: [String: Place] {
        var places: [String: Place] = [:]
        for (index, object) in objects.enumerated() {
            var start = 0
            for file in object.files {
                places[file.name] = Place(object: index, start: start)
                start += file.byteCount
            }
        }
        return places
    }
}

extension RingEntry {
    /// The files of the segment alone.
    package var ownFiles: [SpoolFile] { isGap ? [] : [segment] + playableTracks.map(\.segment) }

    /// The files that other segments may use too.
    package var sharedFiles: [SpoolFile] {
        isGap ? [] : initializations.map(\.file) + (transportStream?.sidecars ?? [])
    }
}

extension RingIndex {
    /// The closed captions of the channel, and the names of its audio.
    package var declaredRenditions: [Rendition] { declared.all }
}
