import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

private let orderRows: [(when: String, count: Int, after: Int, active: Int?, tries: [Int])] = [
    ("one backup, primary in an outage", 2, after: 0, active: 0, tries: [1, 1, 1]),
    ("one backup, which is in an outage", 2, after: 1, active: 1, tries: [0, 0, 0]),
    ("two backups, primary in an outage", 3, after: 0, active: 0, tries: [1, 2, 1, 2]),
    ("two backups, the first active: the second comes before the primary", 3, after: 1, active: 1, tries: [2, 0, 2]),
    ("no active source: the one that failed comes last", 3, after: 1, active: nil, tries: [2, 0, 1, 2]),
]

@Test(arguments: orderRows)
func sourcesAreTriedInTurn(when: String, count: Int, after source: Int, active: Int?, tries: [Int]) {
    var order = FailoverOrder()
    order.resume(after: source)
    #expect(tries.map { _ in order.next(of: count, excluding: active) } == tries.map { .source($0) }, "\(when)")
}

@Test func anotherVariantIsTriedBeforeEachSource() {
    var order = FailoverOrder()
    #expect(
        (0..<4).map { _ in order.next(of: 3, excluding: 0, hasVariant: true) }
            == [.variant, .source(1), .variant, .source(2)])
    #expect(order.next(of: 1, excluding: 0, hasVariant: true) == .variant, "the only source")
    #expect(order.next(of: 1, excluding: 0) == nil, "the only source, of one variant")
}

@Test func pausesBetweenFailedTrialsDoubleUntilASegmentIsPublished() {
    var order = FailoverOrder()
    var pauses: [Duration] = []
    for _ in 0..<6 {
        order.backOff(from: .zero)
        pauses.append(order.nextAt)
    }
    #expect(pauses == [0.5, 1, 2, 4, 8, 8].map { .seconds($0) })
    order.resetBackoff()
    #expect(order.nextAt == .seconds(8), "the current pause goes on")
    order.backOff(from: .seconds(8))
    #expect(order.nextAt == .seconds(8.5))
}
