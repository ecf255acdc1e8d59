import Glibc
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOPosix
import Synchronization

/// The origin: HTTP/1.1 with keep-alive and pipelining on one address, on threads of its own.
struct HTTPServer: Sendable {
    /// What one client can make the server hold or wait for.
    struct Limits: Sendable {
        /// Bytes of a request's line and fields together; more is answered with 400.
        var headByteCount = 16 * 1024
        /// How long a connection may go without a complete request or progress of a response.
        var idleTime = Duration.seconds(60)
    }

    /// The connections that the system accepts ahead of us: players of one channel reconnect all at once.
    static let backlog: Int32 = 4096

    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let quiescing: OpenConnections

    /// The port that is listened on: the one asked for, or the one the system chose for 0.
    let port: Int

    /// Returns once connections are accepted.
    /// - Parameter threads: event loops, one thread each.
    static func start(
        on address: ListenAddress, limits: Limits = Limits(), threads: Int = System.coreCount,
        responder: @escaping Responder
    ) async throws(HTTPServerError) -> HTTPServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        do {
            return try await listen(on: address, group, limits, responder)
        } catch {
            try? await group.shutdownGracefully()
            throw HTTPServerError(error, at: address)
        }
    }

    /// A function of its own so that after a failure the quiescing helper is gone before its event loops are: its end
    /// still completes a promise on one of them.
    private static func listen(
        on address: ListenAddress, _ group: MultiThreadedEventLoopGroup, _ limits: Limits,
        _ responder: @escaping Responder
    ) async throws -> HTTPServer {
        let quiescing = ServerQuiescingHelper(group: group)
        let listener = try await bootstrap(group, quiescing, limits, responder)
            .bind(host: address.host, port: address.port).get()
        return HTTPServer(
            group: group, listener: listener, quiescing: OpenConnections(quiescing),
            port: listener.localAddress?.port ?? address.port)
    }

    /// Stops accepting, lets each response under way end, and after `limit` cuts what is left. Every connection is
    /// closed and every thread has ended when this returns.
    func shutdown(within limit: Duration) async {
        await drain(within: limit)
        // The group closes every channel that is still registered with it; it can fail only if it was shut down before.
        try? await group.shutdownGracefully()
    }

    /// A function of its own for the same reason as `listen`.
    private func drain(within limit: Duration) async {
        guard let quiescing = quiescing.take() else { return }
        let loop = listener.eventLoop
        let (drained, over) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { over.succeed() }
        drained.futureResult.whenComplete { _ in
            timer.cancel()
            over.succeed()
        }
        quiescing.initiateShutdown(promise: drained)
        try? await over.futureResult.get()
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, _ quiescing: ServerQuiescingHelper, _ limits: Limits,
        _ responder: @escaping Responder
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Out of descriptors, accept fails at once and for ever: pause instead of spinning.
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                    try channel.pipeline.syncOperations.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try configure(channel, limits, responder) }
            }
    }

    private static func configure(_ channel: any Channel, _ limits: Limits, _ responder: @escaping Responder) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = limits.headByteCount
        decoding.maxHeaderListSize = limits.headByteCount
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: true, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoding)
        try channel.pipeline.syncOperations.addHandler(
            HTTPConnectionHandler(responder: responder, idleTimeout: TimeAmount(limits.idleTime)))
    }
}

/// The quiescing helper until it is needed, once: its end has to come before that of its event loops.
private final class OpenConnections: Sendable {
    private let helper: Mutex<ServerQuiescingHelper?>

    init(_ helper: ServerQuiescingHelper) { self.helper = Mutex(helper) }

    func take() -> ServerQuiescingHelper? {
        helper.withLock { helper in
            defer { helper = nil }
            return helper
        }
    }
}

extension HTTPServerError {
    /// What NIO's failure to bind means.
    fileprivate init(_ error: any Error, at address: ListenAddress) {
        let (host, port) = (address.host, address.port)
        switch (error, (error as? IOError)?.errnoCode) {
        case (is SocketAddressError.UnknownHost, _): self = .unknownHost(host)
        case (_, EADDRINUSE?): self = .addressInUse(host: host, port: port)
        case (_, EADDRNOTAVAIL?): self = .addressNotAvailable(host: host, port: port)
        case (_, EACCES?): self = .permissionDenied(host: host, port: port)
        case (_, let errno): self = .cannotListen(host: host, port: port, errno: errno ?? 0)
        }
    }
}
