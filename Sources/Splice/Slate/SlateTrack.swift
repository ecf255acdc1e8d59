import Demux
import Media
import Mux
import Transcode

/// One track of a slate: its samples and its clock.
struct SlateTrack: Sendable {
    /// Nothing of a slate lasts longer, so that no sum of its times overflows.
    static let longest = Ticks.seconds(86_400)

    let trackID: UInt32
    /// In decoding order, never empty.
    let samples: [SampleTable.Sample]
    private let clock: TrackTimeConverter

    /// - Returns: nil for a track without samples.
    init?(_ trak: Box, _ track: MovieTrack, of movie: Movie, fileSize: UInt64) throws(MediaError) {
        trackID = track.trackID
        clock = TrackTimeConverter(track, movieTimescale: movie.timescale)
        samples = try SampleTable(trak.descendant("mdia", "minf", "stbl"), fileSize: fileSize).samples
        guard let last = samples.last else { return nil }
        let seconds = Int128(Self.longest.count / Ticks.perSecond)
        let (edits, unit) = (track.edits, seconds * Int128(track.timescale))
        guard Int128(last.decodeTime) + Int128(last.duration) <= unit, Int128(edits.mediaTime).magnitude <= unit,
            Int128(edits.emptyDuration) <= seconds * Int128(movie.timescale)
        else { throw .slate(.tooLong) }
    }

    /// When a sample is decoded, behind the edit list; that of the index behind the last is the end.
    func decodeTime(_ index: Int) -> Ticks { clock.time(mediaTime(index)) }

    /// When it is shown, or heard.
    func presentationTime(_ index: Int) -> Ticks {
        guard samples.indices.contains(index) else { return decodeTime(index) }
        return clock.time(samples[index].decodeTime, offset: samples[index].compositionOffset)
    }

    /// Where what is shown ends.
    var presentationEnd: Ticks {
        samples.reduce(presentationTime(0)) { end, sample in
            max(end, clock.time(sample.decodeTime + UInt64(sample.duration), offset: sample.compositionOffset))
        }
    }

    private func mediaTime(_ index: Int) -> UInt64 {
        if samples.indices.contains(index) { return samples[index].decodeTime }
        return samples.last.map { $0.decodeTime + UInt64($0.duration) } ?? 0
    }

    /// The first sample that is heard at or after `time`, of a track whose samples are heard in order.
    func firstIndex(presentedFrom time: Ticks) -> Int {
        var (low, high) = (0, samples.count)
        while low < high {
            let middle = (low + high) / 2
            if presentationTime(middle) < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
