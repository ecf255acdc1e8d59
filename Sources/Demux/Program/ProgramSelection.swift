import Media

/// The elementary streams that a demuxer follows, and their program.
package struct ProgramSelection: Hashable, Sendable {
    package struct Stream: Hashable, Sendable {
        package let pid: UInt16
        package let kind: ElementaryStreamKind
    }

    /// One stream of the PMT, described for an operator.
    package struct ListedStream: Hashable, Sendable {
        package let pid: UInt16
        /// ISO/IEC 13818-1 Table 2-34.
        package let streamType: UInt8
        /// "H.264", "DVB teletext"; nil for an unknown type.
        package let name: String?
        /// ISO 639-2 code; nil if the PMT has none.
        package let language: String?
        package let isFollowed: Bool
    }

    /// program_number; 0 if the streams were detected without tables.
    package let programNumber: UInt16
    /// The first supported video stream of the PMT; kept while the PMT lists it.
    package let video: Stream?
    /// The first supported audio stream of the PMT that is no commentary, else the first; kept while the PMT lists it.
    package let audio: Stream?
    /// Streams of splice information and timed ID3.
    let metadata: [MetadataStream]
    /// All streams of the PMT in its order; empty if the streams were detected without tables.
    package let listed: [ListedStream]
    /// Names of the listed video streams that cannot be republished, if video was requested.
    package internal(set) var unsupportedVideo: [String] = []
    /// The same for audio.
    package internal(set) var unsupportedAudio: [String] = []
    /// program_number of the other programs in the PAT.
    package internal(set) var otherPrograms: [UInt16] = []

    /// All streams of the PMT by name; the stream type where there is no name.
    package var streamNames: [String] { listed.map { $0.name ?? "stream type 0x\(String($0.streamType, radix: 16))" } }

    package var streams: [Stream] { [video, audio].compactMap(\.self) }

    init(
        programNumber: UInt16, video: Stream?, audio: Stream?, metadata: [MetadataStream] = [],
        listed: [ListedStream] = []
    ) {
        self.programNumber = programNumber
        self.video = video
        self.audio = audio
        self.metadata = metadata
        self.listed = listed
    }
}
