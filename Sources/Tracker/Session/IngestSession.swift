/// A state machine that a driver runs: inputs and times go in, effects come out. It owns neither clock nor socket.
package protocol IngestSession: Sendable {
    /// - Parameter now: time since the session began; never decreases.
    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect]
    var status: UpstreamStatus { get }
}

extension UpstreamSession: IngestSession {}
