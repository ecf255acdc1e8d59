/// The only writer of playlists.
///
/// It writes UTF-8 without control characters, each tag once and in the order that players expect, and EXT-X-VERSION as
/// high as the content needs.
package enum PlaylistWriter {
    /// The number of decimals to which EXTINF is rounded. Sums of rounded durations stay within a frame.
    static let durationDecimals = 5

    /// Writes a media playlist.
    ///
    /// Parsing the text gives `playlist` again if durations have at most `durationDecimals` decimals and a segment is
    /// listed. Without a segment nothing separates the head from the lines of the next segment.
    package static func write(_ playlist: MediaPlaylist) -> String {
        var text = PlaylistTextBuilder()
        text.text.reserveCapacity(512 + playlist.segments.count * 160)
        text.appendHead(of: playlist, version: version(neededBy: playlist))
        var previous: MediaSegment?
        for segment in playlist.segments {
            text.appendSegment(segment, after: previous)
            previous = segment
        }
        text.appendTail(of: playlist)
        return text.text
    }

    /// Writes the lines before the first segment.
    /// - Parameter version: EXT-X-VERSION. The head of a growing playlist cannot know what later entries need.
    package static func head(of playlist: MediaPlaylist, version: Int) -> String {
        var text = PlaylistTextBuilder()
        text.appendHead(of: playlist, version: version)
        return text.text
    }

    /// Writes the lines of one segment, each with its line end.
    ///
    /// EXT-X-KEY, EXT-X-MAP and EXT-X-BITRATE are written only if they differ from `previous`, the segment before.
    package static func entryLines(for segment: MediaSegment, previous: MediaSegment?) -> String {
        var text = PlaylistTextBuilder()
        text.appendSegment(segment, after: previous)
        return text.text
    }

    package static func write(_ playlist: MultivariantPlaylist) -> String {
        var text = PlaylistTextBuilder()
        text.appendMultivariant(playlist, version: version(neededBy: playlist))
        return text.text
    }
}

// EXT-X-VERSION (RFC 8216 §7, draft §8): the lowest version that allows the content of the playlist.
extension PlaylistWriter {
    package static func version(neededBy playlist: MediaPlaylist) -> Int {
        var version = playlist.segments.isEmpty ? 1 : 3  // decimal EXTINF
        if playlist.isIFramesOnly { version = max(version, 4) }
        if !playlist.variables.isEmpty { version = max(version, 8) }
        if playlist.skippedSegments > 0 { version = max(version, 9) }
        if !playlist.recentlyRemovedDateRanges.isEmpty { version = max(version, 10) }
        for segment in playlist.segments {
            if segment.byteRange != nil { version = max(version, 4) }
            if segment.map != nil { version = max(version, playlist.isIFramesOnly ? 5 : 6) }
            if needsKeyFormat(segment.keys + (segment.map?.keys ?? [])) { version = max(version, 5) }
        }
        return version
    }

    package static func version(neededBy playlist: MultivariantPlaylist) -> Int {
        if !playlist.variables.isEmpty { return 8 }
        let hasServiceCaptions = playlist.renditions.contains {
            $0.attributes["INSTREAM-ID"]?.hasPrefix("SERVICE") == true
        }
        return hasServiceCaptions ? 7 : 1
    }

    private static func needsKeyFormat(_ keys: [SegmentKey]) -> Bool {
        keys.contains { $0.keyFormat != SegmentKey.identityFormat || $0.keyFormatVersions != nil }
    }
}
