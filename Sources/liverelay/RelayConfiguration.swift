import LiveRing
import Playlist
import Tracker

/// One channel as an operator wants it.
struct RelayConfiguration: Sendable {
    var upstream: String
    var variant = VariantChoice.highest
    /// Silence after which the channel is given up; nil: never.
    var giveUp: Duration? = .seconds(60)
    /// Directory of the ring; its parent exists.
    var spool: String
    var retention: RetentionPolicy
    var requests = CurlConfiguration()

    var policy: UpstreamSession.Policy { UpstreamSession.Policy(variant: variant, giveUp: giveUp) }
}
