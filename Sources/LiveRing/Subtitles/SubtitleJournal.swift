import Playlist

/// The journal of one subtitle rendition: an HLS media playlist of type EVENT with the subtitles of each segment.
///
/// It has the form of `RingJournal`.
struct SubtitleJournal {
    private static let renditionTag = "#LIVERELAY-RENDITION:"
    private static let entryTag = "#LIVERELAY-SUBTITLES:"
    private static let byteCount = "BYTES"
    /// The attribute of the rendition that no playlist has.
    private static let source = "SOURCE"

    let track: SubtitleRendition

    /// The whole text, for a new file.
    func text(_ index: RingIndex) -> String {
        let segments = index.entries.compactMap { segment in track.mediaSegment(for: segment).map { tagged($0) } }
        var playlist = MediaPlaylist(
            targetDuration: .seconds(index.targetDuration),
            mediaSequence: segments.first?.mediaSequence ?? track.nextMediaSequence ?? index.nextMediaSequence,
            segments: segments)
        playlist.discontinuitySequence =
            segments.first.map { $0.discontinuitySequence - ($0.isDiscontinuous ? 1 : 0) }
            ?? index.discontinuitySequence
        playlist.playlistType = .event
        // The last line of the head. A text without it has no complete head.
        var attributes = track.rendition.attributes
        attributes.set(Self.source, to: track.source, isQuoted: true)
        playlist.unknownTags = [Self.renditionTag + attributes.text]
        // Version 3, because durations have decimals (RFC 8216 §7).
        return segments.isEmpty ? PlaylistWriter.head(of: playlist, version: 3) : PlaylistWriter.write(playlist)
    }

    /// The lines of the subtitles of `segment`. They do not depend on the lines before them.
    func record(_ segment: RingEntry) -> String {
        track.mediaSegment(for: segment).map { PlaylistWriter.entryLines(for: tagged($0), previous: $0) } ?? ""
    }

    private func tagged(_ segment: MediaSegment) -> MediaSegment {
        var segment = segment
        let bytes = track.entry(for: segment.mediaSequence)?.file.byteCount ?? 0
        // The journal of the ring holds the ad markers.
        segment.unknownTags = ["\(Self.entryTag)\(Self.byteCount)=\(bytes)"]
        segment.dateRanges = []
        return segment
    }

    /// Reads a journal whose last record may be incomplete.
    /// - Parameters:
    ///   - number: the number of the rendition in the name of the journal.
    ///   - files: the ring's files.
    /// - Returns: nil if the head is incomplete.
    static func read(
        _ bytes: [UInt8], number: Int, path: String, files: SpoolFiles
    ) throws(RingError) -> SubtitleRendition? {
        guard let playlist = try RingJournal.parseCompleteLines(bytes, path: path) else { return nil }
        let lines = playlist.unknownTags + (playlist.segments.first?.unknownTags ?? [])
        guard let head = lines.first(where: { $0.hasPrefix(renditionTag) }) else { return nil }
        var upstream = Rendition(type: .subtitles, groupID: SubtitleRendition.groupID, name: "")
        do throws(PlaylistError) {
            upstream.attributes = try AttributeList(
                parsing: head.dropFirst(renditionTag.count), line: 0, tag: renditionTag)
        } catch { throw .unreadableJournal(path: path, error) }
        var track = SubtitleRendition(number: number, publishing: upstream, source: upstream.attributes[source])
        for segment in playlist.segments {
            let entry = try entry(of: segment, number: number) { files.isWhole($0) }
            track.append(entry, for: segment.mediaSequence)
        }
        return track
    }

    /// The size of the head and the complete records at the beginning of `bytes`, or of the records alone.
    static func completeByteCount(_ bytes: [UInt8]) -> Int {
        // A record ends with its URI line.
        var (start, end) = (0, 0)
        while let lineEnd = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if bytes[start] != UInt8(ascii: "#"), lineEnd > start { end = lineEnd + 1 }
            start = lineEnd + 1
        }
        return end
    }

    /// Adds complete records that were appended to the journal of a rendition, whose files are there.
    static func append(_ records: [UInt8], to track: inout SubtitleRendition, path: String) throws(RingError) {
        guard let playlist = try RingJournal.parseCompleteLines(RingJournal.anyHead + records, path: path) else {
            return
        }
        for segment in playlist.segments {
            let entry = try entry(of: segment, number: track.number) { _ in true }
            guard let number = SpoolName.subtitles(named: segment.uri)?.mediaSequence,
                number == track.nextMediaSequence ?? number
            else { throw .damagedJournalEntry(uri: segment.uri, attribute: entryTag) }
            track.append(entry, for: number)
        }
    }

    private static func entry(
        of segment: MediaSegment, number: Int, isWhole: (SpoolFile) -> Bool
    ) throws(RingError) -> SubtitleRendition.SubtitleEntry {
        guard let line = segment.unknownTags.last(where: { $0.hasPrefix(entryTag) }),
            let size = Int(line.dropFirst(entryTag.count + byteCount.count + 1)), RingRanges.sizes.contains(size),
            SpoolName.subtitles(named: segment.uri)?.rendition == number
        else { throw .damagedJournalEntry(uri: segment.uri, attribute: entryTag) }
        let file = SpoolFile(name: segment.uri, byteCount: size)
        return SubtitleRendition.SubtitleEntry(file: file, isGap: segment.isGap || !isWhole(file))
    }
}
