import Demux
package import Media
import Mux
import Transcode

/// A stretch of a slate from one sync sample to another: what one segment is made of.
package struct SlateSegment: Equatable, Sendable {
    /// Bytes of the file that it needs, in the file's order; none touches the next.
    package let ranges: [Range<UInt64>]
    /// Of its pictures.
    package let duration: Ticks
    /// Places in the tracks' samples; `audio` is empty where there is no sound.
    let video: Range<Int>
    let audio: Range<Int>

    /// What is held in memory at once.
    static let mostBytes: UInt64 = 1 << 28

    /// Of all ranges together.
    package var byteCount: Int { ranges.reduce(0) { $0 + $1.count } }

    /// - Throws: when it is larger than may be held.
    init(video: Range<Int>, of pictures: SlateTrack, audio: Range<Int>, of sound: SlateTrack?) throws(MediaError) {
        self.video = video
        self.audio = audio
        duration = pictures.decodeTime(video.upperBound) - pictures.decodeTime(video.lowerBound)
        let samples = pictures.samples[video] + (sound?.samples[audio] ?? [])
        // Samples may point to the same bytes: it is what they come to in a segment that counts.
        let size = samples.reduce(UInt64(0)) { $0 + UInt64($1.size) }
        guard size <= Self.mostBytes else { throw .slate(.segmentTooLarge(bytes: size)) }
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

/// The bytes of a piece, to be found by where they were in the file.
struct SlateBytes {
    private let ranges: [Range<UInt64>]
    /// In `bytes`, of each range.
    private let starts: [Int]
    private let bytes: [UInt8]

    /// - Parameter bytes: of `ranges`, one behind the other.
    /// - Returns: nil when they are not as many.
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

    /// - Returns: nil when the sample is not all there.
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
