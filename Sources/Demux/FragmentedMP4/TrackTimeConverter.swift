package import Media

/// From a track's own times to the wire's, each rounded once from the absolute time, so that nothing drifts.
package struct TrackTimeConverter: Equatable, Sendable {
    /// Units a second of the track, above 0.
    let timescale: UInt32
    /// Units a second of `edits.emptyDuration`; 0 when nobody said.
    private let movieTimescale: UInt32
    private let edits: EditList

    package init(_ track: MovieTrack, movieTimescale: UInt32) {
        timescale = track.timescale
        edits = track.edits
        self.movieTimescale = movieTimescale
    }

    /// The nearest tick, 0 ..< 2³³. With an edit list presentation begins at its media time: what comes earlier, the
    /// priming of an encoder, has a time in front of 0.
    func wire(_ decodeTime: UInt64, offset: Int32 = 0) -> Ticks { time(decodeTime, offset: offset).wire }

    /// The same on a clock that does not wrap, of which the low 64 bits are given.
    package func time(_ decodeTime: UInt64, offset: Int32 = 0) -> Ticks {
        let unit = Int128(timescale)
        let movieUnit = Int128(max(movieTimescale, 1))
        let empty = movieTimescale == 0 ? 0 : Int128(edits.emptyDuration)
        // The tracks of a segment are far below 2⁶⁴ units each, hence all of this below 2¹²⁷.
        let time = (Int128(decodeTime) + Int128(offset) - Int128(edits.mediaTime)) * movieUnit + empty * unit
        let (numerator, denominator) = (time * Int128(2 * Ticks.perSecond) + unit * movieUnit, 2 * unit * movieUnit)
        let (quotient, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
        let floor = rest < 0 ? quotient - 1 : quotient
        return Ticks(Int64(truncatingIfNeeded: floor))
    }

    /// A time of this track in the units of another one, the nearest.
    func convert(_ decodeTime: UInt64, to other: TrackTimeConverter) -> UInt64 {
        let scaled = UInt128(decodeTime) * UInt128(other.timescale)
        return UInt64(truncatingIfNeeded: (scaled + UInt128(timescale / 2)) / UInt128(timescale))
    }
}
