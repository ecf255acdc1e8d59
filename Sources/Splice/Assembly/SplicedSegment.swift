import Demux
package import Media
package import Mux
package import Support

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
    package let position: TimelinePosition
    /// Upstream media sequence number of the segment that completed this one.
    package let mediaSequence: UInt64
    package let upstreamEnd: UpstreamSegmentEnd
    package let description: PeriodDescription
    /// The audio tracks beside the leading one, in the order of `position`.
    package var furtherAudio: [SplicedAudioTrack] = []
    /// The video tracks beside the leading one, in the order of `position`.
    package var furtherVideo: [VariantMedia<SplicedVideoTrack>] = []
    /// Bytes of the leading audio, which all video tracks share.
    package var leadingAudioBytes = 0
    /// The identity of the leading audio; nil if the upstream does not say.
    package var audioTrack: AudioTrackIdentity?
    package var captions = CaptionChannels()
    /// The PES packets of DVB subtitles and teletext in this segment, in order of time.
    package var privateData: [PlacedMessage] = []
    /// The streams of DVB subtitles and teletext of the upstream's program, with packets here or without.
    package var privateDataStreams: [PrivateDataStream] = []
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

/// Position on the timeline of the media that one upstream segment has of one period. Media timed against the same
/// source, such as subtitles, is placed by it.
package struct SourceSpan: Equatable, Sendable {
    package let period: Int
    package let mediaSequence: UInt64
    package let discontinuitySequence: UInt64
    /// Upstream date of the first frame in milliseconds since 1970; nil if there is none.
    package let programDateTime: Int64?
    /// Presentation times of the first frame and of the end of the last, unwrapped, on the source's clock.
    package let start: Ticks
    package let end: Ticks
    /// Presentation time of the first frame on the channel's timeline.
    let outputStart: Ticks
}

extension SourceSpan {
    init(_ part: some MetadataCarrying, period: Int, on timeline: PeriodTimeline) {
        let span = part.videoSpan
        self.init(
            period: period, mediaSequence: part.mediaSequence, discontinuitySequence: part.discontinuitySequence,
            programDateTime: part.programDateTime, start: span.start, end: span.end,
            outputStart: timeline.presentation(of: span.start))
    }

    var offset: Ticks { outputStart - start }
    var outputEnd: Ticks { end + offset }
}
