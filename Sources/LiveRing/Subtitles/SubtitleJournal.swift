import Playlist

/// The memory of one subtitle rendition, in the form of the ring's own (`Journal`): an HLS media playlist of type EVENT
/// that lists the subtitles of each segment.
struct SubtitleJournal {
    private static let renditionTag = "#LIVERELAY-RENDITION:"
    private static let entryTag = "#LIVERELAY-SUBTITLES:"
    private static let byteCount = "BYTES"

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
        // The last line of the head: without it there is no head.
        playlist.unknownTags = [Self.renditionTag + track.rendition.attributes.text]
        // Durations have decimals (RFC 8216 §7).
        return segments.isEmpty ? PlaylistWriter.head(of: playlist, version: 3) : PlaylistWriter.write(playlist)
    }

    /// The lines that the subtitles of `segment` add.
    func record(_ segment: RingEntry) -> String {
        track.mediaSegment(for: segment).map {
            // Dates and marks are of the segment; whatever stood before, the record is whole by itself.
            PlaylistWriter.entryLines(for: tagged($0), previous: $0)
        } ?? ""
    }

    private func tagged(_ segment: MediaSegment) -> MediaSegment {
        var segment = segment
        let bytes = track.entry(for: segment.mediaSequence)?.file.byteCount ?? 0
        // What marks the segments is the ring's journal's to remember.
        segment.unknownTags = []
        segment.dateRanges = []
        segment.unknownTags.append("\(Self.entryTag)\(Self.byteCount)=\(bytes)")
        return segment
    }

    /// Reads a journal of which the last record may be torn.
    /// - Parameters:
    ///   - number: of the rendition, from the journal's name.
    ///   - files: sizes of the spool's files by name.
    /// - Returns: nil when nothing of it had been written.
    static func read(
        _ bytes: [UInt8], number: Int, path: String, files: [String: Int]
    ) throws(RingError) -> SubtitleRendition? {
        guard let playlist = try RingJournal.parseCompleteLines(bytes, path: path) else { return nil }
        let lines = playlist.unknownTags + (playlist.segments.first?.unknownTags ?? [])
        guard let head = lines.first(where: { $0.hasPrefix(renditionTag) }) else { return nil }
        let attributes: AttributeList
        do throws(PlaylistError) {
            attributes = try AttributeList(parsing: head.dropFirst(renditionTag.count), line: 0, tag: renditionTag)
        } catch { throw .unreadableJournal(path: path, error) }
        var upstream = Rendition(type: .subtitles, groupID: SubtitleRendition.groupID, name: "")
        upstream.attributes = attributes
        var track = SubtitleRendition(number: number, upstream: upstream)
        for segment in playlist.segments {
            guard let line = segment.unknownTags.last(where: { $0.hasPrefix(entryTag) }),
                let size = Int(line.dropFirst(entryTag.count + byteCount.count + 1)),
                SpoolName.subtitles(named: segment.uri)?.rendition == number
            else { throw .damagedJournalEntry(uri: segment.uri, attribute: entryTag) }
            let isGap = segment.isGap || files[segment.uri] != size
            let file = SpoolFile(name: segment.uri, byteCount: size)
            track.append(SubtitleRendition.SubtitleEntry(file: file, isGap: isGap), for: segment.mediaSequence)
        }
        return track
    }
}
