import Playlist

/// The ranges of the numbers that a ring computes with. Sums and differences of such numbers do not overflow.
///
/// A journal record with a number out of range is damaged, like a record with a wrong checksum.
package enum RingRanges {
    /// EXT-X-TARGETDURATION in seconds. A longer one counts as the longest, because the duration of a frame as long as
    /// a segment must fit into 32 bits in 90 kHz ticks.
    package static let targetDuration: ClosedRange<Int64> =
        1...Int64(PlaylistNumber.targetDuration.range.upperBound)
    /// The duration of a segment in 90 kHz ticks: a target duration and less than half a second.
    package static let duration: ClosedRange<Int64> = 1...targetDuration.upperBound * 90_000 + 44_999
    /// Positions on the published timeline in 90 kHz ticks: 1,585 years.
    package static let ticks: ClosedRange<Int64> = 0...1 << 52
    /// The positions of `ticks` in the audio timescale, with room to spare.
    package static let audioTicks: ClosedRange<Int64> = 0...1 << 60
    /// Sequence numbers of fragments, which have 32 bits in `mfhd`.
    package static let fragments: ClosedRange<Int64> = 0...Int64(UInt32.max)
    /// Media sequence numbers and discontinuity sequence numbers.
    package static let sequenceNumbers: ClosedRange<Int64> = 0 ... .max - 1
    /// Sizes of files in bytes.
    package static let sizes: ClosedRange<Int64> = 0...1 << 40
    /// Bytes of the clock packets before a segment.
    package static let leads: ClosedRange<Int64> = 0...1 << 20
    /// Width and height of video.
    package static let pixels: ClosedRange<Int64> = 1...1 << 20
    package static let sourceIndices: ClosedRange<Int64> = 0...65_535
    /// Milliseconds since 1970 of the years with four digits.
    package static let dates: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
}

extension ClosedRange<Int64> {
    /// The nearest value within the range.
    func clamp(_ value: Int) -> Int { Int(Swift.min(Swift.max(Int64(value), lowerBound), upperBound)) }

    package func contains(_ value: some FixedWidthInteger) -> Bool {
        Int64(exactly: value).map { lowerBound <= $0 && $0 <= upperBound } ?? false
    }
}
