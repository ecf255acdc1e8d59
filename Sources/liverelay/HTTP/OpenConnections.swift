import NIOCore
import Synchronization

/// The open connections of a server, which closes them when it stops.
final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Succeeds when the last connection is closed; nil while the server runs.
        var drained: EventLoopPromise<Void>?
    }

    private let state = Mutex(State())

    /// Adds a connection until it closes. While the server stops, the connection closes after its first response.
    func insert(_ channel: any Channel) {
        let isDraining = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.drained != nil
        }
        channel.closeFuture.whenComplete { _ in self.remove(channel) }
        if isDraining { Self.quiesce(channel) }
    }

    /// Closes idle connections now and the others after the response under way.
    /// - Parameter loop: event loop of the promise.
    /// - Returns: a promise that succeeds when no connection is open; nil if the server is already stopping.
    func drain(on loop: any EventLoop) -> EventLoopPromise<Void>? {
        let (drained, channels) = state.withLock { state -> (EventLoopPromise<Void>?, [any Channel]) in
            guard state.drained == nil else { return (nil, []) }
            state.drained = loop.makePromise()
            return (state.drained, Array(state.channels.values))
        }
        // The event loop of a server that was stopped before may be gone.
        guard let drained else { return nil }
        for channel in channels { Self.quiesce(channel) }
        completeIfDrained()
        return drained
    }

    /// Closes the connections that are still open. When this returns, their handlers know it, and no connection calls
    /// its event loop any more.
    func close() async {
        for channel in state.withLock({ Array($0.channels.values) }) {
            channel.close(promise: nil)
            // The end of the close itself comes earlier than `closeFuture`, by which `remove` is called.
            try? await channel.closeFuture.get()
        }
    }

    private func remove(_ channel: any Channel) {
        _ = state.withLock { $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
        completeIfDrained()
    }

    private func completeIfDrained() {
        state.withLock { $0.channels.isEmpty ? $0.drained : nil }?.succeed()
    }

    /// NIOHTTP1's pipelining handler closes the connection on this event, or after the end of the response under way.
    private static func quiesce(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
}
