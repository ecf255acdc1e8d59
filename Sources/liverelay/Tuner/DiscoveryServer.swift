import ChannelList
import HTTP
import NIOCore
import NIOPosix
import Service
import Support
import WebServer

/// Answers the HDHomeRun clients that look for tuners in the local network, on a thread of its own.
struct DiscoveryServer: Sendable {
    /// The port that clients send to.
    static let standardPort = 65_001

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Listens on every interface, because a socket bound to one address receives no broadcasts.
    /// - Parameters:
    ///   - device: the tuner that clients find.
    ///   - address: the address at which clients find the HTTP server.
    static func start(
        port: Int = standardPort, device: TunerDevice, address: DiscoveryAddress
    ) async throws(HTTPServerError) -> DiscoveryServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let bootstrap = DatagramBootstrap(group: group)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DiscoveryHandler(device: device, address: address))
                }
            }
        do {
            return DiscoveryServer(group: group, channel: try await bootstrap.bind(host: "0.0.0.0", port: port).get())
        } catch {
            try? await group.shutdownGracefully()
            throw HTTPServerError(error, at: ListenAddress(host: "0.0.0.0", port: port))
        }
    }

    func shutdown() async {
        try? await channel.close()
        try? await group.shutdownGracefully()
    }
}

/// Answers datagrams one by one. A datagram without a request for this tuner gets no answer.
private final class DiscoveryHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let device: TunerDevice
    private let address: DiscoveryAddress

    init(device: TunerDevice, address: DiscoveryAddress) {
        self.device = device
        self.address = address
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        let sender = envelope.remoteAddress
        // A reply is longer than its request, so public addresses, which may be forged, get none.
        guard let client = sender.ipAddress.flatMap({ IPAddress($0) }), !client.isPublic,
            let request = DiscoveryRequest(Array(envelope.data.readableBytesView))
        else { return }
        guard request.matches(deviceID: device.deviceID) else { return }
        let channel = context.channel
        Self.localAddress(toward: sender, on: context.eventLoop).whenSuccess { [device, address] local in
            guard let baseURL = address.baseURL(for: sender.ipAddress ?? "", at: local) else { return }
            let reply = channel.allocator.buffer(bytes: device.discoveryReply(baseURL: baseURL))
            channel.writeAndFlush(AddressedEnvelope(remoteAddress: sender, data: reply), promise: nil)
        }
    }

    /// The local address on the route to another one. Connecting a datagram socket looks up the route and sends
    /// nothing.
    private static func localAddress(toward other: SocketAddress, on loop: any EventLoop) -> EventLoopFuture<String?> {
        DatagramBootstrap(group: loop).connect(to: other).flatMap { channel in
            let address = channel.localAddress?.ipAddress
            return channel.close().map { address }
        }
    }

    /// Ignores errors of datagrams that could not be sent, because they affect only their receivers.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
