package import Media

/// What one fed segment gave: the packets of each track in the order in which they began.
package struct DemuxedSegment: Equatable, Sendable {
    package var video: [VideoPacket] = []
    package var audio: [AudioPacket] = []
    /// The newest programme tables or the init section name a video track, whether or not it gave a picture here.
    package var declaresVideo = false
    /// The same of a track of sound.
    package var declaresAudio = false
    /// In the order in which it stood.
    package var metadata: [TimedMetadata] = []
    package var counts = DemuxCounts()
    /// What is followed at its end; nil when the container has no programmes.
    package var program: ProgramSelection?

    package init() {}

    /// No sound, and its programme lists none; without a programme nobody knows.
    package var declaresNoAudio: Bool { audio.isEmpty && !declaresAudio && program != nil }

    /// Sound, and nobody says that a picture goes with it.
    package var isAudioOnly: Bool { !declaresVideo && video.isEmpty && !audio.isEmpty }
}
