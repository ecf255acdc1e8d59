import HTTP
import NIOCore

/// Answers a connection beyond the limits with 503 before any request, and closes it.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Seconds after which a client may try again.
    private static let retryAfter = 5
    /// The time in which the client must read the answer.
    private static let lingerTime = TimeAmount.seconds(1)

    static let answer: String = {
        let body = "Too many connections: try again in \(retryAfter) s.\n"
        let head = [
            "HTTP/1.1 503 Service Unavailable", "Retry-After: \(retryAfter)", "Connection: close",
            "Cache-Control: no-store", "Access-Control-Allow-Origin: *", "Content-Type: text/plain; charset=utf-8",
            "Content-Length: \(body.utf8.count)",
        ]
        return head.joined(separator: "\r\n") + "\r\n\r\n" + body
    }()

    private var timer: Scheduled<Void>?

    /// A refused connection that is encrypted is answered after its handshake.
    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { refuse(context) } }

    func channelActive(context: ChannelHandlerContext) { refuse(context) }

    private func refuse(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.answer)), promise: nil)
        // Closing both directions with unread input would reset the connection and discard the answer.
        context.close(mode: .output, promise: nil)
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTime) { context.close(promise: nil) }
    }

    /// Discards the request.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func channelInactive(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
