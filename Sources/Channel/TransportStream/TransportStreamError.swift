package import LiveRing
package import Media

/// The reason why a segment cannot be had as a transport stream.
package enum TransportStreamError: Error, Equatable, Sendable {
    /// The segment's files cannot be read.
    case spool(RingError)
    /// The files do not hold what was published.
    case unreadable(MediaError)
    /// The segment has no sample, or an earlier version published it.
    case noMedia
    /// Clients hold as many other segments as may be, or wait for them.
    case busy
}
