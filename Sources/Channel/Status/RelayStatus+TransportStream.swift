import Export
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
        /// Clients of the endless stream over HTTP now.
        package var clients = 0
        /// How often a client of the endless stream was moved forward because it was too slow, or its segments were
        /// evicted.
        package var jumps = 0
        /// Media that was published and not sent to them: jumped over, in whole chunks, or in segments that could not be
        /// read.
        package var droppedSeconds = 0.0
        /// Segments that clients of the endless stream did not get because they could not be read.
        package var unreadableSegments = 0
        /// Segments written as transport streams. The counts below are of them, and count a segment again that was
        /// written again.
        package internal(set) var segmentsWritten = 0
        package internal(set) var segmentsFailed = 0
        /// Frames that stand in for video in another codec, and the frames of that video.
        package internal(set) var stillFrames = 0
        package internal(set) var foreignFrames = 0
        /// Frames of audio in another codec, which are not sent, and the silence that is.
        package internal(set) var foreignAudioFrames = 0
        package internal(set) var silentAudioFrames = 0
        /// Audio frames sent later than they are due.
        package internal(set) var lateAudioFrames = 0
        /// Audio frames and ID3 tags that are too large to be sent.
        package internal(set) var oversizeUnits = 0
        /// Decode times lowered because they were after their presentation times.
        package internal(set) var loweredDecodeTimes = 0
    }
}

extension RelayStatus.TransportStream {
    mutating func update(from timeline: TransportStreamTimeline) {
        switch timeline.state?.program.video {
        case .h264: videoCodec = "h264"
        case .hevc: videoCodec = "hevc"
        case .mpeg2: videoCodec = "mpeg2"
        case nil: videoCodec = nil
        }
        audioCodec = timeline.state?.program.audio.rawValue
        audioChanges = timeline.state?.audioChanges ?? 0
        foreignVideoSegments = timeline.counts.foreignVideoSegments
        foreignAudioSegments = timeline.counts.foreignAudioSegments
    }

    mutating func update(from counts: TransportStreamStore.Counts) {
        segmentsWritten = counts.segments
        segmentsFailed = counts.failures
        stillFrames = counts.stills
        foreignFrames = counts.foreignFrames
        foreignAudioFrames = counts.foreignAudioFrames
        silentAudioFrames = counts.silentFrames
        lateAudioFrames = counts.lateAudioFrames
        oversizeUnits = counts.oversizeUnits
        loweredDecodeTimes = counts.loweredDecodeTimes
    }
}
