#if TLS
    import NIOCore
    import NIOHTTP2

    /// Counts a connection of HTTP/2, whose streams are none.
    final class ConnectionCountHandler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        private let traffic: HTTPTraffic

        init(_ traffic: HTTPTraffic) { self.traffic = traffic }

        func handlerAdded(context: ChannelHandlerContext) { traffic.connectionOpened() }

        func handlerRemoved(context: ChannelHandlerContext) { traffic.connectionClosed() }

        /// A client that leaves, or breaks the protocol, says nothing that can be answered.
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
#endif
