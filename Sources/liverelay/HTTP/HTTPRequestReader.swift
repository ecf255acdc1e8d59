import HTTPSyntax
import NIOHTTP1

/// Converts between NIO's types and ours: reads a request head and builds the response head.
struct HTTPRequestReader {
    /// Largest request body that is skipped; after a larger one, or one of unknown size, the connection closes.
    static let ignoredBodyLimit = 64 * 1024

    /// Paths that answer POST too: television servers ask a tuner to scan so, and go no further after an error.
    private static let postPaths: Set = ["/lineup.post"]

    private let received: HTTPRequestHead
    /// The IP address of the other end of the connection.
    private let peer: String?

    init(_ head: HTTPRequestHead, from peer: String? = nil) {
        received = head
        self.peer = peer
    }

    /// The kind of resource that the request is for, however it is answered.
    var route: HTTPRoute { HTTPRoute(uri: received.uri) }

    /// The address of the client, as `ServerAddresses` finds it.
    func clientAddress(_ addresses: ServerAddresses) -> String? {
        addresses.trustedProxies.contains(peer) ? addresses.clientAddress(of: fields) : peer
    }

    /// Whether another request may follow on the connection.
    var allowsKeepAlive: Bool {
        guard received.isKeepAlive else { return false }
        // After another response than 100 Continue, the client may or may not send its body (RFC 9110 §10.1.1).
        guard !received.headers.contains(name: "expect") else { return false }
        guard !received.headers.contains(name: "transfer-encoding") else { return false }
        let bodySize = received.headers.first(name: "content-length").map { Int($0) ?? Int.max } ?? 0
        return bodySize <= Self.ignoredBodyLimit
    }

    /// Whether another request may follow after `response`: only chunks end a response without a length.
    func allowsKeepAlive(after response: ConditionalResponse) -> Bool {
        allowsKeepAlive && (!response.isUnbounded || received.version == .http1_1 && method == .get)
    }

    /// The work that makes the response; nil if the request is for the `Responder`.
    func deferredResponse(from responder: DeferredResponder) -> (@Sendable () async -> Response)? {
        guard method == .get || method == .head,
            let target = try? RequestTarget(method: method, uri: received.uri, fields: fields)
        else { return nil }
        return responder(target)
    }

    /// What the request does; nil if it is for the other responders.
    func action(from responder: ActionResponder) -> RequestAction? {
        guard method != .get, method != .head, hasOneHost,
            let target = try? RequestTarget(method: method, uri: received.uri, fields: fields)
        else { return nil }
        return responder(target)
    }

    func response(from responder: (RequestTarget) -> Response, date: String) -> ConditionalResponse {
        do throws(RequestTarget.Malformed) {
            let target = try RequestTarget(method: method, uri: received.uri, fields: fields)
            return ConditionalResponse(response(to: target, by: responder), to: target, date: date)
        } catch {
            return conditionalResponse(.text(.badRequest, "The address of this request is malformed."), date: date)
        }
    }

    /// The response to a request that changes something, or is refused whatever it asks for: neither conditions nor ranges apply.
    func response(toAction response: Response, date: String) -> ConditionalResponse {
        conditionalResponse(response, date: date)
    }

    func response(for failure: FileTransmission.Failure, date: String) -> ConditionalResponse {
        switch failure {
        case .missing, .changed:
            // Without the query, which may have a token.
            conditionalResponse(.notFound(String(received.uri.prefix { $0 != "?" })), date: date)
        case .system:
            conditionalResponse(.text(.serviceUnavailable, "The file cannot be opened now."), date: date)
        }
    }

    func head(of response: ConditionalResponse, keepAlive: Bool) -> HTTPResponseHead {
        var fields = response.fields.map { ($0.name, $0.value) }
        if !keepAlive {
            fields.append(("Connection", "close"))
        } else if received.version != .http1_1 {
            fields.append(("Connection", "keep-alive"))
        }
        // A client of HTTP/1.0 does not know chunks, and no chunk may follow the response to a HEAD.
        let isChunked = response.isUnbounded && received.version == .http1_1 && method == .get
        return HTTPResponseHead(
            version: response.isUnbounded && !isChunked ? .http1_0 : .http1_1,
            status: HTTPResponseStatus(statusCode: response.status.rawValue),
            headers: HTTPHeaders(fields))
    }

    private func response(to target: RequestTarget, by responder: (RequestTarget) -> Response) -> Response {
        // RFC 9112 §3.2: without Host, or with two, a request of HTTP/1.1 is malformed.
        if !hasOneHost {
            return .text(.badRequest, "A request needs one Host field.")
        }
        switch target.method {
        case .get, .head: return responder(target)
        case .options: return CrossOrigin.preflight
        case .other("POST") where Self.postPaths.contains(target.path): return responder(target)
        case .other: return CrossOrigin.methodNotAllowed
        }
    }

    /// A response that does not depend on the target.
    private func conditionalResponse(_ response: Response, date: String) -> ConditionalResponse {
        ConditionalResponse(
            response, to: RequestTarget(method: method, path: "/", query: [], fields: .init()), date: date)
    }

    private var hasOneHost: Bool { received.version != .http1_1 || received.headers["host"].count == 1 }

    private var method: RequestTarget.Method {
        switch received.method {
        case .GET: .get
        case .HEAD: .head
        case .OPTIONS: .options
        default: .other(received.method.rawValue)
        }
    }

    private var fields: RequestTarget.Fields {
        var fields = RequestTarget.Fields(
            range: value("range"), ifRange: value("if-range"), ifNoneMatch: value("if-none-match"),
            acceptEncoding: value("accept-encoding"), host: value("host"), accept: value("accept"),
            authorization: value("authorization"), contentType: value("content-type"))
        fields.ifModifiedSince = value("if-modified-since")
        fields.lastEventID = value("last-event-id")
        fields.userAgent = value("user-agent")
        fields.forwarding = forwarding
        fields.peer = peer
        return fields
    }

    private var forwarding: RequestTarget.Forwarding {
        var forwarding = RequestTarget.Forwarding()
        forwarding.forwarded = value("forwarded")
        forwarding.addresses = value("x-forwarded-for")
        forwarding.scheme = value("x-forwarded-proto")
        forwarding.host = value("x-forwarded-host")
        forwarding.port = value("x-forwarded-port")
        forwarding.prefix = value("x-forwarded-prefix")
        return forwarding
    }

    private func value(_ name: String) -> String? {
        let values = received.headers[name]
        return values.count <= 1 ? values.first : values.joined(separator: ", ")
    }
}
