/// Whether viewers get the interstitials of HLS (draft-pantos-hls-rfc8216bis, appendix D) that the upstream lists.
package enum Interstitials: String, CaseIterable, Sendable {
    /// They are listed, with absolute URIs. Players that know them load the ads from the upstream's hosts.
    case keep
    /// They are dropped and counted: all players present the channel's own media.
    case drop
}
