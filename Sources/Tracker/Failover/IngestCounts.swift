/// What was counted of a channel's sources that are published no more, so that no count of a channel ever goes back.
struct IngestCounts: Equatable, Sendable {
    private(set) var renditions = TrackerCounts()
    private(set) var failedResourceTries = 0
    private(set) var requests = 0
    private(set) var faults: [FetchFault: Int] = [:]

    init() {}

    init(_ status: UpstreamStatus) {
        for rendition in status.renditions { renditions += rendition.counts }
        failedResourceTries = status.failedResourceTries
        requests = status.requests
        faults = status.faults
    }

    static func += (sum: inout IngestCounts, more: IngestCounts) {
        sum.renditions += more.renditions
        sum.failedResourceTries += more.failedResourceTries
        sum.requests += more.requests
        sum.faults.merge(more.faults, uniquingKeysWith: +)
    }
}

extension UpstreamStatus {
    /// The renditions' own are added to the main one's.
    mutating func add(_ earlier: IngestCounts) {
        if !renditions.isEmpty { renditions[0].counts += earlier.renditions }
        failedResourceTries += earlier.failedResourceTries
        requests += earlier.requests
        faults.merge(earlier.faults, uniquingKeysWith: +)
    }
}

extension TrackerCounts {
    fileprivate static func += (sum: inout TrackerCounts, more: TrackerCounts) {
        sum.loads += more.loads
        sum.failedLoads += more.failedLoads
        sum.delivered += more.delivered
        sum.failedTries += more.failedTries
        sum.lost += more.lost
        sum.discontinuities += more.discontinuities
        sum.stalePlaylists += more.stalePlaylists
        sum.resets += more.resets
        sum.lateCueTags += more.lateCueTags
    }
}
