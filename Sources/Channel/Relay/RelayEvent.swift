package import Tracker

/// An event of a channel that an operator may want to know of.
package struct RelayEvent: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case upstream(UpstreamEvent)
        case pipeline(ChannelPipeline.Event)
        /// The channel continues what an earlier process left in the directory `spool`.
        case resumed(spool: String)
        /// The upstream has ended, and all of it is published.
        case drained
    }

    package let kind: Kind
    /// Whether the channel is in an outage, whose single failures are no news.
    package let isDuringOutage: Bool
}
