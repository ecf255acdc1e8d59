/// Events of a channel's sources in the current outage, so that each is reported once, and the sources that have ended.
struct SourceHistory: Equatable, Sendable {
    private var triedSources: Set<Int> = []
    /// The last error of each source that failed.
    private(set) var failures: [Int: TrackerError] = [:]
    /// Last segments of the sources that were published to their end. Such a source has no new media until its playlist
    /// ends with another segment.
    private var ends: [Int: LastSegmentIdentity] = [:]

    /// - Returns: the event to report; nil if it was reported in this outage.
    mutating func recordTrial(of source: Int, url: String) -> UpstreamEvent? {
        triedSources.insert(source).inserted ? .trialStarted(source: source, url: url) : nil
    }

    /// - Returns: the event to report; nil if it was reported in this outage.
    mutating func recordFailure(of source: Int, _ error: TrackerError) -> UpstreamEvent? {
        let isNew = !(failures[source]?.isEquivalent(to: error) ?? false)
        failures[source] = error
        return isNew ? .sourceFailed(source, error) : nil
    }

    /// Records that the active source is no longer published.
    mutating func recordEnd(of session: SourceSession, _ end: SessionEnd) -> UpstreamEvent? {
        switch end {
        case .drained:
            ends[session.source] = session.endIdentity
            return .sourceEnded(session.source)
        case .failed(let error), .gaveUp(let error): return recordFailure(of: session.source, error)
        }
    }

    /// Whether the playlist of `session` is the one that was published to its end.
    func wasPublishedToEnd(_ session: SourceSession) -> Bool {
        ends[session.source].map { $0 == session.endIdentity } ?? false
    }

    /// Records that `source` is published from now on. If its playlist ends later, that is another end.
    mutating func recordTakeover(of source: Int) { ends[source] = nil }

    /// Records that a segment was published. The next failure belongs to another outage.
    mutating func clearOutage() { (triedSources, failures) = ([], [:]) }
}
