/// How much the ring keeps.
package struct RetentionPolicy: Equatable, Sendable {
    /// A live playlist has this many segments when the ring has them (Apple HLS authoring specification §8.11).
    package static let minimumSegments = 6
    /// EXT-X-TARGETDURATIONs that a playlist holds after a removal (RFC 8216 §6.2.2).
    package static let minimumTargetDurations: Int64 = 3
    /// Entries that leave the list, and files that are deleted, with one publish. A shorter policy after a restart
    /// takes effect over several publishes instead of in one long stop.
    package static let evictionsPerPublish = 8

    /// Rewind to keep; nil: no limit in time.
    package var rewind: Duration?
    /// Bytes of segments and their subtitles in the spool; nil: no limit. Half of it is for what is listed: what has left the list
    /// stays fetchable for as long again (RFC 8216 §6.2.2) and takes the other half.
    package var byteLimit: UInt64?
    /// Length of `live.m3u8`.
    package var liveWindow: Duration
    /// Bytes of the file system that are never used.
    package var freeReserve: UInt64

    package init(
        rewind: Duration?, byteLimit: UInt64? = nil, liveWindow: Duration = .seconds(30), freeReserve: UInt64 = 1 << 30
    ) {
        self.rewind = rewind
        self.byteLimit = byteLimit
        self.liveWindow = liveWindow
        self.freeReserve = freeReserve
    }

    /// Whether a list that begins at a fixed moment loses nothing until it spans `span`.
    ///
    /// It depends on the policy alone, never on what is stored: a playlist may not change its type.
    func retains(span: Duration) -> Bool {
        byteLimit == nil && span <= rewind ?? span
    }
}
