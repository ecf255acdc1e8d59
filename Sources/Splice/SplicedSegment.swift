package import Demux
package import Media
package import Mux
import Transcode

/// One output segment, ready to be written: the header, then the payloads.
package struct SplicedSegment: Sendable {
    package let initSection: InitSection
    package let fragment: Fragment
    /// Whether a period begins here: EXT-X-DISCONTINUITY.
    package let isDiscontinuous: Bool
    /// Whether the segment begins with a sync sample; every audio sample is one.
    package let isIndependent: Bool
    /// Duration in ticks of video decode time, or of audio if there is no video.
    package let duration: Ticks
    /// Date of the first video frame, or audio frame, in milliseconds since 1970.
    package let programDateTime: Int64
    /// Position of the timeline after this segment.
    package let position: TimelinePosition
    /// Upstream media sequence number of the segment that completed this one.
    package let mediaSequence: UInt64
    /// Upstream position at the end of this segment.
    package let upstreamEnd: UpstreamSegmentEnd
    package let description: PeriodDescription
    /// Source spans placed on the timeline since the segment before.
    package var spans: [SourceSpan] = []
    /// Upstream segments that begin in this one, in order; those without frames are not among them.
    package var placements: [SegmentPlacement] = []
    /// Splice commands among the frames of this segment, in order.
    package var spliceCommands: [PlacedSpliceCommand] = []
}

/// Upstream position at which an output segment ends; a restart resumes after it.
package struct UpstreamSegmentEnd: Equatable, Sendable {
    /// Media sequence number of the segment that contains the last video frame, or audio frame if there is no video.
    package let mediaSequence: UInt64
    /// Identification of the video frames; nil if there are none.
    package let frames: PublishedFrames?
}

/// Description of a period for the multivariant playlist and the status page.
package struct PeriodDescription: Equatable, Sendable {
    /// Number of periods before this one since the process began.
    package let index: Int
    /// Video format; nil for an audio-only period.
    package let video: VideoFormat?
    /// Codec string of RFC 6381; nil if the period has no audio.
    package let audioCodec: String?

    package struct VideoFormat: Equatable, Sendable {
        /// Codec string of RFC 6381.
        package let codec: String
        /// Size in square pixels as displayed: after cropping, and with the sample aspect ratio applied to the width.
        package let width: Int
        package let height: Int
        /// Frames per second with three decimals, for example "29.970".
        package let frameRate: String
        package let videoRange: VideoDescription.VideoRange
    }
}

extension PeriodDescription {
    /// Description of an audio-only period.
    init(index: Int, audio: AudioConfiguration) {
        self.index = index
        video = nil
        audioCodec = audio.codecString
    }

    /// - Parameters:
    ///   - first: first frame of the period, which may carry the video range.
    ///   - frameDuration: frame duration by the timestamps, as a fraction; parameter sets are not reliable.
    init(
        index: Int, video: VideoDescription, first: VideoPacket, audio: AudioConfiguration?,
        frameDuration: (ticks: Int64, frames: Int64)
    ) {
        self.index = index
        audioCodec = audio?.codecString
        let ticks = max(1, frameDuration.ticks)
        let thousandths = (Ticks.perSecond * 2000 * frameDuration.frames + ticks) / (ticks * 2)
        let fraction = String(thousandths % 1000)
        self.video = VideoFormat(
            codec: video.codecString, width: Int((video.displayWidth + 0x8000) >> 16), height: video.height,
            frameRate: "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction,
            videoRange: first.preferredTransferCharacteristics
                .map(VideoDescription.VideoRange.init) ?? video.videoRange)
    }
}

/// Counts of everything dropped or inserted, summed over the channel.
package struct SpliceCounts: Encodable, Equatable, Sendable {
    package var periods = 0
    /// Frames between a signal and the first IDR (HEVC: or CRA) after it.
    package var framesBeforeSync = 0
    /// Leading pictures of an open GOP at the start of a period.
    package var leadingPictures = 0
    /// Video and audio frames that the upstream sent again after they were published.
    package var duplicateFrames = 0
    package var duplicateAudioFrames = 0
    /// Key frames repeated beside audio that came without video.
    package var stillFrames = 0
    /// Samples whose times the sanitizer changed.
    package var timestampsSanitized = 0
    /// Video frames without a timestamp of their own.
    package var inferredTimestamps = 0
    /// Gaps in the upstream's timestamps that nothing signaled (`TimestampGaps`), and their total in ticks.
    package var timestampGaps = 0
    package var timestampGapTicks = 0
    /// Periods whose reorder delay exceeds the constant composition offset.
    package var periodsBeyondCompositionDelay = 0
    /// Output segments that begin without a sync sample: a GOP is longer than TARGETDURATION, or an upstream no longer
    /// begins its segments with sync samples.
    package var segmentsWithoutSync = 0
    /// Frames of periods whose parameter sets could not be described.
    package var unsupportedFrames = 0
    /// Audio frames that were transcoded, and those that could not be decoded.
    package var audioTranscoded = 0
    package var audioUndecodable = 0
    /// Audio frames that overlapped, ended after their video, or matched no video.
    package var audioOverlapping = 0
    package var audioTrimmed = 0
    package var audioDiscarded = 0
    /// Audio frames with lost or damaged bytes; a decoder would turn them into noise.
    package var audioDamaged = 0
    /// Audio frames before the first timestamp of their stream.
    package var audioUntimed = 0
    /// Silent frames written where the source had no audio.
    package var audioSilence = 0
    /// Audio gaps and overlaps corrected inside periods.
    package var audioDriftCorrections = 0
    /// Upstream dates more than a second ahead of the media or behind it, inside a period.
    package var datesRejected = 0
    package var messagesWritten = 0
    /// Event messages that the upstream sent more than once.
    package var duplicateMessages = 0
    /// Timed metadata that matched no frame, or whose time did not come.
    package var metadataDiscarded = 0
    package var demux = DemuxCounts()

    package init() {}

    /// The published names. Counts of dates and of timed metadata are published with the ad markers, and
    /// `timestampGapTicks` in seconds, by the channel's status.
    private enum CodingKeys: String, CodingKey {
        case periods, framesBeforeSync, leadingPictures, duplicateFrames, duplicateAudioFrames, stillFrames
        case timestampsSanitized = "adjustedTimestamps"
        case inferredTimestamps, timestampGaps, periodsBeyondCompositionDelay, segmentsWithoutSync, unsupportedFrames
        case audioTranscoded = "transcodedAudioFrames"
        case audioUndecodable = "undecodableAudioFrames"
        case audioOverlapping = "overlappingAudioFrames"
        case audioTrimmed = "trimmedAudioFrames"
        case audioDiscarded = "unmatchedAudioFrames"
        case audioDamaged = "damagedAudioFrames"
        case audioUntimed = "untimedAudioFrames"
        case audioSilence = "silentAudioFrames"
        case audioDriftCorrections = "audioGapsAndOverlaps"
        case demux
    }

    /// Sums the counts of several sources of one channel.
    package static func + (left: SpliceCounts, right: SpliceCounts) -> SpliceCounts {
        var sum = left
        for field in fields { sum[keyPath: field] += right[keyPath: field] }
        sum.demux += right.demux
        return sum
    }

    private static var fields: [WritableKeyPath<SpliceCounts, Int>] {
        [
            \.periods, \.duplicateFrames, \.duplicateAudioFrames, \.framesBeforeSync, \.leadingPictures, \.stillFrames,
            \.timestampsSanitized, \.inferredTimestamps, \.timestampGaps, \.timestampGapTicks,
            \.periodsBeyondCompositionDelay, \.segmentsWithoutSync, \.unsupportedFrames, \.audioTranscoded,
            \.audioUndecodable,
            \.audioOverlapping, \.audioTrimmed, \.audioDiscarded, \.audioDamaged, \.audioUntimed, \.audioSilence,
            \.audioDriftCorrections, \.datesRejected, \.messagesWritten, \.duplicateMessages, \.metadataDiscarded,
        ]
    }
}
