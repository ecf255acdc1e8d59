/// Why a file cannot be shown as a slate.
package enum SlateFault: Equatable, Sendable {
    /// It does not begin with a box that begins an MP4 file.
    case notMP4
    /// It ends before its `moov` does; a file that was cut short looks like that.
    case noMovie
    /// Its samples stand in movie fragments (ISO/IEC 14496-12 §8.8), which tell nobody where the next one is.
    case fragmented
    case movieTooLarge(bytes: UInt64)
    /// A box of the sample table (§8.6, §8.7) is missing, ends too early, or does not fit the others.
    case badTable(box: String)
    case tooManySamples(count: UInt32)
    /// Samples of one track that are coded in several ways (§8.5.2).
    case severalSampleEntries
    /// The tables name bytes that the file does not have.
    case samplesPastEnd
    case noSyncSample
    /// A picture is shown for longer than a splice takes for a frame.
    case frameRateTooLow(longest: Ticks)
    /// Too short for a change of clock to be seen when it starts again.
    case tooShort(Ticks)
    case tooLong
    /// What lies between two sync samples cannot be held in memory.
    case segmentTooLarge(bytes: UInt64)
}

extension MediaError {
    package static func slate(_ fault: SlateFault) -> MediaError {
        MediaError(.unusableSlate(fault), section: "ISO/IEC 14496-12 §8")
    }
}
