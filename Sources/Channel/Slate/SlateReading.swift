/// Decides when the slate of ad breaks is read: once for all who ask, and again a while after a failure.
struct SlateReading<Media, Waiter> {
    enum State {
        case unread
        /// - Parameter failure: of the reading before this one; nil: there is none.
        case reading(waiters: [Waiter], failure: SlateError?)
        case read(Media)
        case failed(SlateError, at: Duration)
    }

    enum Step {
        /// The slate is to be read; whoever asks waits.
        case read
        case wait
        case use(Media)
        /// Its last reading failed, or too many wait.
        case refuse
    }

    /// After a failure, nobody reads the slate for so long.
    static var retryPause: Duration { .seconds(30) }
    static var mostWaiters: Int { 1000 }

    private(set) var state = State.unread

    /// - Parameter now: time since the channel began.
    mutating func request(_ waiter: Waiter, at now: Duration) -> Step {
        switch state {
        case .read(let media): return .use(media)
        case .failed(_, let time) where now - time < Self.retryPause: return .refuse
        case .failed(let failure, _):
            state = .reading(waiters: [waiter], failure: failure)
            return .read
        case .unread:
            state = .reading(waiters: [waiter], failure: nil)
            return .read
        case .reading(let waiters, _) where waiters.count >= Self.mostWaiters: return .refuse
        case .reading(let waiters, let failure):
            state = .reading(waiters: waiters + [waiter], failure: failure)
            return .wait
        }
    }

    /// Ends a reading.
    /// - Returns: those who waited, and the change that others may want to know of; nil if it is as before.
    mutating func finish(
        _ result: Result<Media, SlateError>, at now: Duration
    ) -> (waiters: [Waiter], change: BreakSlateChange?) {
        guard case .reading(let waiters, let failure) = state else { return ([], nil) }
        switch result {
        case .success(let media):
            state = .read(media)
            return (waiters, failure == nil ? nil : .recovered)
        case .failure(let error):
            state = .failed(error, at: now)
            return (waiters, error == failure ? nil : .failed(error))
        }
    }
}

/// A change of whether the slate of ad breaks can be read.
package enum BreakSlateChange: Equatable, Sendable {
    /// Ad breaks stay as they are until it can be read.
    case failed(SlateError)
    case recovered
}
