/// Decides how a running process hands its connections and channels over to its successor.
///
/// The successor starts and checks everything first; until then nothing changes. Then it accepts the connections, and
/// reads the rings of all channels, while this process finishes its own connections. Finally each channel changes hands
/// at a segment boundary. If the successor fails at any point before the end, this process continues as before.
package struct OutgoingHandover: Equatable, Sendable {
    package struct Limits: Equatable, Sendable {
        /// From the start of the successor until it is ready: it reads the rings of all channels.
        package var reading = Duration.seconds(120)
        /// From then until no connection is accepted any more, and until the successor accepts connections.
        package var start = Duration.seconds(30)
        /// The time in which clients are asked to use another connection. Players send a request once a target duration.
        package var drain = Duration.seconds(15)
        /// The longest wait for a channel's next segment, after which the channel changes hands without one.
        package var boundary = Duration.seconds(15)
        /// From the last release of a channel until the successor publishes all released channels.
        package var take = Duration.seconds(60)

        package init() {}
    }

    package enum Input: Equatable, Sendable {
        case message(HandoverMessage)
        /// The successor has ended.
        case successorEnded(reason: String)
        /// This process accepts no connections any more, and runs no other channels than those of the state.
        case stoppedAccepting(HandoverState)
        /// All connections are closed.
        case drained
        /// A channel has published a segment.
        case published(channel: String)
        /// The ring of a channel is closed.
        case closed(channel: String)
        /// Time has passed.
        case wake
    }

    package enum Effect: Equatable, Sendable {
        case send(HandoverMessage)
        /// Stop accepting connections and starting channels. `stoppedAccepting` follows.
        case stopAccepting
        /// Close each connection after its next response. `drained` may follow.
        case drain
        /// End the run of a channel and close its ring. `closed` follows.
        case release(channel: String)
        /// The successor is the service. Finish the remaining responses, and end.
        case complete
        /// End the successor, accept connections again, and run all channels again.
        case takeBack(reason: String)
        /// The successor cannot start. Nothing has changed.
        case abandon(reason: String)
    }

    private enum State: Equatable, Sendable {
        case starting(until: Duration)
        case stopping(until: Duration)
        case transferring(HandoverState, until: Duration)
        case draining(channels: Set<String>, until: Duration)
        case releasing(Releases)
        case over
    }

    /// Channels by how far their release has come.
    private struct Releases: Equatable, Sendable {
        /// Waiting for the next segment.
        var publishing: Set<String>
        /// When the wait ends.
        var boundary: Duration
        /// Their runs end.
        var closing: Set<String> = []
        /// The successor opens their rings.
        var offered: Set<String> = []
        /// When the successor must have taken all channels.
        var deadline: Duration

        var isEmpty: Bool { publishing.isEmpty && closing.isEmpty && offered.isEmpty }
    }

    private let limits: Limits
    private var state: State

    /// - Parameter now: time since the process began.
    package init(limits: Limits = Limits(), at now: Duration) {
        self.limits = limits
        state = .starting(until: now + limits.reading)
    }

    /// Whether the handover has succeeded or failed.
    package var isOver: Bool { state == .over }

    /// When `.wake` is due; nil: not before another input.
    package var nextWake: Duration? {
        switch state {
        case .starting(let until), .stopping(let until), .transferring(_, let until), .draining(_, let until): until
        case .releasing(let releases):
            releases.publishing.isEmpty ? releases.deadline : min(releases.boundary, releases.deadline)
        case .over: nil
        }
    }

    /// - Parameter now: time since the process began; never less than before.
    package mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
        switch (state, input) {
        case (.over, _): return []
        case (_, .successorEnded(let reason)), (_, .message(.refused(let reason))): return fail(reason)
        case (_, .message(.failed(let channel, let reason))): return fail("\(channel): \(reason)")
        case (.starting, .message(.ready)):
            state = .stopping(until: now + limits.start)
            return [.stopAccepting]
        case (.stopping, .stoppedAccepting(let handed)):
            state = .transferring(handed, until: now + limits.start)
            return [.send(.accept(handed))]
        case (.transferring(let handed, _), .message(.accepting)):
            state = .draining(channels: Set(handed.channels.keys), until: now + limits.drain)
            return [.drain]
        case (.draining(let channels, _), .drained): return beginReleasing(channels, at: now)
        case (.draining(let channels, let until), _) where until <= now: return beginReleasing(channels, at: now)
        case (.releasing(let releases), _): return release(releases, after: input, at: now)
        case (.starting(let until), _) where until <= now: return fail("the new process was not ready in time")
        case (.stopping(let until), _) where until <= now: return fail("connections could not be handed over in time")
        case (.transferring(_, let until), _) where until <= now:
            return fail("the new process accepted no connections in time")
        default: return []
        }
    }

    private mutating func fail(_ reason: String) -> [Effect] {
        defer { state = .over }
        if case .starting = state { return [.abandon(reason: reason)] }
        return [.takeBack(reason: reason)]
    }

    private mutating func beginReleasing(_ channels: Set<String>, at now: Duration) -> [Effect] {
        let boundary = now + limits.boundary
        return settle(Releases(publishing: channels, boundary: boundary, deadline: boundary + limits.take))
    }

    private mutating func release(_ before: Releases, after input: Input, at now: Duration) -> [Effect] {
        var (releases, effects) = (before, [Effect]())
        switch input {
        case .published(let channel):
            if releases.publishing.remove(channel) != nil {
                releases.closing.insert(channel)
                effects.append(.release(channel: channel))
            }
        case .closed(let channel):
            // A channel may also end by itself.
            let wasOpen = releases.publishing.remove(channel) != nil || releases.closing.remove(channel) != nil
            if wasOpen {
                releases.offered.insert(channel)
                effects.append(.send(.released(channel: channel)))
            }
        case .message(.taken(let channel)): releases.offered.remove(channel)
        default: break
        }
        if releases.boundary <= now {
            effects += releases.publishing.sorted().map { .release(channel: $0) }
            releases.closing.formUnion(releases.publishing)
            releases.publishing = []
        }
        if releases.deadline <= now, let late = releases.closing.union(releases.offered).min() {
            return effects + fail("\(late) was not taken over in time")
        }
        return effects + settle(releases)
    }

    private mutating func settle(_ releases: Releases) -> [Effect] {
        guard releases.isEmpty else {
            state = .releasing(releases)
            return []
        }
        state = .over
        return [.send(.completed), .complete]
    }
}
