package import Playlist

/// What the splice needs to go on behind this segment after a restart, so that no published clock goes back.
/// The ring keeps it beside the entry and never looks into it.
package struct ResumePoint: Equatable, Sendable {
    /// `tfdt` of the next video fragment, in the video track's timescale (ISO/IEC 14496-12 §8.8.12).
    package var videoDecodeTime: UInt64
    /// `tfdt` of the next audio fragment, in the audio track's timescale.
    package var audioDecodeTime: UInt64
    /// `mfhd` sequence number of the next fragment (ISO/IEC 14496-12 §8.8.5).
    package var fragmentSequenceNumber: UInt64
    /// Where the presentation of this segment ends on the published timeline, 90 kHz ticks.
    package var presentationEnd: Int64
    /// The constant composition offset of every run's first sample, 90 kHz ticks: fixed for the life of a channel.
    package var compositionOffset: Int64
    /// What the track of sound is coded as, in words of the splice's; nil when there is none.
    package var audioConfiguration: String?
    /// Where in the upstream the segment ends; nil of what stands in for media that did not come.
    package var upstream: UpstreamPosition?

    package init(
        videoDecodeTime: UInt64, audioDecodeTime: UInt64, fragmentSequenceNumber: UInt64, presentationEnd: Int64,
        compositionOffset: Int64, sound: String? = nil, source: UpstreamPosition? = nil
    ) {
        self.audioConfiguration = sound
        self.upstream = source
        self.videoDecodeTime = videoDecodeTime
        self.audioDecodeTime = audioDecodeTime
        self.fragmentSequenceNumber = fragmentSequenceNumber
        self.presentationEnd = presentationEnd
        self.compositionOffset = compositionOffset
    }
}

/// Where a segment ends in what it was made of.
package struct UpstreamPosition: Equatable, Sendable {
    /// Which of the channel's sources; 0 is its own upstream.
    package var sourceIndex: Int
    /// The first of the source's segments of which something may not be in this segment or one before it.
    package var mediaSequence: UInt64
    /// When that begins, as the source dates it; nil where it does not.
    package var programDateTime: ProgramDateTime?
    /// What the pictures published are known by, in words of the splice's; nil where there are none.
    package var publishedFrames: String?

    package init(
        number: Int, mediaSequence: UInt64, programDateTime: ProgramDateTime? = nil, pictures: String? = nil
    ) {
        self.sourceIndex = number
        self.mediaSequence = mediaSequence
        self.programDateTime = programDateTime
        self.publishedFrames = pictures
    }
}
