#if TLS
    import NIOCore
    import NIOTLS

    /// Refuses a connection once it can be told so, and closes one that takes long for its handshake.
    final class RefusedConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private static let handshakeLimit = TimeAmount.seconds(2)
        private var deadline: Scheduled<Void>?

        func handlerAdded(context: ChannelHandlerContext) {
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: Self.handshakeLimit) { channel.close(promise: nil) }
        }

        func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case TLSUserEvent.handshakeCompleted = event else {
                return context.fireUserInboundEventTriggered(event)
            }
            try? context.pipeline.syncOperations.addHandler(RefusalHandler())
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
#endif
