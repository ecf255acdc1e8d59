/// Why a file cannot be used as a slate.
package enum SlateFault: Equatable, Sendable {
    /// The file does not begin with a box that begins an MP4 file.
    case notMP4
    /// The file ends before its `moov` does, as a truncated file would.
    case noMovie
    /// The samples are in movie fragments (ISO/IEC 14496-12 §8.8), which do not say where the next one is.
    case fragmented
    case movieTooLarge(bytes: UInt64)
    /// A box of the sample table (§8.6, §8.7) is missing, ends too early, or contradicts the others.
    case badTable(box: String)
    case tooManySamples(count: UInt32)
    /// The samples of one track have several sample entries (§8.5.2).
    case severalSampleEntries
    /// The tables refer to bytes after the end of the file.
    case samplesPastEnd
    case noSyncSample
    /// A frame lasts longer than the longest frame of a period.
    case frameRateTooLow(longest: Ticks)
    /// The movie is too short for its restart to be detected as a clock change.
    case tooShort(Ticks)
    case tooLong
    /// The samples between two sync samples do not fit into memory.
    case segmentTooLarge(bytes: UInt64)
}

extension MediaError {
    package static func slate(_ fault: SlateFault) -> MediaError {
        MediaError(.unusableSlate(fault), section: "ISO/IEC 14496-12 §8")
    }
}
