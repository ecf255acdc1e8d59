import HTTP
package import NIOCore
import NIOHTTP1
package import Support

/// The handlers of a client connection that follow its decryption.
package struct ConnectionPipeline: Sendable {
    let limits: HTTPServer.Limits
    /// Adds handlers between the parser of requests and `HTTPConnectionHandler`, which writes bytes.
    let configure: HTTPServer.Configuration
    let traffic: HTTPTraffic
    let makeHandler: @Sendable (HTTPConnectionHandler.Transport) -> HTTPConnectionHandler

    /// Adds the handlers of HTTP/1.1.
    func addHTTP1(to channel: any Channel, _ transport: HTTPConnectionHandler.Transport) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = limits.headByteCount
        decoding.maxHeaderListSize = limits.headByteCount
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ConnectionInput())
        try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: decoding)))
        try addAnswering(to: channel, transport)
    }

    /// Adds the handlers after the parser, or after the codec of a stream of HTTP/2.
    func addAnswering(to channel: any Channel, _ transport: HTTPConnectionHandler.Transport) throws {
        try configure(channel)
        try channel.pipeline.syncOperations.addHandler(makeHandler(transport))
    }
}

extension HTTPConnectionHandler {
    enum Transport {
        /// A TCP connection, to which the kernel copies files.
        case plain
        case secure
        /// A stream of an HTTP/2 connection, for one request.
        case stream

        /// The largest part of a body that is written at once, and copied for a slow client. An HTTP/2 connection has
        /// many streams, and TLS gains nothing from larger parts.
        var sliceByteCount: Int {
            self == .plain ? FileTransmission.sliceByteCount : FileTransmission.readByteCount
        }
    }
}

/// Decrypts the connections of a server, with a certificate that can be reloaded.
package protocol ConnectionSecurity: Sendable {
    /// Adds the handlers of a new connection, which is either served or refused.
    func configure(
        _ channel: any Channel, _ treatment: OpenConnections.Treatment, _ pipeline: ConnectionPipeline) throws
    /// Reloads the certificate for subsequent connections.
    /// - Returns: a description of the certificate. After an error the previous certificate stays in use.
    func renew() throws(RelayError) -> String
}

/// The first handler of a connection's bytes, which decides what reaches the parser: not a request that the client
/// repeats, and nothing after the last response.
final class ConnectionInput: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    /// Outbound: the rest of the input is not needed.
    struct Discard: Sendable {}

    /// The most bytes to discard before the connection is closed, with or without a response.
    static let discardLimit = 4 << 20

    private var isDiscarding = false
    private var discarded = 0
    private var repetition = RepeatedRequest()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isDiscarding else {
            let event = repetition.recognize(unwrapInboundIn(data))
            if let event { context.fireUserInboundEventTriggered(event) }
            if case .repeated = event { return }
            return context.fireChannelRead(data)
        }
        discarded += unwrapInboundIn(data).readableBytes
        if discarded > Self.discardLimit { context.close(promise: nil) }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is Discard else { return context.triggerUserOutboundEvent(event, promise: promise) }
        isDiscarding = true
        promise?.succeed()
    }
}

/// Input of a connection that arrived after a whole request, while the response to that request is under way (RFC 9112
/// §9.3.2).
///
/// Nothing more is read meanwhile, so this is at most the input of one read.
struct WaitingInput {
    enum Element {
        case part(HTTPServerRequestPart)
        /// The following bytes are no request.
        case malformed(HTTPParserError)
        /// The client has closed its sending side.
        case inputClosed
    }

    private var elements = CircularBuffer<Element>(initialCapacity: 0)
    /// Whether the connection requested a read meanwhile.
    var isReadPending = false

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeAll() { elements.removeAll() }

    /// Removes the first element. While requests are held, only the end of the input is passed on.
    mutating func popFirst(holdsRequests: Bool) -> Element? {
        if holdsRequests {
            guard case .inputClosed? = elements.first else { return nil }
        }
        return elements.popFirst()
    }
}
