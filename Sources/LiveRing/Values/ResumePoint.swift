import Playlist
package import Support

/// The state that a restarted process needs to continue after a segment, so that no published clock goes back.
///
/// The ring stores the resume point with the entry and does not interpret it.
package struct ResumePoint: Equatable, Sendable {
    /// `tfdt` of the next video fragment, in the timescale of the video track (ISO/IEC 14496-12 §8.8.12).
    package var videoDecodeTime: UInt64
    /// `tfdt` of the next audio fragment, in the timescale of the audio track.
    package var audioDecodeTime: UInt64
    /// `mfhd` sequence number of the next fragment (ISO/IEC 14496-12 §8.8.5).
    package var fragmentSequenceNumber: UInt64
    /// The end of the segment's presentation on the published timeline, in 90 kHz ticks.
    package var presentationEnd: Int64
    /// The composition offset of the first sample of every period, in 90 kHz ticks; constant for the life of a channel.
    package var compositionOffset: Int64
    /// The audio configuration in the text form of the splice engine; nil without audio.
    package var audioConfiguration: String?
    /// The audio tracks beside the leading one, in the order in which the channel got them.
    package var audioTracks: [AudioTrackPoint] = []
    /// The video tracks beside the leading one, in the same way. The texts are those of the splice engine, without white space.
    package var videoTracks: [String] = []
    /// The end of the segment in the upstream; nil for a gap or slate.
    package var upstream: UpstreamPosition?

    package init(
        videoDecodeTime: UInt64, audioDecodeTime: UInt64, fragmentSequenceNumber: UInt64, presentationEnd: Int64,
        compositionOffset: Int64, audioConfiguration: String? = nil, audioTracks: [AudioTrackPoint] = [],
        upstream: UpstreamPosition? = nil
    ) {
        self.videoDecodeTime = videoDecodeTime
        self.audioDecodeTime = audioDecodeTime
        self.fragmentSequenceNumber = fragmentSequenceNumber
        self.presentationEnd = presentationEnd
        self.compositionOffset = compositionOffset
        self.audioConfiguration = audioConfiguration
        self.audioTracks = audioTracks
        self.upstream = upstream
    }
}

/// The position after a published segment in the numbers and dates of its source.
package struct UpstreamPosition: Equatable, Sendable {
    /// The index of the source in the channel; 0 is the primary upstream.
    package var sourceIndex: Int
    /// The first segment of the source that may contain media not published up to here.
    package var mediaSequence: UInt64
    /// The time of the source at which that media begins; nil if the source has no dates.
    package var programDateTime: ProgramDateTime?
    /// The fingerprint of the published frames in the text form of the splice engine; nil without frames.
    package var publishedFrames: String?

    package init(
        sourceIndex: Int, mediaSequence: UInt64, programDateTime: ProgramDateTime? = nil,
        publishedFrames: String? = nil
    ) {
        self.sourceIndex = sourceIndex
        self.mediaSequence = mediaSequence
        self.programDateTime = programDateTime
        self.publishedFrames = publishedFrames
    }
}
