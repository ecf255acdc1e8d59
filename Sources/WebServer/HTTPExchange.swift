import HTTP
import NIOHTTP1

/// One request and its answer: reads the head that NIO has parsed, and decides the head of the response.
struct HTTPExchange {
    /// The largest request body that is skipped. After a larger body, or a body of unknown size, the connection closes.
    static let ignoredBodyLimit = 64 * 1024

    private let head: HTTPRequestHead
    /// Whether another request may follow on the connection.
    private let allowsKeepAlive: Bool
    let received: ReceivedRequest
    /// The size of the body in bytes; nil if it is not announced.
    let bodyByteCount: Int?
    /// The form in which the request gets an answer that other requests get, too; nil: it gets its own.
    let variant: ReadyAnswers.Variant?

    /// - Parameter peer: the IP address of the other end of the connection.
    init(_ head: HTTPRequestHead, in paths: Route.Paths, from peer: String? = nil) {
        self.head = head
        received = ReceivedRequest(
            .init(head.method), head.uri,
            RequestTarget.Fields(head.headers.lazy.map { ($0.name, $0.value) }, peer: peer),
            hasOneHost: head.version != .http1_1 || head.headers["host"].count == 1, in: paths)
        bodyByteCount =
            head.headers.contains(name: "transfer-encoding")
            ? nil : head.headers.first(name: "content-length").map { Int($0) ?? .max } ?? 0
        // After any final response to `Expect: 100-continue`, the client may or may not send its body (RFC 9110
        // §10.1.1).
        allowsKeepAlive =
            head.isKeepAlive && !head.headers.contains(name: "expect")
            && bodyByteCount.map { $0 <= Self.ignoredBodyLimit } ?? false
        let isShared = allowsKeepAlive && head.version == .http1_1 && head.method == .GET && received.fields.asksForAll
        variant = isShared ? received.fields.allowsGzip ? .gzip : .identity : nil
    }

    private var method: RequestTarget.Method { .init(head.method) }

    /// Whether another request may follow after `response`: only chunks end a response without a length.
    func allowsKeepAlive(after response: ConditionalResponse) -> Bool {
        allowsKeepAlive && (!response.isUnbounded || head.version == .http1_1 && method == .get)
    }

    /// The response as it is sent. Conditions and ranges apply only to GET and HEAD.
    func response(_ response: Response, date: String) -> ConditionalResponse {
        let isReading = method == .get || method == .head
        let target = isReading ? received.target : nil
        return ConditionalResponse(response, to: target ?? .bare(method), date: date)
    }

    func response(for failure: FileTransmission.Failure, date: String) -> ConditionalResponse {
        switch failure {
        case .missing, .changed:
            // Without the query, which may contain a token.
            response(.notFound(String(head.uri.prefix { $0 != "?" })), date: date)
        case .system:
            response(.text(.serviceUnavailable, "The file cannot be opened now."), date: date)
        }
    }

    func head(of response: ConditionalResponse, keepAlive: Bool) -> OutgoingHead {
        var outgoing = OutgoingHead(status: response.status, fields: response.fields)
        if !keepAlive {
            outgoing.fields.append(HeaderField(name: "Connection", value: "close"))
        } else if head.version != .http1_1 {
            outgoing.fields.append(HeaderField(name: "Connection", value: "keep-alive"))
        }
        // A client of HTTP/1.0 does not know chunks, and no chunk may follow the response to a HEAD.
        outgoing.isChunked = response.isUnbounded && head.version == .http1_1 && method == .get
        outgoing.endsWithConnection = response.isUnbounded && !outgoing.isChunked
        return outgoing
    }
}

extension RequestTarget.Method {
    fileprivate init(_ method: HTTPMethod) {
        self =
            switch method {
            case .GET: .get
            case .HEAD: .head
            case .OPTIONS: .options
            default: .other(method.rawValue)
            }
    }
}
