import Testing

@testable import Fetch
@testable import Support

private func answer(_ status: Int, from url: String, retryAfter: String? = nil) -> FetchOutcome {
    let headers = retryAfter.map { [FetchAnswer.Header(name: "Retry-After", value: $0)] } ?? []
    return .success(FetchAnswer(status: status, finalURL: url, headers: headers, body: []))
}

private func id(_ number: UInt64) -> FetchID { FetchID(number: number) }

/// Makes one request that begins and ends at a second.
private func request(
    _ limiter: inout HostLimiter, _ url: String, _ outcome: FetchOutcome, at second: Double
) -> HostLimiter.Change? {
    let number = FetchID(number: UInt64(second * 1000) + 1000)
    limiter.began(number, url)
    return limiter.ended(number, outcome, at: .seconds(second))
}

@Test func eachHostHasItsOwnLimit() {
    var limiter = HostLimiter(maxConnections: 2)
    limiter.began(id(1), "http://a.example/1")
    limiter.began(id(2), "https://A.example:8443/2")
    limiter.began(id(3), "http://b.example/3")
    #expect(!limiter.admits("http://a.example/4", at: .zero), "whatever the port and the scheme")
    #expect(limiter.admits("http://b.example/4", at: .zero))
    limiter.canceled(id(1))
    #expect(limiter.admits("http://a.example/4", at: .zero))
    #expect(HostLimiter(maxConnections: nil).admits("http://a.example/4", at: .zero))
}

@Test func hostsOfAnAccountShareItsLimit() {
    var limiter = HostLimiter(maxConnections: 1, countsAllHosts: true)
    limiter.began(id(1), "http://a.example/1")
    #expect(!limiter.admits("http://b.example/1", at: .zero))
    limiter.canceled(id(1))
    #expect(limiter.admits("http://b.example/1", at: .zero))
}

@Test func redirectedRequestCountsForBothHosts() {
    var limiter = HostLimiter(maxConnections: 1)
    _ = request(&limiter, "http://portal.example/list", answer(200, from: "http://edge.example/list"), at: 0)
    limiter.began(id(1), "http://edge.example/seg")
    #expect(!limiter.admits("http://portal.example/list", at: .zero), "the request would be redirected to the edge")
    limiter.canceled(id(1))
    limiter.began(id(2), "http://portal.example/list")
    #expect(!limiter.admits("http://edge.example/seg", at: .zero))
    _ = limiter.ended(id(2), answer(200, from: "http://portal.example/list"), at: .zero)
    limiter.began(id(3), "http://edge.example/seg")
    #expect(limiter.admits("http://portal.example/list", at: .zero), "the portal does not redirect any more")
}

@Test func rateLimitedHostGetsNoRequestThenOneAtATime() {
    var limiter = HostLimiter(maxConnections: nil)
    let url = "http://a.example/1"
    let began = request(&limiter, url, answer(429, from: url, retryAfter: "5"), at: 10)
    #expect(began == .limited(host: "a.example", status: 429, pause: .seconds(5)))
    #expect(!limiter.admits(url, at: .seconds(14)))
    #expect(limiter.admits("http://b.example/", at: .seconds(14)))
    #expect(limiter.nextDeadline(after: .seconds(10)) == .seconds(15))
    #expect(limiter.admits(url, at: .seconds(15)))
    limiter.began(id(1), url)
    #expect(!limiter.admits(url, at: .seconds(15)))
    _ = limiter.ended(id(1), answer(200, from: url), at: .seconds(16))
    #expect(limiter.admits(url, at: .seconds(16)))
    #expect(limiter.endExpiredLimits(at: .seconds(69)) == [])
    #expect(limiter.nextDeadline(after: .seconds(69)) == .seconds(70))
    #expect(limiter.endExpiredLimits(at: .seconds(70)) == [.ended(host: "a.example", answers: 1)])
    limiter.began(id(2), url)
    #expect(limiter.admits(url, at: .seconds(70)))
}

private let pauseRows: [(when: String, answers: [(at: Double, retryAfter: String?)], pauseEnd: Duration)] = [
    ("no Retry-After", [(10, nil)], .milliseconds(10_500)),
    ("each pause is twice the last one", [(10, nil), (11, nil), (13, nil), (16, nil)], .seconds(20)),
    ("pauses up to the ceiling", (0..<9).map { (Double($0) * 20, nil) }, .seconds(168)),
    ("refusals during the pause", [(10, nil), (10, nil), (10.25, nil)], .milliseconds(10_500)),
    ("Retry-After of 7 s", [(10, "7")], .seconds(17)),
    ("Retry-After of an hour: limited", [(10, "3600")], .seconds(40)),
    ("Retry-After of 0: the backoff applies", [(10, "0"), (11, "0")], .seconds(12)),
]

@Test(arguments: pauseRows.indices) func pauseOfARateLimitedHost(_ index: Int) {
    let row = pauseRows[index]
    var limiter = HostLimiter(maxConnections: nil)
    let url = "http://a.example/"
    let events = row.answers.map {
        request(&limiter, url, answer(509, from: url, retryAfter: $0.retryAfter), at: $0.at)
    }
    #expect(events.compactMap(\.self).count == 1, "reported once")
    #expect(limiter.limitedHosts.first?.pauseEnd == row.pauseEnd, "\(row.when)")
    #expect(limiter.rateLimitedAnswers == row.answers.count)
}

@Test func numberOfRememberedHostsIsLimited() {
    var limiter = HostLimiter(maxConnections: 1)
    for number in 0..<1000 {
        let url = "http://\(number).example/"
        _ = request(&limiter, "http://portal\(number).example/", answer(429, from: url), at: Double(number) / 100)
    }
    #expect(limiter.limitedHosts.count == HostLimiter.maxRememberedHosts)
    #expect(limiter.rateLimitedAnswers == 1000)
}
