import Fetch

// MARK: - Hosts to which requests are redirected

extension Origin {
    private static let edgePrefix = "http://edge-"

    /// The number of the host that answers. It changes with time, and those before refuse.
    private func edge(at time: Int) -> Int { history.events.count { $0.thing == .edgeMoves && $0.at <= time } }

    private mutating func recordRefusal(_ request: FetchRequest, at time: Int) {
        guard request.purpose == .segment, Self.rendition(of: request) == nil, !Self.isSubtitles(request),
            let index = segmentIndex(request)
        else { return }
        log.attempts.append(OriginLog.Attempt(segment: index, askedAt: time, answeredAt: time + 60, outcome: .failed))
    }

    /// Returns the answer to a request, and its latency in milliseconds.
    mutating func answer(_ request: FetchRequest, at time: Int) -> (FetchOutcome, Int) {
        guard let trait = history.all(.redirects).first, !request.url.hasPrefix(Self.backupHost) else {
            return ownAnswer(request, at: time)
        }
        var request = request
        if let number = Self.number(in: request.url, after: Self.edgePrefix) {
            guard number == edge(at: time) else {
                recordRefusal(request, at: time)
                return (page(trait.pick(0...1) == 0 ? 404 : 503, request), 60)
            }
            let path = request.url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
            request = FetchRequest(
                request.purpose, url: Self.host + path, byteRange: request.byteRange, duration: request.duration)
        }
        let (outcome, latency) = ownAnswer(request, at: time)
        guard case .success(let answer) = outcome, answer.finalURL.hasPrefix(Self.host),
            request.purpose != .segment || trait.pick(0...1, 1) == 0
        else { return (outcome, latency) }
        let url = "\(Self.edgePrefix)\(edge(at: time)).example" + answer.finalURL.dropFirst(Self.host.count)
        return (
            .success(
                FetchAnswer(
                    status: answer.status, finalURL: url, headers: answer.headers, body: answer.body,
                    endsAtClose: answer.endsAtClose)),
            latency
        )
    }
}
