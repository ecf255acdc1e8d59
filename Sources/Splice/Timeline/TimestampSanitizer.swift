import Demux
import Media
import Mux
import Transcode

/// The last guard before the muxer: decode times rise by at least a tick, so every duration is positive, and no picture
/// is shown before it could be decoded. It counts what it had to change; a clean source leaves the count at 0.
struct TimestampSanitizer: Equatable, Sendable {
    /// Samples whose decode or composition time was changed.
    private(set) var changed = 0
    private var last: Int64?

    /// The first sample after this decodes at `time`, wherever its source would have it.
    mutating func anchor(at time: Int64) { last = time - 1 }

    /// - Returns: the decode time to write, and the presentation time not before `earliestPresentation` past it.
    mutating func admit(decode: Int64, presentation: Int64, leastOffset: Int64) -> (decode: Int64, presentation: Int64)
    {
        let admittedDecode = last.map { max(decode, $0 + 1) } ?? decode
        let admittedPresentation = max(presentation, admittedDecode + leastOffset)
        if admittedDecode != decode || admittedPresentation != presentation { changed += 1 }
        last = admittedDecode
        return (admittedDecode, admittedPresentation)
    }
}
