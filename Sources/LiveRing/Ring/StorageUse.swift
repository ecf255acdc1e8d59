/// The bytes of a channel on the disk, measured by the listed segments.
package struct StorageUse: Encodable, Equatable, Sendable {
    /// The least media from which a day's bytes are estimated, in 90 kHz ticks: a minute.
    private static let leastTicks = 60 * PlaylistTicks.ticksPerSecond
    private static let day = 86_400 * PlaylistTicks.ticksPerSecond

    /// The bytes of all segments and subtitles that can be fetched.
    package let bytes: UInt64
    /// nil before a minute of media was published.
    package private(set) var bytesPerDay: UInt64?
    /// The bytes of the spool when its oldest segments are evicted; nil without a limit, or before a minute of media.
    package private(set) var bytesWhenFull: UInt64?
    /// How many seconds of media the file system has room for; nil if it has room until the oldest segments are evicted.
    package private(set) var secondsUntilFull: Int64?

    init(_ index: RingIndex, space: FileSystemSpace?) {
        bytes = index.listedBytes + index.retiredBytes
        let ticks = index.listedTicks
        guard ticks >= Self.leastTicks else { return }
        func size(of duration: Int64) -> UInt64 {
            UInt64(min(Double(index.listedBytes) * (Double(duration) / Double(ticks)), Double(1 << 60 as UInt64)))
        }
        let perDay = size(of: Self.day)
        bytesPerDay = perDay
        let limit = index.policy.byteLimit
        let length = index.policy.listed.map { listed in
            size(of: PlaylistTicks.ticks(listed)) + size(of: PlaylistTicks.ticks(index.policy.rewind ?? listed))
        }
        bytesWhenFull = [length, limit].compactMap(\.self).min()
        guard let space, perDay > 0 else { return }
        let room = space.freeBytes - min(space.freeBytes, index.policy.reserve(of: space))
        guard bytesWhenFull.map({ $0 > self.bytes && $0 - self.bytes > room }) ?? true else { return }
        secondsUntilFull = Int64(min(Double(room) / Double(perDay) * 86_400, Double(1 << 60 as Int64)))
    }
}

extension RingSnapshot {
    /// The bytes of the ring on the disk. Each call asks the system for the free space.
    package var storage: StorageUse { StorageUse(index, space: fileSystemSpace) }

    /// Whether ranges reach back farther than `dvr.m3u8`.
    package var hasArchive: Bool { index.policy.hasArchive }
}
