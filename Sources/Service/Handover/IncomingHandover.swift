/// Decides how a process takes over the connections and channels of its predecessor.
package struct IncomingHandover: Equatable, Sendable {
    package enum Input: Equatable, Sendable {
        case message(HandoverMessage)
        /// The predecessor has ended.
        case predecessorEnded
        /// Configuration and rings are checked.
        /// - Parameter refusal: why the process cannot start; nil: it can.
        case checked(refusal: String?)
        /// The process accepts connections.
        case started
        /// A channel is published, or is not needed.
        case taken(channel: String)
        case failed(channel: String, reason: String)
    }

    package enum Effect: Equatable, Sendable {
        case send(HandoverMessage)
        /// Read the rings of the channels, and check that they can be continued. `checked` follows.
        case check(HandoverState)
        /// Start the server. `started` follows.
        case start(HandoverState)
        /// Publish a channel. `taken` or `failed` follows.
        case take(channel: String)
        /// Publish every channel that was not released.
        case takeAll
        /// The process is the service now.
        case becomeService
        /// End, because the predecessor continues.
        case end(reason: String)
    }

    private enum State: Equatable, Sendable {
        case waiting
        case checking
        case ready
        case starting
        case following
        case over
    }

    private var state = State.waiting
    /// Whether the predecessor has ended before the handover was complete.
    private var isAlone = false

    package init() {}

    package mutating func handle(_ input: Input) -> [Effect] {
        switch (state, input) {
        case (.waiting, .message(.offer(let format, let offered))):
            guard format == HandoverMessage.format else {
                return refuse("it hands over in format \(format), and this is \(HandoverMessage.format)")
            }
            state = .checking
            return [.check(offered)]
        case (.checking, .checked(let refusal)):
            if let refusal { return refuse(refusal) }
            state = .ready
            return isAlone ? start(HandoverState()) : [.send(.ready)]
        case (.ready, .message(.accept(let handed))): return start(handed)
        case (.starting, .started):
            state = .following
            return isAlone ? becomeService([.takeAll]) : [.send(.accepting)]
        case (.starting, .message(.released(let channel))), (.following, .message(.released(let channel))):
            return [.take(channel: channel)]
        case (.following, .taken(let channel)): return [.send(.taken(channel: channel))]
        case (.following, .failed(let channel, let reason)): return [.send(.failed(channel: channel, reason: reason))]
        case (.following, .message(.completed)): return becomeService([])
        case (.waiting, .predecessorEnded):
            state = .over
            return [.end(reason: "the running process has ended")]
        case (.checking, .predecessorEnded), (.starting, .predecessorEnded):
            isAlone = true
            return []
        case (.ready, .predecessorEnded):
            isAlone = true
            return start(HandoverState())
        case (.following, .predecessorEnded): return becomeService([.takeAll])
        default: return []
        }
    }

    private mutating func refuse(_ reason: String) -> [Effect] {
        state = .over
        return [.send(.refused(reason: reason)), .end(reason: reason)]
    }

    private mutating func start(_ handed: HandoverState) -> [Effect] {
        state = .starting
        return [.start(handed)]
    }

    private mutating func becomeService(_ effects: [Effect]) -> [Effect] {
        state = .over
        return effects + [.becomeService]
    }
}
