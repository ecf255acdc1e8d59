#if TLS
    import NIOCore

    /// Closes a connection that has not got as far as its first request in time.
    final class OpeningConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private let limit: TimeAmount
        private var deadline: Scheduled<Void>?

        init(limit: TimeAmount) { self.limit = limit }

        func handlerAdded(context: ChannelHandlerContext) {
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        }

        func handlerRemoved(context: ChannelHandlerContext) { end() }

        /// The connection is in use.
        func end() {
            deadline?.cancel()
            deadline = nil
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // A failed handshake, such as a client of plain HTTP, leaves nothing to say; others end as their handlers do.
            if deadline != nil { return context.close(promise: nil) }
            context.fireErrorCaught(error)
        }
    }
#endif
