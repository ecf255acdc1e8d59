/// Why a segment could not be taken apart or put together.
package struct MediaError: Error, Equatable {
    package enum Reason: Equatable, Sendable {
        /// No packet sync, no box structure, no audio frame: none of the containers we read.
        case unknownContainer(firstBytes: [UInt8])
        /// A stream type that is encrypted sample by sample (0xDB, 0xCF, 0xC1, 0xC2).
        case sampleEncryption(streamType: UInt8)
        /// A track whose samples are encrypted (ISO/IEC 23001-7), and the scheme_type or the sample entry that says so.
        case protectedTrack(scheme: String)
        /// Movie fragments before any init section.
        case missingInitialization
        /// A movie without a track in a codec that can be carried.
        case noSupportedTrack(sampleEntries: [String])
        /// Media was found, but nothing in a codec that can be carried.
        /// `names` says each in words where it has any.
        case noSupportedStream(streamTypes: [UInt8], names: [String] = [])
        /// Video is announced, and segment after segment holds none.
        case noVideo
        /// Packed audio without its ID3 PRIV timestamp (RFC 8216 §3.4).
        case missingTimestamp
        /// A parameter set whose field does not decode or is out of range.
        case badParameterSet(field: String)
        /// A private section whose CRC_32 or whose fields contradict each other.
        case badSection
        /// Bits or bytes ended before the structure did.
        case truncated
        /// A WebVTT file that cannot be one segment's.
        case tooLarge(bytes: Int)
        /// A file that cannot be shown while the upstream is away.
        case unusableSlate(SlateFault)
        /// A library's error code.
        case library(code: Int32, call: String)
    }

    package let reason: Reason
    /// Byte offset into the segment or parameter set.
    package let offset: Int
    /// The standard and section that asks otherwise.
    package let section: String

    package init(_ reason: Reason, offset: Int = 0, section: String) {
        self.reason = reason
        self.offset = offset
        self.section = section
    }
}
