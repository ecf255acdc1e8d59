#if TLS
    import NIOCore
    import NIOHTTP2
    import NIOSSL
    import NIOTLS
    import Synchronization

    /// Encrypts the connections of a server, and speaks HTTP/2 over them where the client does.
    final class TLSSecurity: RenewableSecurity {
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

        /// The handlers of a connection that is refused answer in HTTP/1.1, so that nothing else is offered.
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
            let manager = NIOHTTP2ServerConnectionManagementHandler(
                eventLoop: channel.eventLoop,
                configuration: .init(
                    maxIdleTime: TimeAmount(pipeline.limits.idleTime), maxAge: nil, maxGraceTime: nil, keepalive: nil))
            var connection = NIOHTTP2Handler.ConnectionConfiguration()
            connection.initialSettings = [
                HTTP2Setting(parameter: .maxConcurrentStreams, value: 100),
                HTTP2Setting(parameter: .maxHeaderListSize, value: pipeline.limits.headByteCount),
            ]
            let opening = NIOLoopBound(opening, eventLoop: channel.eventLoop)
            _ = try operations.configureHTTP2Pipeline(
                mode: .server, connectionConfiguration: connection, streamConfiguration: .init(),
                streamDelegate: manager.http2StreamDelegate
            ) { stream in
                stream.eventLoop.makeCompletedFuture {
                    opening.value.end()
                    try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                    try pipeline.addStream(to: stream)
                }
            }
            try operations.addHandler(manager)
            try operations.addHandler(ConnectionCountHandler(pipeline.traffic))
        }
    }
#endif
