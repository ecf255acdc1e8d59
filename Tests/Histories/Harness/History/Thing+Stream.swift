// MARK: - Endless streams

extension Thing {
    /// Whether it happens to the connections of an endless stream, or says that the upstream is one.
    var isOfStream: Bool {
        switch self {
        case .rawStream, .shortConnections, .cutStream, .refusedStream, .stalledStream: true
        default: false
        }
    }

    /// Whether it happens to playlists, to what they list, or to renditions beside them.
    var needsPlaylist: Bool {
        switch self {
        case .undated, .shortWindow, .strictRemoval, .signedURLs, .encrypted, .byteRanges, .plainMaster, .cueTags,
            .backup, .companionAudio, .secondLanguage, .laggingLanguage, .languageComes, .languageEnds,
            .lostLanguageSegment, .lostCompanionSegment, .lostSubtitleSegment, .fragmented, .redirects, .prefixed,
            .variants, .subtitles, .lateTaggedBreak, .falseTag, .renumbered, .renamed, .endedAndRestarted,
            .stalePlaylist, .laggingPlaylist, .refusedPlaylist, .pagePlaylist, .cutPlaylist, .slowPlaylist,
            .tokenExpired, .keyRefused, .excessLines, .ended:
            true
        default: isOfSegment
        }
    }
}
