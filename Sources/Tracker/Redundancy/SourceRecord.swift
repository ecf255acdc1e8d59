/// What became of a channel's sources in the outage there is, so that it is told once, and which of them are over.
struct SourceRecord: Equatable, Sendable {
    private var tried: Set<Int> = []
    /// Why each source that failed did, the last time.
    private(set) var failures: [Int: TrackerError] = [:]
    /// Where sources ended that were published. Until its list is another one, such a source has nothing to give.
    private var ends: [Int: ListedEnd] = [:]

    /// - Returns: what is to be told of it; nil when it was.
    mutating func tries(_ source: Int, url: String) -> UpstreamEvent? {
        tried.insert(source).inserted ? .tries(source: source, url: url) : nil
    }

    /// - Returns: what is to be told of it; nil when it was.
    mutating func failed(_ source: Int, _ error: TrackerError) -> UpstreamEvent? {
        let isNews = !(failures[source]?.isSameTrouble(as: error) ?? false)
        failures[source] = error
        return isNews ? .sourceFailed(source, error) : nil
    }

    /// The source that was published is published no longer.
    mutating func lost(_ member: SourceMember, to end: SessionEnd) -> UpstreamEvent? {
        switch end {
        case .drained:
            ends[member.source] = member.listedEnd
            return .sourceEnded(member.source)
        case .failed(let error), .gaveUp(let error): return failed(member.source, error)
        }
    }

    /// Whether its list is the one that was published to its end.
    func isOver(_ member: SourceMember) -> Bool { ends[member.source].map { $0 == member.listedEnd } ?? false }

    /// What it lists now is published: should that end, it is another end.
    mutating func tookOver(_ source: Int) { ends[source] = nil }

    /// Something is published: the next trouble is another one.
    mutating func calm() { (tried, failures) = ([], [:]) }
}
