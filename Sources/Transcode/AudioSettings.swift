package import Media

/// How a channel's audio is republished.
package struct AudioSettings: Sendable {
    package var policy: AudioPolicy
    /// Whether silence, in the coding of the track, fills the times at which the source has no audio.
    package var fillsSilence: Bool
    /// The audio tracks beside the leading one.
    package var tracks: AudioTrackChoice

    package init(
        policy: AudioPolicy = .copy, fillsSilence: Bool = true, tracks: AudioTrackChoice = .all
    ) {
        self.policy = policy
        self.tracks = tracks
        self.fillsSilence = fillsSilence
    }
}
