import Demux
package import Media

/// A part of a slate between two sync samples that becomes one segment.
package struct SlateSegment: Equatable, Sendable {
    /// File ranges of the samples, in increasing order and not adjacent.
    package let ranges: [Range<UInt64>]
    package let duration: Ticks
    /// Sample index ranges of the tracks. `audio` is empty without audio.
    let video: Range<Int>
    let audio: Range<Int>

    static let maxBytes: UInt64 = 1 << 28

    package var byteCount: Int { ranges.reduce(0) { $0 + $1.count } }

    /// - Throws: if the segment is larger than `maxBytes`.
    init(
        video: Range<Int>, of videoTrack: SampleTrack, audio: Range<Int>, of audioTrack: SampleTrack?
    ) throws(MediaError) {
        self.video = video
        self.audio = audio
        duration = videoTrack.decodeTime(video.upperBound) - videoTrack.decodeTime(video.lowerBound)
        let samples = videoTrack.samples[video] + (audioTrack?.samples[audio] ?? [])
        // Samples may share bytes in the file, so the limit applies to their sizes in the segment.
        let size = samples.reduce(UInt64(0)) { $0 + UInt64($1.size) }
        guard size <= Self.maxBytes else { throw .movie(.segmentTooLarge(bytes: size)) }
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
