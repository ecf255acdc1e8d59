/// Units a second of each track, constant for the life of a channel: an HLS demuxer built on libav reads all runs with
/// the first init section, so a timescale that followed the run's audio rate would make it jump at each rotation.
package enum TrackTimescale {
    package static let video: Int64 = 90_000
    /// Every AAC sampling rate (ISO/IEC 14496-3 Table 1.18) but 64 kHz divides it, so the time of a frame is a whole
    /// number whatever the run's rate: 294 units a sample at 48 kHz, 320 at 44.1 kHz.
    package static let audio: Int64 = 14_112_000
    /// Of `mvhd`, where every duration is 0.
    package static let movie: Int64 = 1_000
}

/// Track ids, constant for the life of a channel for the same reason.
package enum TrackID {
    package static let video: UInt32 = 1
    package static let audio: UInt32 = 2
}
