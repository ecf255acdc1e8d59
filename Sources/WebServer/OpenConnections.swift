package import HTTP
import NIOCore
package import Support
import Synchronization

/// The open connections of a server, which closes them when it stops.
package final class OpenConnections: Sendable {
    package typealias Limits = ClientAdmission<ObjectIdentifier>.Limits

    private struct State {
        var channels: [ObjectIdentifier: any NIOCore.Channel] = [:]
        var admission: ClientAdmission<ObjectIdentifier>
        /// Connections that are being sent a refusal.
        var refusing = 0
        /// Succeeds when the last connection is closed; nil while the server runs.
        var drained: EventLoopPromise<Void>?
    }

    /// How a new connection is handled.
    package enum Treatment: Equatable, Sendable {
        case serve
        /// The connection gets the status 503.
        case refuse
        /// The connection is closed without an answer, because too many are being refused.
        case drop
    }

    /// The most connections that are refused with an answer at once. The reserve of descriptors covers them.
    static let maxRefusing = 32

    private let state: Mutex<State>
    private let closing = Atomic(false)
    let requests: RequestLimiter?
    let work: RequestWork

    package init(_ limits: Limits = Limits(), requests: RequestLimiter? = nil, work: RequestWork = RequestWork()) {
        state = Mutex(State(admission: ClientAdmission(limits)))
        self.requests = requests
        self.work = work
    }

    /// The counts for `/status.json`.
    package var counts: ClientCounts {
        state.withLock { state in
            ClientCounts(
                connections: state.admission.count, refused: state.admission.refused,
                closedWithoutRequest: state.admission.replaced, throttledRequests: requests?.refused ?? 0,
                busyRequests: work.refused)
        }
    }

    /// How many connections may be open at once; nil: any number.
    package var limit: Int? {
        let total = state.withLock { $0.admission.limits.total }
        return total == .max ? nil : total
    }

    /// Decides about a new connection, and adds it until it closes. While the server stops, an accepted connection closes
    /// after its first response.
    func insert(_ channel: any NIOCore.Channel) -> Treatment {
        let id = ObjectIdentifier(channel)
        let address = ClientNetwork(channel.remoteAddress?.ipAddress)
        let (treatment, victim, isDraining) = state.withLock { state in
            let decision = state.admission.admit(id, from: address)
            var victim: (any NIOCore.Channel)?
            if case .replace(let id) = decision { victim = state.channels[id] }
            let treatment = decision != .refuse ? Treatment.serve : state.refusing < Self.maxRefusing ? .refuse : .drop
            if treatment == .refuse { state.refusing += 1 }
            if treatment != .drop { state.channels[id] = channel }
            return (treatment, victim, state.drained != nil)
        }
        victim?.close(promise: nil)
        guard treatment != .drop else { return .drop }
        channel.closeFuture.whenComplete { _ in self.remove(channel, wasRefused: treatment == .refuse) }
        if isDraining { Self.quiesce(channel) }
        return treatment
    }

    /// Whether each connection closes after its next response, because another process accepts new ones.
    var isClosing: Bool { closing.load(ordering: .relaxed) }

    /// Whether no connection is open.
    package var isEmpty: Bool { state.withLock { $0.channels.isEmpty } }

    /// Lets each connection close after its next response. Idle connections stay open, so that no request is lost that is
    /// under way. HTTP/2 connections are told to send no further requests (RFC 9113 §6.8).
    func beginClosing() {
        closing.store(true, ordering: .relaxed)
        for channel in state.withLock({ Array($0.channels.values) }) {
            channel.pipeline.fireUserInboundEventTriggered(ConnectionsClosing())
        }
    }

    /// Keeps connections open after a response again.
    func endClosing() { closing.store(false, ordering: .relaxed) }

    func recordRequest(_ channel: any NIOCore.Channel) {
        state.withLock { $0.admission.recordRequest(ObjectIdentifier(channel)) }
    }

    /// Closes idle connections now and the others after the response under way.
    /// - Parameter loop: event loop of the promise.
    /// - Returns: a promise that succeeds when no connection is open; nil if the server is already stopping.
    func drain(on loop: any EventLoop) -> EventLoopPromise<Void>? {
        let (drained, channels) = state.withLock { state -> (EventLoopPromise<Void>?, [any NIOCore.Channel]) in
            guard state.drained == nil else { return (nil, []) }
            state.drained = loop.makePromise()
            return (state.drained, Array(state.channels.values))
        }
        // The event loop of a server that was stopped earlier may be gone.
        guard let drained else { return nil }
        for channel in channels { Self.quiesce(channel) }
        completeIfDrained()
        return drained
    }

    /// Closes the connections that are still open. When this returns, their handlers have been notified, and no
    /// connection calls its event loop any more.
    func close() async {
        for channel in state.withLock({ Array($0.channels.values) }) {
            channel.close(promise: nil)
            // The result of `close` arrives before `closeFuture` completes, which `remove` depends on.
            try? await channel.closeFuture.get()
        }
    }

    private func remove(_ channel: any NIOCore.Channel, wasRefused: Bool) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.channels[id] = nil
            state.admission.remove(id)
            if wasRefused { state.refusing -= 1 }
        }
        completeIfDrained()
    }

    private func completeIfDrained() {
        state.withLock { $0.channels.isEmpty ? $0.drained : nil }?.succeed()
    }

    /// Sends the event on which `HTTPConnectionHandler` closes the connection, after the current response if there is
    /// one.
    private static func quiesce(_ channel: any NIOCore.Channel) {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
}

/// Inbound: the connection closes after its next response.
struct ConnectionsClosing: Sendable {}
