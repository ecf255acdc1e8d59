/// The answers of upstreams to this node, of channels whose owners they do not answer.
///
/// Each upstream is asked rarely, because all nodes ask it at the same time.
struct UpstreamProbes: Equatable, Sendable {
    private struct Probe: Equatable {
        /// The epoch of the owner that the upstream does not answer.
        let epoch: UInt64
        let sentAt: Duration
        /// Whether the upstream answers this node; nil: not known yet.
        var isAnswered: Bool?
    }

    /// The most upstreams that are asked at a time.
    private static let limit = 8
    /// The time after which an upstream that did not answer is asked again.
    private static let interval = Duration.seconds(30)

    private var probes: [String: Probe] = [:]

    /// Chooses the upstreams to ask.
    /// - Parameter unanswered: the epochs of the channels whose upstream does not answer the owner.
    mutating func begin(_ unanswered: [String: UInt64], at now: Duration) -> [String] {
        probes = probes.filter { now - $0.value.sentAt < Self.interval }
        let free = Self.limit - probes.values.count { $0.isAnswered == nil }
        let next = unanswered.filter { name, epoch in
            probes[name].map { $0.epoch != epoch && $0.isAnswered == true } ?? true
        }.sorted { $0.key < $1.key }.prefix(max(0, free))
        for (name, epoch) in next { probes[name] = Probe(epoch: epoch, sentAt: now) }
        return next.map(\.key)
    }

    mutating func record(_ channel: String, isAnswered: Bool) { probes[channel]?.isAnswered = isAnswered }

    /// Records that the upstream did not answer this node while it owned the channel.
    mutating func recordSilence(of channel: String, at now: Duration) {
        probes[channel] = Probe(epoch: 0, sentAt: now, isAnswered: false)
    }

    /// Whether the upstream of a channel answers this node, but not the owner of the epoch.
    func isAnswered(_ channel: String, notIn epoch: UInt64) -> Bool {
        probes[channel].map { $0.epoch == epoch && $0.isAnswered == true } ?? false
    }
}
