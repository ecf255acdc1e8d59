import Channel
import LiveRing
import Synchronization
import Tracker

/// Elements in the collections of a channel's values, by path, so that growth is seen where it is.
///
/// Collections are found by reflection, so that none is missed. References are shared with others and not followed.
enum CollectionSizes {
    /// Elements that a limited collection may have. Some take days to become as long.
    static let limit = 512

    static func sizes(in value: Any, named name: String) -> [String: Int] {
        var sizes: [String: Int] = [:]
        measure(value, name, into: &sizes)
        return sizes
    }

    /// The collections that are longer than before, and longer than limited ones of `count` channels.
    static func grown(_ sizes: [String: Int], since before: [String: Int], of count: Int = 1) -> [String] {
        sizes.sorted { $0.key < $1.key }.compactMap { name, size in
            let old = before[name] ?? 0
            return size > max(limit * count, old + old / 10) ? "\(name): \(old), then \(size)" : nil
        }
    }

    private static func measure(_ value: Any, _ path: String, into sizes: inout [String: Int]) {
        // Bytes are no queue.
        if value is [UInt8] || value is ArraySlice<UInt8> || value is String { return }
        if let vector = value as? any SharedVector {
            sizes[path, default: 0] += vector.elements.count
            for element in vector.elements { measure(element, path, into: &sizes) }
            return
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .class: return
        case .collection, .set, .dictionary:
            sizes[path, default: 0] += mirror.children.count
            for child in mirror.children { measure(child.value, path, into: &sizes) }
        default:
            for child in mirror.children {
                // Omit the names of an optional's payload and of tuple elements.
                let name = child.label.flatMap { $0 == "some" || $0.hasPrefix(".") ? nil : ".\($0)" }
                measure(child.value, path + (name ?? ""), into: &sizes)
            }
        }
    }
}

/// A vector that keeps removed elements until a whole node of them is removed. Those are no growth.
private protocol SharedVector {
    var elements: [Any] { get }
}

extension PersistentVector: SharedVector {
    fileprivate var elements: [Any] { map { $0 } }
}

/// A session whose collections are counted on request, because the driver owns the session.
struct InspectedSession: IngestSession {
    final class Count: Sendable {
        private let state = Mutex((isRequested: false, sizes: [String: Int]()))

        func request() { state.withLock { $0.isRequested = true } }
        /// The last count.
        var sizes: [String: Int] { state.withLock { $0.sizes } }

        fileprivate func update(from session: ChannelSession) {
            guard state.withLock({ $0.isRequested }) else { return }
            let sizes = CollectionSizes.sizes(in: session, named: "session")
            state.withLock { $0 = (false, sizes) }
        }
    }

    var session: ChannelSession
    let count: Count

    var status: UpstreamStatus { session.status }

    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect] {
        count.update(from: session)
        return session.handle(input, at: now)
    }
}

extension CollectionSizes {
    /// Those of a relay, and of what it publishes.
    static func sizes(of relay: Relay, _ state: ChannelState) -> [String: Int] {
        let ring = state.snapshot.map { sizes(in: $0.index, named: "ring") } ?? [:]
        return sizes(in: relay, named: "relay").merging(ring) { $1 }
    }
}
