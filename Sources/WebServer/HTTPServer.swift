import Dispatch
import Glibc
package import HTTP
package import NIOCore
import NIOPosix

/// The origin server: HTTP/1.1 with keep-alive and pipelining on one address, on threads of its own, and HTTP/2 over
/// encrypted connections.
package struct HTTPServer: Sendable {
    /// Bounds on what one client can make the server store or wait for.
    package struct Limits: Sendable {
        /// Bytes of a request's line and fields together. A larger head gets the status 431.
        var headByteCount = 16 * 1024
        /// Longest time without a complete request head and without progress of a response.
        var idleTime = Duration.seconds(60)

        package init(idleTime: Duration = Duration.seconds(60)) { self.idleTime = idleTime }
    }

    /// Adds handlers to a new connection, between the parser of requests and `HTTPConnectionHandler`, which writes
    /// bytes.
    package typealias Configuration = @Sendable (any Channel) throws -> Void

    /// The most connections that the system queues before the server accepts them: the players of a channel reconnect
    /// all at once.
    static let backlog: Int32 = 4096

    /// The sizes of one read. A connection reserves that much memory; clients send heads, and seldom more.
    private static let receiving = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2048, maximum: 16 * 1024)
    /// Event loops of a server, one thread each.
    package static let threadCount = System.coreCount

    /// The time limit for responses under way when the process is asked to end.
    package static let shutdownLimit = Duration.milliseconds(1000)

    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let connections: OpenConnections
    private let pendingWork: DispatchGroup

    /// The port that the server listens on: the requested one, or the one that the system chose for 0.
    package let port: Int

    /// Returns once connections are accepted.
    /// - Parameters:
    ///   - connections: decides which connections are accepted.
    ///   - threads: number of event loops, one thread each.
    ///   - traffic: counts the requests.
    ///   - security: decrypts the connections; nil: they are plain.
    ///   - listening: descriptor of a listening socket to accept connections from, which the server closes; nil: the
    ///     server listens on `address`.
    package static func start(
        on address: ListenAddress, listening: Int32? = nil, limits: Limits = Limits(),
        connections: OpenConnections = OpenConnections(),
        threads: Int = HTTPServer.threadCount, traffic: HTTPTraffic = HTTPTraffic(),
        security: (any ConnectionSecurity)? = nil,
        configure: @escaping Configuration = { _ in }, responder: any Responder
    ) async throws(HTTPServerError) -> HTTPServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let pendingWork = DispatchGroup()
        let readyAnswers = ReadyAnswers()
        let pipeline = ConnectionPipeline(limits: limits, configure: configure, traffic: traffic) { transport in
            HTTPConnectionHandler(
                transport, responder: responder, pendingWork: pendingWork, connections: connections, traffic: traffic,
                readyAnswers: readyAnswers, idleTime: TimeAmount(limits.idleTime))
        }
        let bootstrap = bootstrap(group) { channel in
            let treatment = connections.insert(channel)
            guard treatment != .drop else { throw TooManyConnections() }
            if let security { return try security.configure(channel, treatment, pipeline) }
            guard treatment == .serve else { return try channel.pipeline.syncOperations.addHandler(RefusalHandler()) }
            try pipeline.addHTTP1(to: channel, .plain)
        }
        do {
            let listener =
                if let listening { try await bootstrap.withBoundSocket(listening).get() } else {
                    try await bootstrap.bind(host: address.host, port: address.port).get()
                }
            return HTTPServer(
                group: group, listener: listener, connections: connections, pendingWork: pendingWork,
                port: listener.localAddress?.port ?? address.port)
        } catch {
            try? await group.shutdownGracefully()
            throw HTTPServerError(error, at: address)
        }
    }

    /// Returns when every event loop has answered. A blocked loop does not answer.
    package func awaitEventLoops() async {
        for loop in group.makeIterator() { try? await loop.submit {}.get() }
    }

    /// Makes a descriptor of the listening socket for another process. Connections that nobody has accepted belong to the
    /// socket, so they are not reset when this process closes its own descriptor.
    /// - Returns: nil if no descriptor is free.
    package func duplicateListener() async -> Int32? {
        let duplicate = listener.eventLoop.submit { [listener] in
            try listener.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                fcntl($0, F_DUPFD_CLOEXEC, 0)
            }
        }
        let descriptor = (try? await duplicate.get()) ?? -1
        return descriptor >= 0 ? descriptor : nil
    }

    /// Leaves new connections to another process that has the listening socket.
    package func pauseAccepting() async { try? await listener.setOption(.autoRead, value: false).get() }

    /// Accepts connections again, and keeps them open after a response.
    package func resumeAccepting() async {
        connections.endClosing()
        try? await listener.setOption(.autoRead, value: true).get()
    }

    /// Closes each connection after its next response.
    package func beginClosing() { connections.beginClosing() }

    /// Returns when all connections are closed, each after its next response or without a request for some seconds. After
    /// `limit`, some may still be open.
    package func finish(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while !connections.isEmpty, .now < end, !Task.isCancelled {
            try? await Task.sleep(for: Self.finishInterval)
        }
    }

    private static let finishInterval = Duration.milliseconds(50)

    /// Stops accepting, lets each response under way end, and after `limit` closes the remaining connections. When this
    /// returns, every connection is closed and every thread has ended.
    package func shutdown(within limit: Duration) async {
        let loop = listener.eventLoop
        if let drained = connections.drain(on: loop) {
            listener.close(promise: nil)
            let timer = loop.scheduleTask(in: TimeAmount(limit)) { drained.succeed() }
            try? await drained.futureResult.get()
            timer.cancel()
        }
        await connections.close()
        // Tasks that still make bytes for a connection will call its event loop.
        await withCheckedContinuation { continuation in pendingWork.notify(queue: .global()) { continuation.resume() } }
        // This fails only if the group was shut down before.
        try? await group.shutdownGracefully()
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, configure: @escaping Configuration
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Without free descriptors, accept fails immediately and repeatedly: pause instead of spinning.
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.recvAllocator, value: receiving)
            .childChannelInitializer { channel in channel.eventLoop.makeCompletedFuture { try configure(channel) } }
    }
}

/// The reason to close a new connection at once.
struct TooManyConnections: Error {}

extension HTTPServerError {
    /// The meaning of NIO's error while binding to `address`.
    package init(_ error: any Error, at address: ListenAddress) {
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
