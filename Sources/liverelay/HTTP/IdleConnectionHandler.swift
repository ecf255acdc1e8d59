import NIOCore
import NIOHTTP1

/// Closes a connection without progress: no complete request head arrived and no part of a response was sent for
/// `timeout`.
final class IdleConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let timeout: TimeAmount
    private var lastProgress = NIODeadline.now()
    private var check: Scheduled<Void>?

    init(timeout: TimeAmount) { self.timeout = timeout }

    func channelActive(context: ChannelHandlerContext) {
        lastProgress = .now()
        checkProgress(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        check?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { lastProgress = .now() }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let sent = promise ?? context.eventLoop.makePromise()
        sent.futureResult.assumeIsolated().whenSuccess { self.lastProgress = .now() }
        context.write(data, promise: sent)
    }

    private func checkProgress(_ context: ChannelHandlerContext) {
        let deadline = lastProgress + timeout
        guard deadline > .now() else {
            context.close(promise: nil)
            return
        }
        check = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.checkProgress(context) }
    }
}
