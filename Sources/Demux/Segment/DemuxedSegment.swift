package import Media

/// The output of one demuxed segment: the packets of each track in stream order.
package struct DemuxedSegment: Equatable, Sendable {
    package var video: [VideoPacket] = []
    package var audio: [AudioPacket] = []
    /// Whether the latest program tables or the init section list a video track, even if it has no frame here.
    package var declaresVideo = false
    /// Whether they list an audio track.
    package var declaresAudio = false
    /// Metadata in stream order.
    package var metadata: [TimedMetadata] = []
    package var counts = DemuxCounts()
    /// Whether conditional access scrambles the video, or the only audio, so that it has no frame here.
    package var isScrambled = false
    /// The program followed at the end of the segment; nil if the container has no programs.
    package var program: ProgramSelection?
    /// Sample entries of the audio tracks that cannot be republished; of fragmented MP4 alone.
    package var unsupportedAudio: [String] = []

    package init() {}

    /// Appends an item of timed metadata, or counts it if there are too many.
    mutating func append(_ item: TimedMetadata) {
        guard metadata.count < DemuxLimits.messages else {
            counts.excessMessages += 1
            return
        }
        metadata.append(item)
    }

    /// Whether there is no audio and the program lists none; false if the container has no programs.
    package var declaresNoAudio: Bool { audio.isEmpty && !declaresAudio && program != nil }

    /// Whether there is audio, and no video is declared.
    package var isAudioOnly: Bool { !declaresVideo && video.isEmpty && !audio.isEmpty }
}
