/// A session that a driver runs: answers and the passing of time in, effects out. It owns neither clock nor socket.
package protocol IngestSession: Sendable {
    /// - Parameter now: time since the session began; never decreases.
    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect]
    var status: UpstreamStatus { get }
}

extension UpstreamSession: IngestSession {}
