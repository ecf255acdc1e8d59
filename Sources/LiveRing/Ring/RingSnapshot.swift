import Playlist

/// One published state of the ring: everything a viewer can be told, without waiting for the ring.
package struct RingSnapshot: Sendable {
    /// Rises with every change; an answer made from a snapshot may be kept as long as this stays.
    package let version: UInt64
    package let index: RingIndex
    /// EXT-X-ENDLIST stands at the end of every list.
    package let hasEnded: Bool
    /// `live.m3u8`, UTF-8; nil before the first segment. (A player gives up on an empty list: keep it waiting.)
    package let livePlaylist: [UInt8]?
    /// How often a full disk has cost the rewind since the ring was opened.
    package let rewindDrops: Int
    /// How often the spool's directory was gone, or another one, and had to be taken anew.
    package let spoolReplacements: Int
    /// What went wrong last while clearing up behind a publish; the segment itself was published.
    package let housekeepingError: RingError?
    /// In the order in which the ring was opened with them.
    package let subtitles: [SubtitleRendition]
    private let directory: String

    init(
        version: UInt64, index: RingIndex, hasEnded: Bool, rewindDrops: Int, spoolReplacements: Int = 0,
        housekeepingError: RingError?,
        subtitles: [SubtitleRendition] = [], directory: String
    ) {
        self.subtitles = subtitles
        self.version = version
        self.index = index
        self.hasEnded = hasEnded
        self.rewindDrops = rewindDrops
        self.spoolReplacements = spoolReplacements
        self.housekeepingError = housekeepingError
        self.directory = directory
        livePlaylist = PublishedPlaylist(index: index, hasEnded: hasEnded).live.map(Self.bytes)
    }

    /// The newest entry; nil before the first.
    package var edge: RingEntry? { index.listed.last }

    /// The list is long enough for a player to start on without running dry (Apple HLS authoring specification §8.11),
    /// or it will not become longer.
    package var isFilled: Bool {
        hasEnded || index.listedTicks >= PlaylistWindow.shortest(targetDuration: index.targetDuration).ticks
    }

    /// `dvr.m3u8`, UTF-8; nil when nothing of the range is in the ring. Rendered here and now.
    package func dvrPlaylist(_ range: RewindRange) -> [UInt8]? {
        PublishedPlaylist(index: index, hasEnded: hasEnded).rewind(range).map(Self.bytes)
    }

    /// nil before the first segment.
    package var variantAttributes: VariantAttributes? {
        VariantAttributes(entries: index.listed, targetDuration: index.targetDuration)
    }

    /// `master.m3u8`, UTF-8; nil before the first segment.
    package func masterPlaylist() -> [UInt8]? { master(uri: "live.m3u8") { $0 } }

    /// `dvr-master.m3u8`: the range with its subtitles; nil before the first segment.
    package func dvrMasterPlaylist(_ range: RewindRange) -> [UInt8]? {
        let query = range.query.isEmpty ? "" : "?\(range.query)"
        return master(uri: "dvr.m3u8\(query)") { "dvr-\($0)\(query)" }
    }

    /// - Parameter subtitleURI: of a rendition whose live list has the address given.
    private func master(uri: String, subtitleURI: (String) -> String) -> [UInt8]? {
        let renditions = subtitles.map { track in
            var rendition = track.rendition
            rendition.uri = rendition.uri.map(subtitleURI)
            return rendition
        }
        return variantAttributes.map {
            Array(PlaylistWriter.write($0.masterPlaylist(uri: uri, subtitles: renditions)).utf8)
        }
    }

    /// `subs-<number>.m3u8`, UTF-8: what `live.m3u8` lists, as far as its subtitles have come; nil before the first of
    /// them, or when there is no such rendition.
    package func subtitlePlaylist(_ number: Int) -> [UInt8]? { publishedSubtitles(number)?.live.map(Self.bytes) }

    /// `dvr-subs-<number>.m3u8`, UTF-8.
    package func subtitlePlaylist(_ number: Int, _ range: RewindRange) -> [UInt8]? {
        publishedSubtitles(number)?.rewind(range).map(Self.bytes)
    }

    private func publishedSubtitles(_ number: Int) -> PublishedPlaylist? {
        subtitles.first { $0.number == number }.map {
            PublishedPlaylist(index: index, hasEnded: hasEnded, subtitles: $0)
        }
    }

    /// The subtitles of that name, if they can be fetched.
    package func subtitleFile(named name: String) -> SpoolFile? {
        for track in subtitles {
            if let file = track.file(named: name) { return file }
        }
        return nil
    }

    /// The files of the range in playing order, each init section before its segments. One file can be made of them
    /// when there is one init section. Empty when nothing of the range is in the ring.
    package func clip(_ range: RewindRange) -> [SpoolFile] {
        guard case .between(let start, let end) = range else { return [] }
        let shown = PublishedPlaylist(index: index, hasEnded: hasEnded).indices(from: start, to: end)
        var files: [SpoolFile] = []
        var initialization: SpoolFile?
        for entry in index.listed[shown] where !entry.isGap {
            if entry.initialization != initialization { files.append(entry.initialization) }
            initialization = entry.initialization
            files.append(entry.segment)
        }
        return files
    }

    /// Absolute when the ring's directory is.
    package func path(of file: SpoolFile) -> String { "\(directory)/\(file.name)" }

    private static func bytes(_ playlist: MediaPlaylist) -> [UInt8] { Array(PlaylistWriter.write(playlist).utf8) }
}
