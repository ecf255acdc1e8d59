import Support

/// A kind of number in playlists, with the range of accepted values.
///
/// The ranges are so wide that no channel comes near them, and so narrow that sums of accepted numbers cannot overflow:
/// neither over all segments of a playlist nor over the life of a channel.
package enum PlaylistNumber: Sendable {
    /// EXT-X-MEDIA-SEQUENCE and EXT-X-DISCONTINUITY-SEQUENCE. A playlist counts up from them by less than 2³²,
    /// including the segments that a delta update skips.
    case sequenceNumber
    /// EXT-X-SKIP:SKIPPED-SEGMENTS.
    case skippedSegments
    /// The start of a byte range, its length, and its end (exclusive).
    case bytePosition
    /// Seconds, without their fraction: EXTINF, every DURATION and offset. 317 years.
    case seconds
    /// EXT-X-TARGETDURATION in whole seconds: 10 hours. A longer one counts as the longest.
    case targetDuration
    /// BANDWIDTH and AVERAGE-BANDWIDTH in bits per second.
    case bitRate
    /// The width and the height of RESOLUTION.
    case pixels

    package var range: ClosedRange<UInt64> {
        switch self {
        case .sequenceNumber: 0...UInt64.max - UInt64(UInt32.max)
        case .skippedSegments: 0...UInt64(Int32.max)
        case .bytePosition: 0...UInt64.max
        case .seconds: DecimalSeconds.wholeSeconds
        case .targetDuration: 0...36_000
        case .bitRate: 0...1_000_000_000_000
        case .pixels: 1...65_536
        }
    }

    /// The value of a decimal-integer (RFC 8216 §4.2); nil for other text, and for a number that is out of range.
    func value(_ digits: some Sequence<UInt8>) -> UInt64? {
        decimalInteger(digits).flatMap { range.contains($0) ? $0 : nil }
    }
}
