/// How a playlist that changes is given to players that load it again (draft-pantos-hls-rfc8216bis §6.2.5).
package enum PlaylistForm: Hashable, Sendable {
    /// Without EXT-X-SERVER-CONTROL: as a file, or one that no player waits for.
    case unannounced
    /// Whole, with EXT-X-SERVER-CONTROL.
    case whole
    /// Without the segments that a player has that loaded it lately, if there are any (EXT-X-SKIP).
    case delta
}
