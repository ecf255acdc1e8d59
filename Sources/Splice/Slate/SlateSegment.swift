import Demux
package import Media

/// A part of a slate between two sync samples that becomes one segment.
package struct SlateSegment: Equatable, Sendable {
    /// File ranges of the samples, in increasing order and not adjacent.
    package let ranges: [Range<UInt64>]
    /// Duration of the video.
    package let duration: Ticks
    /// Sample index ranges of the tracks. `audio` is empty without audio.
    let video: Range<Int>
    let audio: Range<Int>

    /// Largest segment held in memory, bytes.
    static let maxBytes: UInt64 = 1 << 28

    /// Total size of all ranges.
    package var byteCount: Int { ranges.reduce(0) { $0 + $1.count } }

    /// - Throws: if the segment is larger than `maxBytes`.
    init(
        video: Range<Int>, of videoTrack: SlateTrack, audio: Range<Int>, of audioTrack: SlateTrack?
    ) throws(MediaError) {
        self.video = video
        self.audio = audio
        duration = videoTrack.decodeTime(video.upperBound) - videoTrack.decodeTime(video.lowerBound)
        let samples = videoTrack.samples[video] + (audioTrack?.samples[audio] ?? [])
        // Samples may share bytes in the file, so the limit applies to their sizes in the segment.
        let size = samples.reduce(UInt64(0)) { $0 + UInt64($1.size) }
        guard size <= Self.maxBytes else { throw .slate(.segmentTooLarge(bytes: size)) }
        ranges = Self.joined(samples.map { $0.offset..<$0.end })
    }

    private static func joined(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
        var joined: [Range<UInt64>] = []
        for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}

/// The bytes of a slate segment, looked up by file offset.
struct SlateBytes {
    private let ranges: [Range<UInt64>]
    /// Index in `bytes` at which each range starts.
    private let starts: [Int]
    private let bytes: [UInt8]

    /// - Parameter bytes: the concatenated `ranges`.
    /// - Returns: nil if `bytes` has another size than `ranges`.
    init?(_ bytes: [UInt8], of ranges: [Range<UInt64>]) {
        var starts: [Int] = []
        var start = 0
        for range in ranges {
            starts.append(start)
            start += range.count
        }
        guard start == bytes.count else { return nil }
        self.ranges = ranges
        self.starts = starts
        self.bytes = bytes
    }

    /// Returns the bytes of `sample`; nil if they are incomplete.
    func payload(of sample: SampleTable.Sample) -> ArraySlice<UInt8>? {
        guard sample.size > 0 else { return [] }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= sample.offset { low = middle + 1 } else { high = middle }
        }
        guard low < ranges.count, ranges[low].lowerBound <= sample.offset, sample.end <= ranges[low].upperBound
        else { return nil }
        let start = starts[low] + Int(sample.offset - ranges[low].lowerBound)
        return bytes[start..<start + Int(sample.size)]
    }
}
