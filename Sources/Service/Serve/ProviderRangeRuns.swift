import LiveRing
import WebServer

/// The ranges of providers' archives that run at once, and who asked for them. Each has what it fetched on the disk.
struct ProviderRangeRuns {
    static let limit = 8
    /// The limit for one client: zapping and seeking ask for a new range each.
    static let limitPerClient = 4
    /// The bytes for which the disk needs room: of media of 8 Mbit/s.
    private static let bytesPerSecond: UInt64 = 1_000_000
    /// Bytes of the disk that stay free.
    private static let reserve: UInt64 = 1 << 30

    private var clients: [String: ClientNetwork] = [:]

    /// The reason why a range may not begin to run; nil if it may, or runs already.
    /// - Parameters:
    ///   - name: of the range. That of another channel may run.
    ///   - running: the bytes that each range has on the disk.
    ///   - freeBytes: of the disk; nil: it is not known.
    mutating func admit(
        _ name: String, for client: ClientNetwork, running: [String: UInt64], freeBytes: UInt64?
    ) -> ChannelSupervisor.Refusal? {
        guard let needed = Self.bytes(of: name), running[name] == nil else { return nil }
        clients = clients.filter { running[$0.key] != nil }
        guard running.count < Self.limit else { return .full(limit: Self.limit) }
        guard clients.values.count(where: { $0 == client }) < Self.limitPerClient else {
            return .failed(
                reason: "\(Self.limitPerClient) ranges of archives run for this client.", retryAfter: .seconds(30))
        }
        let missing = running.reduce(needed) { sum, range in
            let whole = Self.bytes(of: range.key) ?? 0
            return sum + whole - min(range.value, whole)
        }
        if let freeBytes, freeBytes < missing + Self.reserve {
            return .failed(
                reason: "The disk has no room for this range: \(missing >> 20) MiB are needed.",
                retryAfter: .seconds(60))
        }
        clients[name] = client
        return nil
    }

    private static func bytes(of name: String) -> UInt64? {
        ProviderRange(name: name).map { UInt64($0.duration) * bytesPerSecond }
    }
}
