package import Media
import Support

/// A plain MP4 file: the samples of the tracks that are followed, and where they are (ISO/IEC 14496-12 §8.6, §8.7).
///
/// It holds the sample tables and no samples. A part of the file with its place is demuxed without anything else.
package struct MovieFile: Sendable {
    package let video: SampleTrack?
    package let audio: SampleTrack?
    /// Sample entries of the audio tracks that cannot be republished.
    package let unsupportedAudio: [String]
    private let videoID: UInt32?
    private let audioID: UInt32?

    /// - Parameter moov: the whole box.
    package init(moov: [UInt8], fileSize: UInt64) throws(MediaError) {
        let box = try BoxReader.boxes(in: moov[...]).require("moov")
        let movie = try Movie(box)
        guard !movie.isFragmented else { throw .movie(.fragmented) }
        try self.init(box, movie, SelectedTracks(movie, .both, after: nil), fileSize: fileSize)
    }

    init(_ moov: Box, _ movie: Movie, _ tracks: SelectedTracks, fileSize: UInt64 = .max) throws(MediaError) {
        let traks = try moov.children().filter { $0.type == "trak" }
        func samples(_ trackID: UInt32?) throws(MediaError) -> SampleTrack? {
            guard let index = movie.tracks.firstIndex(where: { $0.trackID == trackID }) else { return nil }
            return try SampleTrack(traks[index], movie.tracks[index], of: movie, fileSize: fileSize)
        }
        (video, audio) = (try samples(tracks.videoID), try samples(tracks.audioID))
        (videoID, audioID, unsupportedAudio) = (tracks.videoID, tracks.audioID, tracks.unsupportedAudio)
    }

    var isEmpty: Bool { video == nil && audio == nil }

    /// Returns the samples that begin in a part of the file, as fragments of their tracks.
    ///
    /// - Parameter bytes: the bytes of `ranges`, one after the other.
    func fragments(in ranges: [Range<UInt64>], of bytes: [UInt8]) throws(MediaError) -> [TrackFragment] {
        var reader = SampleReader(bytes: bytes)
        var fragments: [TrackFragment] = []
        for (track, trackID) in [(video, videoID), (audio, audioID)] {
            guard let track, let trackID else { continue }
            var (start, samples) = (0, [TrackFragment.Sample]())
            var first: UInt64?
            for range in ranges {
                let indices = track.firstIndex(from: range.lowerBound)..<track.firstIndex(from: range.upperBound)
                for sample in track.samples[indices] {
                    samples.append(try reader.read(sample, at: start, in: range))
                    first = first ?? sample.decodeTime
                }
                start += range.count
            }
            if let first {
                let header = TrackFragmentHeader(trackID: trackID, decodeTime: first)
                fragments.append(TrackFragment(header: header, samples: samples))
            }
        }
        return fragments
    }
}

/// Reads samples of a part of a file. All of them together are no larger than the part, even if they share bytes.
private struct SampleReader {
    private let bytes: [UInt8]
    private var remainingBytes: Int
    private var remainingSamples = DemuxLimits.samples

    init(bytes: [UInt8]) {
        self.bytes = bytes
        remainingBytes = bytes.count
    }

    /// - Parameters:
    ///   - start: index in the bytes at which `range` starts.
    ///   - range: of the file, in which the sample begins.
    mutating func read(
        _ sample: SampleTable.Sample, at start: Int, in range: Range<UInt64>
    ) throws(MediaError) -> TrackFragment.Sample {
        StepCounter.add(1)
        let lower = min(start + Int(clamping: sample.offset - range.lowerBound), bytes.count)
        let length = Int(min(UInt64(sample.size), range.upperBound - sample.offset))
        let upper = min(lower + length, bytes.count)
        remainingBytes -= upper - lower
        remainingSamples -= 1
        guard remainingBytes >= 0, remainingSamples >= 0 else {
            throw MediaError(.truncated, offset: lower, section: BoxReader.section)
        }
        return TrackFragment.Sample(
            duration: sample.duration, compositionOffset: sample.compositionOffset,
            flags: sample.isSync ? 0 : TrackFragment.Sample.nonSyncFlag, payload: bytes[lower..<upper],
            size: sample.size)
    }
}
