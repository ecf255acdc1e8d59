import NIOCore

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
