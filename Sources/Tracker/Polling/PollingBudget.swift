/// The requests that `EdgeSchedule` may make beyond one per segment.
///
/// Each segment earns a part of a request. A load that finds nothing, and a scout, cost one. The first three are
/// granted, because the first search needs them.
struct PollingBudget: Equatable, Sendable {
    private static let earnedPerSegment = 14
    private static let request = 100
    /// The debt after which nothing beyond the standard's schedule is requested until a request is saved.
    private static let exhaustion = -100
    private static let floor = -200

    /// In hundredths of a request.
    private var hundredths = 3 * Self.request

    var permitsRequest: Bool { hundredths >= Self.request }
    var isExhausted: Bool { hundredths <= Self.exhaustion }

    mutating func earn(segments: Int) {
        guard hundredths < Self.request else { return }
        hundredths = min(Self.request, hundredths + Self.earnedPerSegment * min(segments, 100))
    }

    mutating func spend() { hundredths = max(Self.floor, hundredths - Self.request) }

    /// Gives back what is left of the first grant.
    mutating func endGrant() { hundredths = min(hundredths, Self.request) }
}
