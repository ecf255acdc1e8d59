/// What became downstream of a segment of picture or sound: what an intake cannot know by itself.
package enum DeliveryOutcome: Equatable, Sendable {
    /// Something was published of it, or of what was held until it came.
    case published
    /// It holds something to publish, which waits for what comes next, or for its sound.
    case held
    case refused(UnpublishedReason)
}

/// Why nothing of what is listed is published.
package enum UnpublishedReason: Equatable, Sendable {
    /// It does not come, and no try of it has failed yet.
    case pending
    /// It did not come, or will not.
    case lost(SegmentLoss.Reason)
    /// By all appearances its key is another one.
    case undecryptable
    /// There is no media in it that can be republished.
    case unreadable
    /// It can be read, and nothing in it can be shown, or that was not shown before.
    case noVideo
    /// What is in it waits for sound that does not come.
    case noAudio
}
