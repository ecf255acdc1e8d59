import Support

/// Why a segment could not be demuxed or muxed.
package struct MediaError: Error, Equatable {
    package enum Reason: Equatable, Sendable {
        /// No packet sync, no box structure, no audio frame: not a supported container.
        case unknownContainer(firstBytes: [UInt8])
        /// A stream type with sample encryption (0xDB, 0xCF, 0xC1, 0xC2).
        case sampleEncryption(streamType: UInt8)
        /// A track with encrypted samples (ISO/IEC 23001-7), and its scheme_type or sample entry.
        case protectedTrack(scheme: String)
        /// Video is required, and no video stream can be republished. `streams` names the streams that are present.
        case noUsableVideo(streams: [String])
        /// All packets of the media are scrambled (transport_scrambling_control).
        case scrambled
        /// A whole MP4 file, not movie fragments.
        case unfragmentedMovie
        /// Movie fragments before any init section.
        case missingInitialization
        case noSupportedTrack(sampleEntries: [String])
        /// A program without a stream in a supported codec. `names` describes each stream type that has a name.
        case noSupportedStream(streamTypes: [UInt8], names: [String] = [])
        /// Video is declared, but segment after segment contains none.
        case noVideo
        /// Packed audio without an ID3 PRIV timestamp (RFC 8216 §3.4).
        case missingTimestamp
        /// A parameter set with a field that cannot be decoded or is out of range.
        case badParameterSet(field: String)
        /// A private section with a wrong CRC_32 or contradictory fields.
        case badSection
        case truncated
        /// A WebVTT file larger than the limit for one segment.
        case tooLarge(bytes: Int)
        case unusableMovie(MovieFault)
        /// A library that is loaded on first use is missing. `detail` is the dynamic loader's message.
        case missingLibrary(name: String, detail: String)
        case library(code: Int32, call: String)
        /// The task that worked on the segment was canceled.
        case canceled
    }

    package let reason: Reason
    /// Byte offset into the segment or parameter set.
    package let offset: Int
    package let section: String

    package init(_ reason: Reason, offset: Int = 0, section: String) {
        self.reason = reason
        self.offset = offset
        self.section = section
    }
}

/// Why an MP4 file cannot be used as a channel or as a slate.
package enum MovieFault: Equatable, Sendable {
    /// The file does not begin with a box that begins an MP4 file.
    case notMP4
    /// The file ends before its `moov` does, as a truncated file would.
    case noMovie
    /// `moov` comes after the media, and the file can only be read from beginning to end.
    case movieAfterMedia
    /// The samples are in movie fragments (ISO/IEC 14496-12 §8.8), which do not state where the next fragment begins.
    case fragmented
    case movieTooLarge(bytes: UInt64)
    /// A box of the sample table (§8.6, §8.7) is missing, ends too early, or contradicts the other boxes.
    case badTable(box: String)
    case tooManySamples(count: UInt32)
    /// The samples of one track have several sample entries (§8.5.2).
    case severalSampleEntries
    case samplesPastEnd
    /// The samples of a track are not in the file in decoding order.
    case samplesOutOfOrder
    /// Audio and video that are presented together are too far apart in the file.
    case notInterleaved
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
    package static func movie(_ fault: MovieFault) -> MediaError {
        MediaError(.unusableMovie(fault), section: "ISO/IEC 14496-12 §8")
    }

    @inline(__always)
    package static func checkCancellation() throws(MediaError) {
        guard StepCounter.isTaskCanceled() else { return }
        throw MediaError(.canceled, section: "none")
    }
}
