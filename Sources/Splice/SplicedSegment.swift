/// One output segment, ready to be written: the header, then the payloads.
package struct SplicedSegment: Sendable {
    package let initSection: InitSection
    package let fragment: Fragment
    /// A run begins here: EXT-X-DISCONTINUITY.
    package let isDiscontinuous: Bool
    /// It begins with a sync sample; of sound every sample is one.
    package let isIndependent: Bool
    /// What was written, in ticks of the picture's decode time, or of the sound's where there is no picture.
    package let duration: Ticks
    /// Milliseconds since 1970 of its first picture, or frame of sound.
    package let programDateTime: Int64
    /// Where the timeline stands after it.
    package let position: TimelinePosition
    /// Upstream media sequence number of the segment that completed it.
    package let mediaSequence: UInt64
    /// Where it ends in the upstream.
    package let upstreamEnd: UpstreamSegmentEnd
    package let description: PeriodDescription
    /// The upstream's pictures placed on the timeline since the segment before: what it shows, and what it was cut from.
    package var spans: [SourceSpan] = []
    /// Upstream segments that begin in it, in order; those that gave no picture are not among them.
    package var placements: [SegmentPlacement] = []
    /// Splice commands that stood among its pictures, in order.
    package var spliceCommands: [PlacedSpliceCommand] = []
}

/// Where an output segment ends in the upstream: what a restart needs to go on behind it.
package struct UpstreamSegmentEnd: Equatable, Sendable {
    /// Media sequence number of the segment that its last picture came in, or frame of sound where there is no picture.
    package let mediaSequence: UInt64
    /// What its pictures are known by; nil where there are none.
    package let frames: PublishedFrames?
}

/// What a multivariant playlist and a status page say of a run.
package struct PeriodDescription: Equatable, Sendable {
    /// Runs before it since this process began.
    package let index: Int
    /// Nil for a run of sound alone.
    package let video: VideoFormat?
    /// RFC 6381; nil when the run has no sound.
    package let audioCodec: String?

    package struct VideoFormat: Equatable, Sendable {
        /// RFC 6381.
        package let codec: String
        /// Square pixels of the picture as displayed: after cropping, and as wide as its sample aspect ratio makes it.
        package let width: Int
        package let height: Int
        /// Frames per second with three decimals, for example "29.970".
        package let frameRate: String
        package let videoRange: VideoDescription.VideoRange
    }
}

extension PeriodDescription {
    /// A run of sound alone.
    init(run: Int, audio: AudioConfiguration) {
        self.index = run
        video = nil
        audioCodec = audio.codecString
    }

    /// - Parameters:
    ///   - first: the run's first picture, which may say how it is to be shown.
    ///   - frameDuration: what the time stamps say a picture lasts, as a fraction of two counts of ticks; parameter sets
    ///     only claim.
    init(
        run: Int, video: VideoDescription, first: VideoPacket, audio: AudioConfiguration?,
        frameDuration: (ticks: Int64, pictures: Int64)
    ) {
        self.index = run
        audioCodec = audio?.codecString
        let ticks = max(1, frameDuration.ticks)
        let thousandths = (Ticks.perSecond * 2000 * frameDuration.pictures + ticks) / (ticks * 2)
        let fraction = String(thousandths % 1000)
        self.video = VideoFormat(
            codec: video.codecString, width: Int((video.displayWidth + 0x8000) >> 16), height: video.height,
            frameRate: "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction,
            videoRange: first.preferredTransferCharacteristics
                .map(VideoDescription.VideoRange.init) ?? video.videoRange)
    }
}

/// What was left out or put in on the way, summed over the channel.
package struct SpliceCounts: Encodable, Equatable, Sendable {
    package var periods = 0
    /// Pictures between a signal and the first IDR (HEVC: or CRA) after it.
    package var framesBeforeSync = 0
    /// Leading pictures of an open GOP at the start of a run.
    package var leadingPictures = 0
    /// Pictures, and frames of sound, that the upstream sent again behind a seam, after they were published.
    package var duplicateFrames = 0
    package var duplicateAudioFrames = 0
    /// Key frames shown again beside sound that came without a picture.
    package var stillFrames = 0
    /// Samples whose times the sanitizer changed.
    package var timestampsSanitized = 0
    /// Pictures that carried no time of their own.
    package var inferredTimestamps = 0
    /// Holes of the upstream's own timeline that nobody told of (`TimestampGaps`), and ticks that lack in them together.
    package var timestampGaps = 0
    package var timestampGapTicks = 0
    /// Runs whose reorder delay exceeds the constant composition offset.
    package var periodsBeyondCompositionDelay = 0
    /// Output segments that had to begin without a sync sample: the group of pictures is longer than TARGETDURATION, or
    /// an upstream that had begun its segments with sync samples no longer does.
    package var segmentsWithoutSync = 0
    /// Pictures of runs whose parameter sets could not be described.
    package var unsupportedFrames = 0
    /// Audio frames that were decoded to be encoded again, and those that should have been but could not be decoded.
    package var audioTranscoded = 0
    package var audioUndecodable = 0
    /// Audio frames that overlapped, ended after their picture, or fitted no picture.
    package var audioOverlapping = 0
    package var audioTrimmed = 0
    package var audioDiscarded = 0
    /// Audio frames of which bytes were lost or doubted: a decoder would turn them into noise.
    package var audioDamaged = 0
    /// Audio frames that came before any of their stream had a time.
    package var audioUntimed = 0
    /// Frames of silence put where the source had none.
    package var audioSilence = 0
    /// Holes and overlaps of the sound inside runs.
    package var audioDriftCorrections = 0
    /// Dates of the upstream that were more than a second ahead of or behind the media in the middle of a run.
    package var datesRejected = 0
    package var messagesWritten = 0
    /// Event messages that the upstream told more than once.
    package var duplicateMessages = 0
    /// Timed metadata that belonged to no picture, or whose time did not come.
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

    /// Of several sources of one channel.
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
