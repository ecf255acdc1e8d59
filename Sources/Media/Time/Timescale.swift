/// Units per second of a clock in a file, 1 ... 2³² − 1: `mdhd`, `mvhd` and `emsg` (ISO/IEC 14496-12 §8.4.2).
package struct Timescale: Hashable, Sendable {
    package static let range: ClosedRange<UInt32> = 1 ... .max

    package let unitsPerSecond: UInt32

    /// - Returns: nil for 0.
    package init?(_ unitsPerSecond: UInt32) {
        guard Self.range.contains(unitsPerSecond) else { return nil }
        self.unitsPerSecond = unitsPerSecond
    }
}

extension Timescale: CustomStringConvertible {
    package var description: String { "\(unitsPerSecond)" }
}

/// Units per second of each track, constant for the life of a channel.
///
/// An HLS demuxer built on libav reads all periods with the first init section. A timescale that followed the period's
/// audio rate would make it jump at each rotation.
package enum TrackTimescale {
    package static let video: Int64 = 90_000
    /// Every AAC sampling rate (ISO/IEC 14496-3 Table 1.18) except 64 kHz divides this value, so the time of a frame is
    /// an integer at any rate: 294 units per sample at 48 kHz, 320 at 44.1 kHz.
    package static let audio: Int64 = 14_112_000
    /// The timescale of `mvhd`, where every duration is 0.
    package static let movie: Int64 = 1_000
}

/// Track identifiers, constant for the life of a channel for the same reason.
package enum TrackID {
    package static let video: UInt32 = 1
    package static let audio: UInt32 = 2
}
