package import Media

/// Converts a track's times to wire times, each rounded once from the absolute time, so that nothing drifts.
package struct TrackTimeConverter: Equatable, Sendable {
    let timescale: Timescale
    private let movieTimescale: Timescale?
    private let edits: EditList

    package init(_ track: MovieTrack, movieTimescale: Timescale?) {
        timescale = track.timescale
        edits = track.edits
        self.movieTimescale = movieTimescale
    }

    /// Returns the nearest tick, 0 ..< 2³³. With an edit list, presentation begins at its media time: earlier samples,
    /// such as an encoder's priming, have a time before 0.
    func wire(_ decodeTime: UInt64, offset: Int32 = 0) -> Ticks { time(decodeTime, offset: offset).wire }

    /// Returns the same time without wrapping, as its low 64 bits.
    package func time(_ decodeTime: UInt64, offset: Int32 = 0) -> Ticks {
        let unit = Int128(timescale.unitsPerSecond)
        let movieUnit = Int128(movieTimescale?.unitsPerSecond ?? 1)
        let empty = movieTimescale == nil ? 0 : Int128(edits.emptyDuration)
        // The terms are far below 2⁶⁴ units each, so the result is below 2¹²⁷.
        let time = (Int128(decodeTime) + Int128(offset) - Int128(edits.mediaTime)) * movieUnit + empty * unit
        let (numerator, denominator) = (time * Int128(2 * Ticks.perSecond) + unit * movieUnit, 2 * unit * movieUnit)
        let (quotient, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
        let floor = rest < 0 ? quotient - 1 : quotient
        return Ticks(Int64(truncatingIfNeeded: floor))
    }

    /// Returns a time of this track in the units of another one, rounded to the nearest.
    func convert(_ decodeTime: UInt64, to other: TrackTimeConverter) -> UInt64 {
        let unit = UInt128(timescale.unitsPerSecond)
        let scaled = UInt128(decodeTime) * UInt128(other.timescale.unitsPerSecond)
        return UInt64(truncatingIfNeeded: (scaled + unit / 2) / unit)
    }
}

/// The effect of an edit list on a track that plays from a start time to its end (ISO/IEC 14496-12 §8.6.6), which is
/// the only use in a live stream.
package struct EditList: Equatable, Sendable {
    /// The total duration of the leading empty edits, in the movie's timescale.
    package private(set) var emptyDuration: UInt64 = 0
    /// The media time at which presentation begins, in the track's timescale.
    package private(set) var mediaTime: Int64 = 0

    /// - Parameter elst: nil if the track has no edit list.
    init(_ elst: Box?) throws(MediaError) {
        guard let elst else { return }
        var fields = BoxFields(elst.body)
        let isLong = try fields.versionAndFlags().version == 1
        for _ in 0..<(try fields.u32()) {
            let duration = isLong ? try fields.u64() : UInt64(try fields.u32())
            let time = isLong ? Int64(bitPattern: try fields.u64()) : Int64(Int32(bitPattern: try fields.u32()))
            try fields.skip(4)  // media_rate
            guard time < 0 else {
                mediaTime = time
                return
            }
            emptyDuration &+= duration
        }
    }
}
