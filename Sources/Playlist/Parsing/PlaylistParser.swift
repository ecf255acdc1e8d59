/// A playlist of either kind.
package enum PlaylistDocument: Equatable, Sendable {
    case media(MediaPlaylist)
    case multivariant(MultivariantPlaylist)
}

/// A parser for playlists of either kind.
package enum PlaylistParser {
    /// Finds out the kind of a playlist and parses it.
    ///
    /// The first tag that only one kind has decides (RFC 8216 §4.1). Tags of segments and of variants take precedence, because
    /// multivariant playlists with EXT-X-PLAYLIST-TYPE, EXT-X-TARGETDURATION and EXT-X-ENDLIST exist. Without any such tag the
    /// playlist is a media playlist.
    package static func parse(
        _ received: [UInt8], url: String = "", imported: [VariableDefinition] = [], limits: PlaylistLimits = .standard,
        mayBeTruncated: Bool = false
    ) throws(PlaylistError) -> PlaylistDocument {
        let bytes = utf8(received)
        if try isMultivariant(bytes) {
            return .multivariant(try MultivariantPlaylistParser.parse(bytes, url: url, limits: limits))
        }
        let playlist: MediaPlaylist
        do {
            playlist = try MediaPlaylistParser.parse(
                bytes, url: url, imported: imported, limits: limits, mayBeTruncated: mayBeTruncated)
        } catch {
            throw error.reason != .canceled && DocumentKind.isChannelList(bytes)
                ? PlaylistError(bytes, is: .channelList) : error
        }
        // HLS players wait for a segment to end, and channel lists write #EXTINF:0 or -1 for streams without an end.
        let isEndless = !playlist.segments.isEmpty && playlist.segments.allSatisfy { $0.duration == .zero }
        if isEndless, DocumentKind.isChannelList(bytes) { throw PlaylistError(bytes, is: .channelList) }
        return .media(playlist)
    }

    /// Returns UTF-16 with a byte order mark, as editors of Windows write it, as UTF-8, and other bytes as they are.
    private static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        let isBigEndian = bytes.starts(with: [0xFE, 0xFF])
        guard isBigEndian || bytes.starts(with: [0xFF, 0xFE]) else { return bytes }
        let (high, low) = isBigEndian ? (0, 1) : (1, 0)
        let units = (1..<max(1, bytes.count / 2)).map { index in
            UInt16(bytes[2 * index + high]) << 8 | UInt16(bytes[2 * index + low])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private static func isMultivariant(_ bytes: [UInt8]) throws(PlaylistError) -> Bool {
        var firstMinorTag: Bool?
        for line in try PlaylistLines(playlist: bytes) {
            try line.checkCancellation()
            guard case .tag(let tag, _) = line.content, tag.scope != .anyPlaylist else { continue }
            let isMultivariant = tag.scope == .multivariantPlaylist
            if tag.governsMedia, tag.scope != .mediaPlaylist { return isMultivariant }
            firstMinorTag = firstMinorTag ?? isMultivariant
        }
        return firstMinorTag ?? false
    }
}
