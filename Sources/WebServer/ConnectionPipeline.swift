package import NIOCore
import NIOHTTP1
package import Support

/// The handlers of a client connection, after what decrypts it.
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

        /// The largest part of a body that is written at once, and copied for a client that reads slowly. A connection of
        /// HTTP/2 has many streams, and TLS gains nothing from larger ones.
        var sliceByteCount: Int {
            self == .plain ? FileTransmission.sliceByteCount : FileTransmission.readByteCount
        }
    }
}

/// Decrypts the connections of a server, with a certificate that can be read again.
package protocol ConnectionSecurity: Sendable {
    /// Adds the handlers of a new connection that is served or refused.
    func configure(
        _ channel: any Channel, _ treatment: OpenConnections.Treatment, _ pipeline: ConnectionPipeline) throws
    /// Reads the certificate again, for the connections that follow.
    /// - Returns: what was read, in words. If it throws, nothing changes.
    func renew() throws(RelayError) -> String
}

/// The first handler of a connection's bytes. After the last response, it discards what still comes instead of having it
/// parsed.
final class ConnectionInput: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    /// Outbound: nothing of the input is needed any more.
    struct Discard: Sendable {}

    /// Bytes that are discarded before the connection is closed, response or not.
    static let discardLimit = 4 << 20

    private var isDiscarding = false
    private var discarded = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isDiscarding else { return context.fireChannelRead(data) }
        discarded += unwrapInboundIn(data).readableBytes
        if discarded > Self.discardLimit { context.close(promise: nil) }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is Discard else { return context.triggerUserOutboundEvent(event, promise: promise) }
        isDiscarding = true
        promise?.succeed()
    }
}

/// The input of a connection that came after a whole request, while the response to that is under way (RFC 9112 §9.3.2).
///
/// Nothing more is read meanwhile, so that it is no more than one read brought.
struct WaitingInput {
    enum Element {
        case part(HTTPServerRequestPart)
        /// The following bytes are no request.
        case malformed(HTTPParserError)
        /// The client sends nothing more.
        case inputClosed
    }

    private var elements = CircularBuffer<Element>(initialCapacity: 0)
    /// Whether the connection wants to read on.
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
