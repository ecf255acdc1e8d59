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

    /// A connection that is encrypted has agreed on its protocol before this handler is added.
    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { begin(context) } }

    func handlerRemoved(context: ChannelHandlerContext) { check?.cancel() }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard check == nil else { return }
        lastProgress = .now()
        checkProgress(context)
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
