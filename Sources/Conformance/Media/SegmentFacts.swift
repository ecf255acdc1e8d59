package import Demux
package import Media

/// The facts in the bytes of one clear segment, without its neighbors.
package struct SegmentFacts: Equatable, Sendable {
    package enum Container: String, Sendable {
        case transportStream = "MPEG-TS"
        case fragmentedMP4 = "fMP4"
        case packedAudio = "packed audio"
        case webVTT = "WebVTT"
    }

    package let container: Container
    package let byteCount: Int
    package var video: VideoFacts?
    package var audio: AudioFacts?
    package var subtitles: SubtitleFacts?
    /// Access units of fMP4 with an SPS that the init section does not have.
    package var foreignParameterSets = 0
    /// Track IDs of fragments that the init section does not have.
    package var unknownTracks: [UInt32] = []
    /// Bytes before the first packet, box or frame, and after the last one.
    package var strayBytes = 0
    package var needsInitialization = false
    /// The decode times of the first video and audio track; of fragmented MP4 alone.
    package var videoSpan: DecodeSpan?
    package var audioSpan: DecodeSpan?
    /// Whether the frames were read, and not only the boxes of fragmented MP4.
    package var hasFrames = true
    /// continuity_counter of the first and of the last packet with a payload, by PID; of transport streams alone.
    package var counters: [UInt16: (first: UInt8, last: UInt8)] = [:]
    package var isProtected = false
    package var error: String?

    package static func == (left: SegmentFacts, right: SegmentFacts) -> Bool {
        left.container == right.container && left.byteCount == right.byteCount && left.video == right.video
            && left.audio == right.audio && left.subtitles == right.subtitles && left.error == right.error
    }

    init(container: Container, byteCount: Int) {
        self.container = container
        self.byteCount = byteCount
    }

    /// The time of the first frame that is presented, on the wire; the first decode time if the frames were not read.
    package var start: Ticks? {
        hasFrames ? video?.earliest ?? audio?.start : (videoSpan ?? audioSpan)?.startTime
    }
}

package struct VideoFacts: Equatable, Sendable {
    package let configuration: VideoConfiguration
    package let pid: UInt16
    package let description: VideoDescription?
    package internal(set) var frames = 0
    /// PTS of the first frame in decoding order; DTS of the first and the last one. All unwrapped near the first.
    package internal(set) var firstPTS: Ticks
    package internal(set) var firstDTS: Ticks
    package internal(set) var lastDTS: Ticks
    package internal(set) var earliest: Ticks
    package internal(set) var latest: Ticks
    /// The usual and the longest time from one DTS to the next.
    package internal(set) var frameDuration: Ticks
    package internal(set) var longestFrame: Ticks
    package internal(set) var access: RandomAccessPoint?
    /// PTS of random access points.
    package internal(set) var accessTimes: [Ticks] = []
    /// Frames whose DTS does not rise, the first one's time.
    package internal(set) var backward: (count: Int, time: Ticks)?
    /// The changes at a frame within the segment.
    package internal(set) var change: String?
    /// Whether frames before the first parameter sets could not be read, so that the beginning is not known.
    package internal(set) var isBeginningUnknown = false
    package internal(set) var captions = CaptionChannels()

    package var hasCaptions: Bool { !captions.isEmpty }
    package var codec: VideoConfiguration.Codec { configuration.codec }
    package var end: Ticks { latest + frameDuration }

    package static func == (left: VideoFacts, right: VideoFacts) -> Bool {
        left.frames == right.frames && left.firstPTS == right.firstPTS && left.end == right.end
            && left.configuration == right.configuration
    }
}

package struct AudioFacts: Equatable, Sendable {
    package let configuration: AudioConfiguration
    package let pid: UInt16
    package internal(set) var frames = 0
    package internal(set) var start: Ticks
    package internal(set) var end: Ticks
    /// Jumps of more than a frame within the segment: where, and by how much.
    package internal(set) var jumps: [AudioJump] = []
    package internal(set) var change: String?

    package var frameDuration: Ticks { configuration.frameDuration }
}

package struct AudioJump: Equatable, Sendable {
    package let time: Ticks
    /// Above 0: audio is missing.
    package let length: Ticks
}

package struct SubtitleFacts: Equatable, Sendable {
    package let hasTimestampMap: Bool
    /// First start and last end of the cues on the wire's clock; nil without a cue.
    package let cues: (start: Ticks, end: Ticks)?

    package static func == (left: SubtitleFacts, right: SubtitleFacts) -> Bool {
        left.hasTimestampMap == right.hasTimestampMap && left.cues?.start == right.cues?.start
            && left.cues?.end == right.cues?.end
    }
}

extension Ticks {
    /// From `other` to this time on the wire, at most half a wrap either way.
    func distance(from other: Ticks) -> Ticks { Ticks(wire: wire, near: other) - other }

    var magnitude: Ticks { Ticks(abs(count)) }

    /// `1.25 s`, without sign.
    var text: String { magnitude.duration.magnitudeText }
}
