package import Media

/// A track of a plain MP4 file: its samples and its clock.
package struct SampleTrack: Sendable {
    /// Limit of all durations in a file, so that no sum of times overflows.
    static let maxDuration = Ticks.seconds(86_400)

    private let table: SampleTable
    private let clock: TrackTimeConverter

    /// - Returns: nil for a track without samples.
    init?(_ trak: Box, _ track: MovieTrack, of movie: Movie, fileSize: UInt64) throws(MediaError) {
        clock = TrackTimeConverter(track, movieTimescale: movie.timescale)
        table = try SampleTable(trak.descendant("mdia", "minf", "stbl"), fileSize: fileSize)
        guard let last = table.samples.last else { return nil }
        let seconds = Int128(Self.maxDuration.count / Ticks.perSecond)
        let (edits, unit) = (track.edits, seconds * Int128(track.timescale.unitsPerSecond))
        guard Int128(last.decodeTime) + Int128(last.duration) <= unit, Int128(edits.mediaTime).magnitude <= unit,
            Int128(edits.emptyDuration) <= seconds * Int128(movie.timescale?.unitsPerSecond ?? 0)
        else { throw .movie(.tooLong) }
    }

    /// Samples in decoding order, never empty.
    package var samples: [SampleTable.Sample] { table.samples }

    /// Returns the index of the first sample that begins at an offset in the file or after it.
    func firstIndex(from offset: UInt64) -> Int { table.firstIndex(from: offset) }

    /// Decode time of a sample after the edit list. The end index gives the end of the track.
    package func decodeTime(_ index: Int) -> Ticks { clock.time(mediaTime(index)) }

    package func presentationTime(_ index: Int) -> Ticks {
        guard samples.indices.contains(index) else { return decodeTime(index) }
        return clock.time(samples[index].decodeTime, offset: samples[index].compositionOffset)
    }

    package var presentationEnd: Ticks {
        samples.reduce(presentationTime(0)) { end, sample in
            max(end, clock.time(sample.decodeTime + UInt64(sample.duration), offset: sample.compositionOffset))
        }
    }

    private func mediaTime(_ index: Int) -> UInt64 {
        if samples.indices.contains(index) { return samples[index].decodeTime }
        return samples.last.map { $0.decodeTime + UInt64($0.duration) } ?? 0
    }

    /// Index of the first sample presented at or after `time`, if the samples' presentation order is their decoding order.
    package func firstIndex(presentedFrom time: Ticks) -> Int {
        var (low, high) = (0, samples.count)
        while low < high {
            let middle = (low + high) / 2
            if presentationTime(middle) < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
