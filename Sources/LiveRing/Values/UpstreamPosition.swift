import Playlist
package import Support

/// The end of a published segment in the numbers and dates of its source.
package struct UpstreamPosition: Equatable, Sendable {
    /// The index of the source in the channel; 0 is the primary upstream.
    package var sourceIndex: Int
    /// The first segment of the source that may contain media which this segment and those before it do not.
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
