import Fetch

// What a failed attempt means for the next attempt, and for the segment.

extension FetchFailure {
    var prospect: RetrySchedule.Prospect {
        switch self {
        case .refused(let status) where status.isRateLimitStatus: .hostLimited
        case .refused(status: 401), .refused(status: 403), .refused(status: 410): .newURL
        case .unreachable(let reason, _) where reason.isFinal: .none
        case .refused, .unreachable, .notMedia, .empty, .shortRange, .truncated, .tooShort: .open
        }
    }

    /// The reason for which the segment is lost if no attempt follows.
    var lossReason: SegmentLoss.Reason {
        switch self {
        case .notMedia, .empty: .notMedia
        case .refused, .unreachable, .shortRange, .truncated, .tooShort: .unavailable(self)
        }
    }
}

extension FetchRequest {
    /// The reason for which a segment is lost that needs this key or map.
    func lossReason(_ failure: FetchFailure?) -> SegmentLoss.Reason {
        purpose == .key ? .keyUnavailable(url: url, failure) : .unavailable(failure)
    }
}
