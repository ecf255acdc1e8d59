import Media
import Mux

extension RelayStatus {
    /// The channel as a transport stream, whose codecs are those of its first segment.
    package struct TransportStream: Encodable, Equatable, Sendable {
        /// "h264" or "hevc"; nil before the first segment, and for a channel of audio alone.
        package internal(set) var videoCodec: String?
        /// "aac", "mpeg", "ac3" or "eac3"; nil before the first segment.
        package internal(set) var audioCodec: String?
        /// How often the sample rate or the number of channels changed: the version of the program map.
        package internal(set) var audioChanges = 0
        /// Segments whose video is in another codec: the last frame before them stands still.
        package internal(set) var foreignVideoSegments = 0
        /// Segments whose audio is in another codec: they are silent.
        package internal(set) var foreignAudioSegments = 0
    }
}

extension RelayStatus.TransportStream {
    init(_ timeline: TransportStreamTimeline) {
        switch timeline.state?.program.video {
        case .h264: videoCodec = "h264"
        case .hevc: videoCodec = "hevc"
        case nil: videoCodec = nil
        }
        audioCodec = timeline.state?.program.audio.first?.codec.rawValue
        audioChanges = timeline.state?.audioChanges ?? 0
        foreignVideoSegments = timeline.counts.foreignVideoSegments
        foreignAudioSegments = timeline.counts.foreignAudioSegments
    }
}
