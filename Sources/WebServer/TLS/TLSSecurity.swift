import HTTP
import Support

#if TLS
    import NIOCore
    import NIOHTTP2
    import NIOSSL
    import NIOTLS
    import Synchronization

    /// Encrypts the connections of a server, and uses HTTP/2 with clients that support it.
    final class TLSSecurity: ConnectionSecurity {
        /// The most concurrent requests of one HTTP/2 connection, each of which holds a slice of its answer.
        private static let maxStreams = 32

        private let files: TLSFiles
        private let certificate: Mutex<TLSCertificate>

        init(_ files: TLSFiles) throws(RelayError) {
            self.files = files
            certificate = Mutex(try TLSCertificate(files))
        }

        func renew() throws(RelayError) -> String {
            let next = try TLSCertificate(files)
            certificate.withLock { $0 = next }
            return next.summary
        }

        /// A refused connection is answered in HTTP/1.1, so only HTTP/1.1 is offered to it.
        func configure(
            _ channel: any Channel, _ treatment: OpenConnections.Treatment, _ pipeline: ConnectionPipeline
        ) throws {
            let certificate = certificate.withLock { $0 }
            let operations = channel.pipeline.syncOperations
            guard treatment == .serve else {
                try operations.addHandler(NIOSSLServerHandler(context: certificate.refusing))
                return try operations.addHandler(RefusedConnectionHandler())
            }
            try operations.addHandler(NIOSSLServerHandler(context: certificate.serving))
            let opening = OpeningConnectionHandler(limit: TimeAmount(pipeline.limits.idleTime))
            try operations.addHandler(opening)
            try operations.addHandler(
                ApplicationProtocolNegotiationHandler { result, channel in
                    channel.eventLoop.makeCompletedFuture {
                        guard case .negotiated("h2") = result else {
                            try pipeline.addHTTP1(to: channel, .secure)
                            opening.end()
                            return
                        }
                        try Self.addHTTP2(to: channel, opening, pipeline)
                    }
                })
        }

        private static func addHTTP2(
            to channel: any Channel, _ opening: OpeningConnectionHandler, _ pipeline: ConnectionPipeline
        ) throws {
            let operations = channel.pipeline.syncOperations
            let idleTime = TimeAmount(pipeline.limits.idleTime)
            let manager = NIOHTTP2ServerConnectionManagementHandler(
                eventLoop: channel.eventLoop,
                configuration: .init(maxIdleTime: idleTime, maxAge: nil, maxGraceTime: nil, keepalive: nil))
            // The manager asks the client to agree to the end. If the client does not answer, it is not asked again.
            let handler = HTTP2ConnectionHandler(pipeline.traffic, idleLimit: 2 * idleTime)
            let observer = HTTP2ConnectionObserver(handler, manager, eventLoop: channel.eventLoop)
            let opening = NIOLoopBound(opening, eventLoop: channel.eventLoop)
            // The returned sequence of streams is for tasks that await streams. Here each stream gets its handlers
            // instead.
            _ = try operations.configureAsyncHTTP2Pipeline(
                mode: .server, streamDelegate: observer, frameDelegate: observer,
                configuration: configuration(pipeline.limits)
            ) { stream in
                stream.eventLoop.makeCompletedFuture {
                    opening.value.end()
                    try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                    try pipeline.addAnswering(to: stream, .stream)
                }
            }
            try operations.addHandler(manager)
            try operations.addHandler(handler)
        }

        private static func configuration(_ limits: HTTPServer.Limits) -> NIOHTTP2Handler.Configuration {
            var connection = NIOHTTP2Handler.ConnectionConfiguration()
            connection.initialSettings = [
                HTTP2Setting(parameter: .maxConcurrentStreams, value: maxStreams),
                HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headByteCount),
            ]
            return NIOHTTP2Handler.Configuration(connection: connection, stream: .init())
        }
    }

    /// Closes a connection whose first request does not begin in time.
    final class OpeningConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private let limit: TimeAmount
        private var deadline: Scheduled<Void>?

        init(limit: TimeAmount) { self.limit = limit }

        func handlerAdded(context: ChannelHandlerContext) {
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        }

        func handlerRemoved(context: ChannelHandlerContext) { end() }

        /// The connection is in use.
        func end() {
            deadline?.cancel()
            deadline = nil
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // After a failed handshake, as with a plain HTTP client, nothing can be sent. Other errors are left to the
            // handlers.
            if deadline != nil { return context.close(promise: nil) }
            context.fireErrorCaught(error)
        }
    }

    /// Refuses a connection as soon as an answer can be sent, and closes it if its handshake takes too long.
    final class RefusedConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private static let handshakeLimit = TimeAmount.seconds(2)
        private var deadline: Scheduled<Void>?

        func handlerAdded(context: ChannelHandlerContext) {
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: Self.handshakeLimit) { channel.close(promise: nil) }
        }

        func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case TLSUserEvent.handshakeCompleted = event else {
                return context.fireUserInboundEventTriggered(event)
            }
            try? context.pipeline.syncOperations.addHandler(RefusalHandler())
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
#endif
