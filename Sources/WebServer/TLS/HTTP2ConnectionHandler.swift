import HTTP

#if TLS
    import NIOCore
    import NIOHTTP2

    /// Counts an HTTP/2 connection, and closes it after an error or after too long without a stream.
    final class HTTP2ConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        private let traffic: HTTPTraffic
        private let idleLimit: TimeAmount
        private var channel: (any Channel)?
        private var openStreams: Set<HTTP2StreamID> = []
        private var deadline: Scheduled<Void>?
        /// Whether the client was told that the whole connection has failed, not only a stream.
        private var hasFailed = false

        /// - Parameter idleLimit: time without a stream after which the connection closes, whether its client answers or not.
        init(_ traffic: HTTPTraffic, idleLimit: TimeAmount) {
            self.traffic = traffic
            self.idleLimit = idleLimit
        }

        func handlerAdded(context: ChannelHandlerContext) {
            channel = context.channel
            traffic.connectionOpened()
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            deadline?.cancel()
            channel = nil
            traffic.connectionClosed()
        }

        /// An error of one stream has already reset it, and the other streams continue. After any other error nothing
        /// can be sent.
        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            let isOfHTTP2 = error is any NIOHTTP2Error || error is NIOHTTP2Errors.StreamError
            if hasFailed || !isOfHTTP2 { context.close(promise: nil) }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard event is ConnectionsClosing else { return context.fireUserInboundEventTriggered(event) }
            // The handler that manages the connection comes before this one.
            context.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }

        fileprivate func open(_ id: HTTP2StreamID) {
            openStreams.insert(id)
            deadline?.cancel()
            deadline = nil
        }

        fileprivate func close(_ id: HTTP2StreamID) {
            openStreams.remove(id)
            guard openStreams.isEmpty, deadline == nil, let channel else { return }
            deadline = channel.eventLoop.scheduleTask(in: idleLimit) { channel.close(promise: nil) }
        }

        fileprivate func recordWritten(_ frame: HTTP2Frame) {
            if case .goAway(_, let code, _) = frame.payload, code != .noError { hasFailed = true }
        }
    }

    /// Reports the open streams and the written bytes to a connection's handlers. Called on their event loop.
    struct HTTP2ConnectionObserver: NIOHTTP2StreamDelegate, NIOHTTP2FrameDelegate {
        private let handler: NIOLoopBound<HTTP2ConnectionHandler>
        private let manager: NIOHTTP2ServerConnectionManagementHandler.HTTP2StreamDelegate

        init(
            _ handler: HTTP2ConnectionHandler, _ manager: NIOHTTP2ServerConnectionManagementHandler,
            eventLoop: any EventLoop
        ) {
            self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
            self.manager = manager.http2StreamDelegate
        }

        func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
            handler.value.open(id)
            manager.streamCreated(id, channel: channel)
        }

        func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
            handler.value.close(id)
            manager.streamClosed(id, channel: channel)
        }

        func wroteFrame(_ frame: HTTP2Frame) { handler.value.recordWritten(frame) }
    }
#endif
