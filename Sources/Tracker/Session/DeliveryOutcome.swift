/// The result of an audio or video delivery, which only the downstream modules know.
package enum DeliveryOutcome: Equatable, Sendable {
    /// The segment, or media held until it arrived, was published.
    case published
    /// The segment can be published, but waits for the next one or for its audio.
    case held
    case refused(UnpublishedReason)
}

/// The reason why nothing of what is listed is published.
package enum UnpublishedReason: Equatable, Sendable {
    /// No segment has arrived, and no attempt has failed yet.
    case pending
    /// The segment did not arrive, or will not.
    case lost(SegmentLoss.Reason)
    /// The segment appears to be encrypted with another key.
    case undecryptable
    /// The segment has no media that can be republished.
    case unreadable
    /// The segment can be read, but has no video to present, or none that was not published before.
    case noVideo
    /// The segment has video, but no frame that decoding can begin with.
    case noRandomAccess
    /// The segment waits for audio that does not arrive.
    case noAudio
}
