import Media

/// How a channel's audio is processed.
package enum AudioPolicy: String, CaseIterable, Sendable {
    /// Copy audio that players decode in fragmented MP4 and in transport streams. Transcode other audio to AAC-LC, and, in
    /// a channel of AAC, audio in any other codec.
    case copy
    /// Transcode all audio to AAC-LC at its own sample rate and channel count.
    case bridge
    /// Transcode to one configuration for the life of the channel, for players that read only one init section.
    ///
    /// The configuration is the channel's first, or the nearest AAC-LC. Audio that already has it is copied.
    case uniform
    /// Publish no audio track.
    case drop
}
