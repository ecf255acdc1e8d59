import Splice
package import Transcode

/// How a channel's audio is republished.
package struct AudioSettings: Sendable {
    package var policy: AudioPolicy
    /// Whether silence, in the coding of the track, fills the times at which the source has no audio.
    package var fillsSilence: Bool

    package init(policy: AudioPolicy = .copy, fillsSilence: Bool = true) {
        self.policy = policy
        self.fillsSilence = fillsSilence
    }
}
