package import Media

/// The elementary streams that a demuxer follows, and their program.
package struct ProgramSelection: Hashable, Sendable {
    package struct Stream: Hashable, Sendable {
        package let pid: UInt16
        package let kind: ElementaryStreamKind
        package var furtherTrack: AudioTrackIdentity?
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
    package internal(set) var audioTrack: AudioTrackIdentity?
    /// The other audio streams that are followed, in the order of the PMT; `AudioTrackChoice.limit` at most.
    package internal(set) var furtherAudio: [Stream] = []
    /// Streams of splice information, timed ID3, DVB subtitles and teletext.
    private(set) var metadata: [MetadataStream] = []
    /// All streams of the PMT in its order; empty if the streams were detected without tables.
    package private(set) var listed: [ListedStream] = []
    /// Names of the listed video streams that cannot be republished, if video was requested.
    package internal(set) var unsupportedVideo: [String] = []
    package internal(set) var unsupportedAudio: [String] = []
    package internal(set) var otherPrograms: [UInt16] = []

    /// All streams of the PMT by name; the stream type where there is no name.
    package var streamNames: [String] { listed.map { $0.name ?? "stream type 0x\(String($0.streamType, radix: 16))" } }

    /// The streams of DVB subtitles and teletext, in the order of the PMT.
    package var privateData: [PrivateDataStream] {
        metadata.compactMap { if case .privateData(let stream) = $0.kind { stream } else { nil } }
    }

    package var streams: [Stream] { [video, audio].compactMap(\.self) + furtherAudio }
}

/// The kinds of tracks that a demuxer emits: a rendition with companion audio emits only video.
package enum TrackSelection: Hashable, Sendable { case video, audio, both }

/// The kind of a supported elementary stream.
package enum ElementaryStreamKind: Hashable, Sendable {
    case video(VideoConfiguration.Codec)
    case audio(AudioFraming)

    var isVideo: Bool {
        if case .video = self { return true }
        return false
    }
}

/// An elementary stream of metadata and its PID.
struct MetadataStream: Hashable, Sendable {
    let pid: UInt16
    let kind: MetadataStreamKind
}

/// The kind of a metadata stream.
enum MetadataStreamKind: Hashable, Sendable {
    /// ID3v2 tags in PES packets (Timed Metadata for HTTP Live Streaming §2).
    case id3
    /// Splice information sections (SCTE 35 §8.1).
    case splice
    case privateData(PrivateDataStream)
}

/// The framing of an audio byte stream. The codec follows from the header of each frame, so a stream announced as MPEG
/// audio may carry ADTS, and the reverse.
package enum AudioFraming: Hashable, Sendable {
    /// ADTS (ISO/IEC 13818-7 §6.2) and MPEG-1/2 audio (ISO/IEC 11172-3 §2.4.1.3), distinguished by their layer field.
    case mpeg
    /// AC-3 and E-AC-3 (ETSI TS 102 366), distinguished by bsid.
    case ac3
    /// MPEG-4 audio in LOAS frames (ISO/IEC 14496-3 §1.7).
    case loas
    /// Opus access units with a control header each.
    case opus(OpusChannels)
}
