import Demux
import Media

/// A track of a slate: its samples and its clock.
struct SlateTrack: Sendable {
    /// Limit of all durations in a slate, so that no sum of times overflows.
    static let maxDuration = Ticks.seconds(86_400)

    let trackID: UInt32
    /// Samples in decoding order, never empty.
    let samples: [SampleTable.Sample]
    private let clock: TrackTimeConverter

    /// - Returns: nil for a track without samples.
    init?(_ trak: Box, _ track: MovieTrack, of movie: Movie, fileSize: UInt64) throws(MediaError) {
        trackID = track.trackID
        clock = TrackTimeConverter(track, movieTimescale: movie.timescale)
        samples = try SampleTable(trak.descendant("mdia", "minf", "stbl"), fileSize: fileSize).samples
        guard let last = samples.last else { return nil }
        let seconds = Int128(Self.maxDuration.count / Ticks.perSecond)
        let (edits, unit) = (track.edits, seconds * Int128(track.timescale.unitsPerSecond))
        guard Int128(last.decodeTime) + Int128(last.duration) <= unit, Int128(edits.mediaTime).magnitude <= unit,
            Int128(edits.emptyDuration) <= seconds * Int128(movie.timescale?.unitsPerSecond ?? 0)
        else { throw .slate(.tooLong) }
    }

    /// Decode time of a sample after the edit list. The end index gives the end of the track.
    func decodeTime(_ index: Int) -> Ticks { clock.time(mediaTime(index)) }

    /// Presentation time of a sample after the edit list.
    func presentationTime(_ index: Int) -> Ticks {
        guard samples.indices.contains(index) else { return decodeTime(index) }
        return clock.time(samples[index].decodeTime, offset: samples[index].compositionOffset)
    }

    /// End of the last presented sample.
    var presentationEnd: Ticks {
        samples.reduce(presentationTime(0)) { end, sample in
            max(end, clock.time(sample.decodeTime + UInt64(sample.duration), offset: sample.compositionOffset))
        }
    }

    private func mediaTime(_ index: Int) -> UInt64 {
        if samples.indices.contains(index) { return samples[index].decodeTime }
        return samples.last.map { $0.decodeTime + UInt64($0.duration) } ?? 0
    }

    /// Index of the first sample presented at or after `time`, if the samples' presentation order is their decoding order.
    func firstIndex(presentedFrom time: Ticks) -> Int {
        var (low, high) = (0, samples.count)
        while low < high {
            let middle = (low + high) / 2
            if presentationTime(middle) < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
