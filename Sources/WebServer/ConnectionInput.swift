import NIOCore

/// The first handler of a connection's bytes.
///
/// It tells the others at once that the client sends nothing more: the pipelining handler holds that back while requests
/// wait. After the last response, it discards what still comes instead of having it parsed.
final class ConnectionInput: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    /// Inbound: the client sends nothing more. It has left, or waits for the responses.
    struct Ended: Sendable {}

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

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.fireUserInboundEventTriggered(Ended()) }
        context.fireUserInboundEventTriggered(event)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is Discard else { return context.triggerUserOutboundEvent(event, promise: promise) }
        isDiscarding = true
        promise?.succeed()
    }
}
