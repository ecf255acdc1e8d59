/// What became of a channel's sources in the outage there is, so that it is told once, and which of them are over.
struct SourceHistory: Equatable, Sendable {
    private var tried: Set<Int> = []
    /// Why each source that failed did, the last time.
    private(set) var failures: [Int: TrackerError] = [:]
    /// Where sources ended that were published. Until its list is another one, such a source has nothing to give.
    private var ends: [Int: LastSegmentIdentity] = [:]

    /// - Returns: what is to be told of it; nil when it was.
    mutating func recordTrial(of source: Int, url: String) -> UpstreamEvent? {
        tried.insert(source).inserted ? .trialStarted(source: source, url: url) : nil
    }

    /// - Returns: what is to be told of it; nil when it was.
    mutating func recordFailure(of source: Int, _ error: TrackerError) -> UpstreamEvent? {
        let isNews = !(failures[source]?.isEquivalent(to: error) ?? false)
        failures[source] = error
        return isNews ? .sourceFailed(source, error) : nil
    }

    /// The source that was published is published no longer.
    mutating func recordEnd(of member: SourceSession, _ end: SessionEnd) -> UpstreamEvent? {
        switch end {
        case .drained:
            ends[member.source] = member.endIdentity
            return .sourceEnded(member.source)
        case .failed(let error), .gaveUp(let error): return recordFailure(of: member.source, error)
        }
    }

    /// Whether its list is the one that was published to its end.
    func hasEnded(_ member: SourceSession) -> Bool { ends[member.source].map { $0 == member.endIdentity } ?? false }

    /// What it lists now is published: should that end, it is another end.
    mutating func recordTakeover(of source: Int) { ends[source] = nil }

    /// Something is published: the next trouble is another one.
    mutating func clearOutage() { (tried, failures) = ([], [:]) }
}
