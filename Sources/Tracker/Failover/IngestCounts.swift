import Fetch

/// Counts of the sources that were published earlier, so that a channel's counts never decrease.
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

    static func += (sum: inout IngestCounts, other: IngestCounts) {
        sum.renditions += other.renditions
        sum.failedResourceTries += other.failedResourceTries
        sum.requests += other.requests
        sum.faults.merge(other.faults, uniquingKeysWith: +)
    }
}

extension UpstreamStatus {
    /// Adds the counts of earlier sources. Those of their renditions are added to the main rendition.
    mutating func add(_ earlier: IngestCounts) {
        if !renditions.isEmpty { renditions[0].counts += earlier.renditions }
        failedResourceTries += earlier.failedResourceTries
        requests += earlier.requests
        faults.merge(earlier.faults, uniquingKeysWith: +)
    }
}
