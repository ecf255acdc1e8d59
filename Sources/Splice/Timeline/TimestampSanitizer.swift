import Media

/// Last guard before the muxer: decode times rise by at least a tick, and no frame is presented before it could be
/// decoded. A clean source leaves the count of changes at 0.
struct TimestampSanitizer: Equatable, Sendable {
    /// Counts of samples whose decode or presentation time was changed.
    private(set) var counts = SpliceCounts()
    private var last: Int64?

    /// Makes the next sample decode at `time`, wherever the source places it.
    mutating func anchor(at time: Int64) { last = time - 1 }

    /// - Returns: the decode time to write, and a presentation time at least `leastOffset` after it.
    mutating func admit(decode: Int64, presentation: Int64, leastOffset: Int64) -> (decode: Int64, presentation: Int64)
    {
        let admittedDecode = last.map { max(decode, $0 + 1) } ?? decode
        let admittedPresentation = max(presentation, admittedDecode + leastOffset)
        if admittedDecode != decode || admittedPresentation != presentation {
            counts[.adjustedTimestamps] += 1
        }
        last = admittedDecode
        return (admittedDecode, admittedPresentation)
    }
}
