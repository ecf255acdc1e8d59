/// The limits of what the ring keeps.
package struct RetentionPolicy: Equatable, Sendable {
    /// The number of segments in a live playlist if the ring has as many (Apple HLS authoring specification §8.11).
    package static let minimumSegments = 6
    /// The number of EXT-X-TARGETDURATIONs that a playlist must keep after a removal (RFC 8216 §6.2.2).
    package static let minimumTargetDurations: Int64 = 3
    /// The number of EXT-X-TARGETDURATIONs before the end of a playlist that no delta update skips
    /// (draft-pantos-hls-rfc8216bis §4.4.3.8).
    static let skippableTargetDurations: Int64 = 6
    /// The number of entries that leave the playlist, and of files that are deleted, with one publish. After a restart,
    /// a shorter policy therefore takes effect over several publishes instead of in one long pause.
    package static let evictionsPerPublish = 8

    /// The duration of `dvr.m3u8`; nil means no limit.
    package var rewind: Duration?
    /// How far back ranges reach. nil, or a shorter duration than `rewind`: as far as `rewind`.
    package var archive: Duration?
    /// The bytes of segments and subtitles in the spool; nil means no limit.
    ///
    /// A part of it is reserved for segments that left every playlist, which can be fetched for as long as `dvr.m3u8`
    /// lasts (RFC 8216 §6.2.2): one half without an archive.
    package var byteLimit: UInt64?
    /// The duration of `live.m3u8`.
    package var liveWindow: Duration
    /// The most bytes of the file system that rewind and archive leave free. On a small file system, only a part of it.
    package var freeReserve: UInt64
    /// The number of segments for which space is made at once on a full disk, so that not every publish removes media.
    static let segmentsMadeRoomFor: UInt64 = 8

    package init(
        rewind: Duration?, archive: Duration? = nil, byteLimit: UInt64? = nil, liveWindow: Duration = .seconds(30),
        freeReserve: UInt64 = FileSystemSpace.largestReserve
    ) {
        self.rewind = rewind
        self.archive = archive
        self.byteLimit = byteLimit
        self.liveWindow = liveWindow
        self.freeReserve = freeReserve
    }

    /// The bytes that stay free of rewind and archive.
    func reserve(of space: FileSystemSpace) -> UInt64 { min(freeReserve, space.reserve) }

    /// Keeps an archive of a duration, of a number of bytes, or as much as both allow.
    package mutating func keepArchive(_ duration: Duration?, bytes: Int?) {
        archive = duration ?? (bytes == nil ? nil : .seconds(366 * 86_400))
        byteLimit = bytes.map { UInt64(clamping: $0) }
    }

    /// The duration of the listed media, in `dvr.m3u8` or in ranges; nil means no limit.
    package var listed: Duration? { rewind.map { max($0, archive ?? .zero) } }

    /// Whether ranges reach farther back than `dvr.m3u8`.
    var hasArchive: Bool { listed != rewind }

    /// Whether a playlist that begins at a fixed time loses no segment until it is `span` long.
    ///
    /// The answer depends only on the policy, not on what is stored, because a playlist may not change its type.
    func retains(span: Duration) -> Bool {
        byteLimit == nil && span <= listed ?? span
    }
}
