import Synchronization

/// The counts of a server's requests and responses, by kind of resource.
package final class HTTPTraffic: Sendable {
    package struct Answer: Hashable, Sendable {
        package let route: Route.Kind
        package let status: Int
    }

    package struct Counts: Equatable, Sendable {
        package var answers: [Answer: Int] = [:]
        package var delays: [Route.Kind: LatencyHistogram] = [:]
        /// Bytes of bodies that were handed to sockets.
        package var sentBytes: [Route.Kind: UInt64] = [:]
        package var openConnections = 0
    }

    private let state = Mutex(Counts())

    package init() {}

    package var counts: Counts { state.withLock { $0 } }

    /// - Parameter delay: time from the request's head to the response's head.
    package func record(_ route: Route.Kind, status: Int, after delay: Duration) {
        state.withLock {
            $0.answers[Answer(route: route, status: status), default: 0] += 1
            $0.delays[route, default: LatencyHistogram()].record(delay)
        }
    }

    package func addSent(_ byteCount: Int, of route: Route.Kind) {
        state.withLock { $0.sentBytes[route, default: 0] += UInt64(byteCount) }
    }

    package func connectionOpened() { state.withLock { $0.openConnections += 1 } }

    package func connectionClosed() { state.withLock { $0.openConnections -= 1 } }
}

/// Counts of durations, by upper bound.
package struct LatencyHistogram: Equatable, Sendable {
    /// From a playlist in memory to the longest time for which the first request of a channel is held.
    package static let bounds: [Duration] = [
        .milliseconds(1), .milliseconds(5), .milliseconds(25), .milliseconds(100), .milliseconds(500), .seconds(1),
        .milliseconds(2500), .seconds(5), .seconds(10), .seconds(15),
    ]

    /// For each bound, the durations up to this bound and above the preceding one; last, the durations above all
    /// bounds.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    package private(set) var sum = Duration.zero

    mutating func record(_ duration: Duration) {
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
        sum += duration
    }
}

/// Counts the bytes of one channel that are sent to clients.
package final class ByteCounter: Equatable, Sendable {
    /// The channel's slug; nil in a process of one channel.
    package let channel: String?
    private let sum = Atomic<UInt64>(0)

    package init(channel: String? = nil) { self.channel = channel }

    package var count: UInt64 { sum.load(ordering: .relaxed) }

    package func add(_ byteCount: Int) { sum.wrappingAdd(UInt64(byteCount), ordering: .relaxed) }

    package static func == (left: ByteCounter, right: ByteCounter) -> Bool { left === right }
}
