#if TLS
    import NIOCore
    import NIOHTTP2

    /// Counts a connection of HTTP/2, and closes it when it has failed or has no stream for too long.
    final class HTTP2ConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        private let traffic: HTTPTraffic
        private let idleLimit: TimeAmount
        private var channel: (any Channel)?
        private var openStreams: Set<HTTP2StreamID> = []
        private var deadline: Scheduled<Void>?
        /// Whether the client was told that the connection, and not only a stream, has failed.
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

        /// An error of a stream has reset it, and the other streams go on. After any other error there is nothing to say.
        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            let isOfHTTP2 = error is any NIOHTTP2Error || error is NIOHTTP2Errors.StreamError
            if hasFailed || !isOfHTTP2 { context.close(promise: nil) }
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

    /// Tells a connection's handlers which streams are open, and what is written. It is called on their event loop.
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
