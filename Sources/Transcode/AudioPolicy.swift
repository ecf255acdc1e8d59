import Media

/// What becomes of a channel's sound.
package enum AudioPolicy: String, CaseIterable, Sendable {
    /// What fragmented MP4 carries and players take is copied; the rest is encoded again as AAC-LC.
    case copy
    /// All of it is encoded again as AAC-LC, at its own rate and with its own channels.
    case bridge
    /// The channel's first configuration is kept for ever if it is AAC-LC (else the AAC-LC nearest to it): what differs
    /// is encoded again, for players that read one init section only.
    case uniform
    /// The channel has no track of sound.
    case drop
}
