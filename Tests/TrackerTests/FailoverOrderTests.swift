import Testing

@testable import Tracker

private let rotaRows: [(when: String, count: Int, behind: Int, published: Int?, tries: [Int])] = [
    ("one backup, and the upstream is in an outage", 2, behind: 0, published: 0, tries: [1, 1, 1]),
    ("one backup, which is in an outage", 2, behind: 1, published: 1, tries: [0, 0, 0]),
    ("two backups", 3, behind: 0, published: 0, tries: [1, 2, 1, 2]),
    (
        "the first of two is published: the one behind it comes before the upstream", 3, behind: 1, published: 1,
        [2, 0, 2]
    ),
    (
        "nobody is published any more: whoever failed has another try, behind all others", 3, behind: 1, nil,
        [2, 0, 1, 2]
    ),
]

@Test(arguments: rotaRows)
func sourcesAreTriedInTurn(when: String, count: Int, behind source: Int, published: Int?, tries: [Int]) {
    var rota = FailoverOrder()
    rota.resume(after: source)
    #expect(tries.map { _ in rota.next(of: count, excluding: published) } == tries, "\(when)")
}

@Test func trialsInVainAreEverFartherApartUntilSomethingIsPublished() {
    var rota = FailoverOrder()
    var pauses: [Duration] = []
    for _ in 0..<6 {
        rota.backOff(from: .zero)
        pauses.append(rota.nextAt)
    }
    #expect(pauses == [0.5, 1, 2, 4, 8, 8].map { .seconds($0) })
    rota.resetBackoff()
    #expect(rota.nextAt == .seconds(8), "the pause there is goes on")
    rota.backOff(from: .seconds(8))
    #expect(rota.nextAt == .seconds(8.5))
}
