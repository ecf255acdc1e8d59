package import Media

/// Where an audio track beside the leading one continues.
package struct AudioTrackPosition: Equatable, Sendable {
    package let identity: AudioTrackIdentity
    /// The configuration of its last frames.
    package let configuration: AudioConfiguration
    /// Decode time of the next sample, in the audio timescale.
    package var decodeTime: Int64

    package init(identity: AudioTrackIdentity, configuration: AudioConfiguration, decodeTime: Int64) {
        self.identity = identity
        self.configuration = configuration
        self.decodeTime = decodeTime
    }
}
