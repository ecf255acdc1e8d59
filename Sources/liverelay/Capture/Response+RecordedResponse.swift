import Capture
import Tracker

extension Response {
    /// The HTTP response for a recorded answer.
    init(_ recorded: RecordedResponse) {
        self.init(
            status: HTTPStatus(rawValue: recorded.status), contentType: nil, cacheControl: .noStore,
            body: recorded.body.isEmpty ? .empty : .bytes(recorded.body, gzip: nil),
            extraHeaders: recorded.headers.map { HeaderField(name: $0.name, value: $0.value) })
        switch recorded.transmission {
        case .paced(let time): pace = .slow(over: time, breaksOffAfter: nil)
        case .cut(let count, let time): pace = .slow(over: time, breaksOffAfter: count)
        case .reset(let time): pace = .silent(until: time)
        case .silent: pace = .silent(until: nil)
        }
    }
}

extension RecordedOrigin {
    /// - Parameter now: time since the origin started.
    func response(to target: RequestTarget, at now: Duration) -> Response {
        Response(response(to: target.path, range: target.fields.range, at: now))
    }
}
