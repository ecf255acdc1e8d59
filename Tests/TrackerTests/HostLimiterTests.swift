import Testing

@testable import Tracker

private func answer(_ status: Int, from url: String, retryAfter: String? = nil) -> FetchOutcome {
    let headers = retryAfter.map { [FetchAnswer.Header(name: "Retry-After", value: $0)] } ?? []
    return .success(FetchAnswer(status: status, finalURL: url, headers: headers, body: []))
}

private func id(_ number: UInt64) -> FetchID { FetchID(number: number) }

/// One request begun and ended at a second.
private func ask(
    _ gate: inout HostLimiter, _ url: String, _ outcome: FetchOutcome, at second: Double
) -> HostLimiter.Change? {
    let number = FetchID(number: UInt64(second * 1000) + 1000)
    gate.began(number, url)
    return gate.ended(number, outcome, at: .seconds(second))
}

@Test func eachHostHasItsOwnConnections() {
    var gate = HostLimiter(maxConnections: 2)
    gate.began(id(1), "http://a.example/1")
    gate.began(id(2), "https://A.example:8443/2")
    gate.began(id(3), "http://b.example/3")
    #expect(!gate.admits("http://a.example/4", at: .zero), "whatever the port and the scheme")
    #expect(gate.admits("http://b.example/4", at: .zero))
    gate.canceled(id(1))
    #expect(gate.admits("http://a.example/4", at: .zero))
    #expect(HostLimiter(maxConnections: nil).admits("http://a.example/4", at: .zero))
}

@Test func aHostBehindARedirectIsOccupiedToo() {
    var gate = HostLimiter(maxConnections: 1)
    _ = ask(&gate, "http://portal.example/list", answer(200, from: "http://edge.example/list"), at: 0)
    gate.began(id(1), "http://edge.example/seg")
    #expect(!gate.admits("http://portal.example/list", at: .zero), "it would lead to the edge")
    gate.canceled(id(1))
    gate.began(id(2), "http://portal.example/list")
    #expect(!gate.admits("http://edge.example/seg", at: .zero))
    _ = gate.ended(id(2), answer(200, from: "http://portal.example/list"), at: .zero)
    gate.began(id(3), "http://edge.example/seg")
    #expect(gate.admits("http://portal.example/list", at: .zero), "it redirects no longer")
}

@Test func aMeteredHostIsLeftAloneThenAskedOneThingAtATime() {
    var gate = HostLimiter(maxConnections: nil)
    let url = "http://a.example/1"
    let began = ask(&gate, url, answer(429, from: url, retryAfter: "5"), at: 10)
    #expect(began == .limited(host: "a.example", status: 429, pause: .seconds(5)))
    #expect(!gate.admits(url, at: .seconds(14)))
    #expect(gate.admits("http://b.example/", at: .seconds(14)))
    #expect(gate.nextDeadline(after: .seconds(10)) == .seconds(15))
    #expect(gate.admits(url, at: .seconds(15)))
    gate.began(id(1), url)
    #expect(!gate.admits(url, at: .seconds(15)))
    _ = gate.ended(id(1), answer(200, from: url), at: .seconds(16))
    #expect(gate.admits(url, at: .seconds(16)))
    #expect(gate.endExpiredLimits(at: .seconds(69)) == [])
    #expect(gate.nextDeadline(after: .seconds(69)) == .seconds(70))
    #expect(gate.endExpiredLimits(at: .seconds(70)) == [.ended(host: "a.example", answers: 1)])
    gate.began(id(2), url)
    #expect(gate.admits(url, at: .seconds(70)))
}

private let pauseRows: [(when: String, answers: [(at: Double, retryAfter: String?)], pauseEnd: Duration)] = [
    ("nothing said", [(10, nil)], .milliseconds(10_500)),
    ("each pause is twice the last", [(10, nil), (11, nil), (13, nil), (16, nil)], .seconds(20)),
    ("never longer than the ceiling", (0..<9).map { (Double($0) * 20, nil) }, .seconds(168)),
    ("asked for at the same moment", [(10, nil), (10, nil), (10.25, nil)], .milliseconds(10_500)),
    ("as long as it says", [(10, "7")], .seconds(17)),
    ("not for ever", [(10, "3600")], .seconds(40)),
    ("it says less than is decent", [(10, "0"), (11, "0")], .seconds(12)),
]

@Test(arguments: pauseRows.indices) func pausesOfAMeteredHost(_ index: Int) {
    let row = pauseRows[index]
    var gate = HostLimiter(maxConnections: nil)
    let url = "http://a.example/"
    let events = row.answers.map { ask(&gate, url, answer(509, from: url, retryAfter: $0.retryAfter), at: $0.at) }
    #expect(events.compactMap(\.self).count == 1, "told once")
    #expect(gate.limitedHosts.first?.pauseEnd == row.pauseEnd, "\(row.when)")
    #expect(gate.rateLimitedAnswers == row.answers.count)
}

@Test func anyNumberOfHostsIsRememberedInALittle() {
    var gate = HostLimiter(maxConnections: 1)
    for number in 0..<1000 {
        let url = "http://\(number).example/"
        _ = ask(&gate, "http://portal\(number).example/", answer(429, from: url), at: Double(number) / 100)
    }
    #expect(gate.limitedHosts.count == HostLimiter.maxRememberedHosts)
    #expect(gate.rateLimitedAnswers == 1000)
}
