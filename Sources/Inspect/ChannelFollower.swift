package import Conformance
package import Fetch
import Support

/// Follows a channel to judge it: reloads its playlists by the cadence of RFC 8216bis §6.3.4 and fetches what its checker
/// wants, over a limited number of connections. Nothing is mended, and no request is repeated.
package struct ChannelFollower<C: Clock>: Sendable where C.Duration == Duration {
    package struct Options: Sendable {
        /// Requests at once.
        package var connections = 4
        /// How long a live channel is followed; a finished playlist is read to its end.
        package var length = Duration.seconds(60)
        package var variants = VariantsChecked.all
        package var excluded: Set<Rule> = []
        /// Segments of a live playlist that are fetched when it is first seen.
        package var firstSegments = 4
        /// Segments of a live playlist that may wait; the oldest beyond it are left out, and not judged.
        package var mostPending = 12
        /// Whether the URLs are those of files.
        package var isLocal = false

        package init() {}
    }

    private let fetcher: any Fetcher
    private let clock: C
    private let options: Options

    package init(_ fetcher: any Fetcher, clock: C, options: Options) {
        self.fetcher = fetcher
        self.clock = clock
        self.options = options
    }

    private enum Result: Sendable {
        case answer(CheckTarget, FetchOutcome, AnswerTime)
        case woken
    }

    /// Follows the channel until its end, for `Options.length`, or until the task is canceled: requests under way are
    /// then given up, and judged by nothing.
    /// - Returns: the checker at the end, and the outcome of the first request.
    package func follow(_ url: String) async -> Followed {
        var state = FollowState(url: url, options: options)
        let began = clock.now
        await withTaskGroup(of: Result.self) { group in
            var isSleeping = false
            while true {
                let now = began.duration(to: clock.now)
                state.isOver = state.isOver || state.isLive && now >= options.length
                while state.inFlight < options.connections, let target = state.next(at: now) {
                    state.inFlight += 1
                    group.addTask { [fetcher, clock] in
                        let requested = began.duration(to: clock.now)
                        let outcome = await fetcher.fetch(FetchRequest(target))
                        let received = began.duration(to: clock.now)
                        return .answer(target, outcome, AnswerTime(requested: requested, received: received))
                    }
                }
                if state.inFlight == 0, state.isOver || state.wakeTime == nil { break }
                if !isSleeping, !state.isOver, state.inFlight < options.connections, let wake = state.wakeTime {
                    isSleeping = true
                    let pause = max(.milliseconds(10), min(wake - now, .milliseconds(500)))
                    group.addTask { [clock] in
                        try? await clock.sleep(for: pause)
                        return .woken
                    }
                }
                let result = await group.next()
                guard !Task.isCancelled else { break }
                switch result {
                case .answer(let target, let outcome, let time)?: state.handle(target, outcome, time)
                case .woken?: isSleeping = false
                case nil: break
                }
            }
            group.cancelAll()
        }
        return state.finished()
    }
}

extension FetchRequest {
    fileprivate init(_ target: CheckTarget) {
        let purpose: Purpose =
            switch target.kind {
            case .playlist: .mediaPlaylist
            case .segment, .asset: .segment
            case .map: .map
            case .key: .key
            case .assets: .mediaPlaylist
            }
        self.init(purpose, url: target.url, byteRange: target.byteRange, duration: target.duration)
    }
}
