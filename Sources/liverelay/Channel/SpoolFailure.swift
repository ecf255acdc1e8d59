import LiveRing

/// Whether the spool takes what is published, and what it did not take since when it does not. Every segment is tried:
/// a disk that is full may empty at any moment.
struct SpoolFailure: Equatable, Sendable {
    /// With the newest that was refused; nil when the spool takes all.
    private(set) var error: RingError?
    /// Refused one after the other.
    private(set) var segments = 0

    /// One was refused.
    /// - Returns: what a person wants to know of it: the first one of several.
    mutating func record(_ error: RingError) -> [ChannelPipeline.Event] {
        guard error.isDiskError else { return [.publishFailed(error)] }
        let isNews = self.error == nil
        self.error = error
        segments += 1
        return isNews ? [.publishFailed(error)] : []
    }

    /// One was taken.
    mutating func clear() -> [ChannelPipeline.Event] {
        defer { self = SpoolFailure() }
        return error == nil ? [] : [.publishResumed(after: segments)]
    }
}
