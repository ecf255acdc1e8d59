package import NIOCore
import NIOHTTP1
package import Support

/// The handlers of a client connection, after what decrypts it.
package struct ConnectionPipeline: Sendable {
    let limits: HTTPServer.Limits
    /// Adds handlers between the HTTP codec and `HTTPConnectionHandler`.
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
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: false, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoding)
        try pipeline.addHandler(MalformedRequestHandler())
        try addAnswering(to: channel, transport)
    }

    /// Adds the handlers of a stream of HTTP/2, whose codec is there.
    func addStream(to channel: any Channel) throws { try addAnswering(to: channel, .stream) }

    private func addAnswering(to channel: any Channel, _ transport: HTTPConnectionHandler.Transport) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(IdleConnectionHandler(timeout: TimeAmount(limits.idleTime)))
        try configure(channel)
        try pipeline.addHandler(makeHandler(transport))
    }
}

/// Decrypts the connections of a server.
package protocol ConnectionSecurity: Sendable {
    /// Adds the handlers of a new connection that is served or refused.
    func configure(
        _ channel: any Channel, _ treatment: OpenConnections.Treatment, _ pipeline: ConnectionPipeline) throws
}

/// Decrypts with a certificate that can be read again.
package protocol RenewableSecurity: ConnectionSecurity {
    /// Reads the certificate again, for the connections that follow.
    /// - Returns: what was read, in words. If it throws, nothing changes.
    func renew() throws(RelayError) -> String
}
