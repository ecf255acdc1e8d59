import Glibc
import NIOCore
import NIOHTTP1

/// One client connection: each request head becomes one response, written as fast as the client reads it.
///
/// The pipelining handler before this one delivers the next request only after the end of the last response, and the
/// end is written only when the socket has taken the whole body: so a connection owns at most one body and one file.
final class HTTPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case idle
        case answering(keepAlive: Bool)
        /// The last response is out; only the client's end of the connection is awaited.
        case finished
    }

    private let responder: Responder
    private let idleTimeout: TimeAmount
    private var state = State.idle
    private var files: FileTransmission?
    private var inputClosed = false
    private var lastProgress = NIODeadline.now()
    private var idleCheck: Scheduled<Void>?

    init(responder: @escaping Responder, idleTimeout: TimeAmount) {
        self.responder = responder
        self.idleTimeout = idleTimeout
    }

    func channelActive(context: ChannelHandlerContext) {
        lastProgress = .now()
        checkIdleness(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The body of a request means nothing here: the parser counts it off, and nobody keeps it.
        guard case .head(let head) = unwrapInboundIn(data), case .idle = state else { return }
        answer(head, context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            inputClosed = true
            if case .answering = state { return }  // who shuts down only its sending half still reads the answer
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension HTTPConnectionHandler {
    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        lastProgress = .now()
        let request = HTTPRequestReader(head)
        let keepAlive = request.allowsKeepAlive && !inputClosed
        let framed = openFiles(of: request.response(from: responder, date: Self.dateText()), to: request)
        state = .answering(keepAlive: keepAlive)
        switch framed.pace {
        case .prompt: send(request.head(of: framed, keepAlive: keepAlive), framed.body, context)
        case .slow(let time, let limit):
            sendSlowly(request.head(of: framed, keepAlive: keepAlive), framed.body, over: time, limit, context)
        case .silent(let limit):
            if let limit { schedule(after: TimeAmount(limit), context) { self.reset($0) } }
        }
    }

    private func send(_ head: HTTPResponseHead, _ body: ConditionalResponse.Body, _ context: ChannelHandlerContext) {
        let last = makeNextPartPromise(context)
        let sendsBytes = if case .bytes = body { true } else { false }
        context.write(wrapOutboundOut(.head(head)), promise: sendsBytes ? nil : last)
        if case .bytes(let bytes, let range) = body {
            let buffer = context.channel.allocator.buffer(bytes: bytes[range])
            context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: last)
        }
        context.flush()
    }

    /// The response itself, with its first file open; or what to say instead if there is no such file any more.
    private func openFiles(of framed: ConditionalResponse, to request: HTTPRequestReader) -> ConditionalResponse {
        guard case .files(let slices) = framed.body else { return framed }
        do throws(FileTransmission.Failure) {
            files = try FileTransmission(slices)
            return framed
        } catch {
            return request.response(for: error, date: Self.dateText())
        }
    }

    /// Of a write: once the socket has taken it, the next part of the response follows.
    private func makeNextPartPromise(_ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { self.didSend($0, context) }
        return promise
    }

    private func didSend(_ result: Result<Void, any Error>, _ context: ChannelHandlerContext) {
        guard case .success = result else {
            files = nil
            context.close(promise: nil)
            return
        }
        lastProgress = .now()
        do throws(FileTransmission.Failure) {
            guard let region = try files?.next() else {
                finish(context)
                return
            }
            context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(region))), promise: makeNextPartPromise(context))
        } catch {
            // The announced length can no longer be kept: only a broken connection tells the client so.
            files = nil
            context.close(promise: nil)
        }
    }

    private func finish(_ context: ChannelHandlerContext) {
        files = nil
        let isLast = if case .answering(keepAlive: true) = state { inputClosed } else { true }
        state = isLast ? .finished : .idle
        // Nothing is sent for the end, but at shutdown the handlers before this one close the connection once it is
        // flushed.
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        // Closing both halves over unread input would reset the connection and destroy what is on its way.
        if isLast { context.close(mode: inputClosed ? .all : .output, promise: nil) }
    }

    private static func dateText() -> String {
        HTTPDate.text(secondsSince1970: time(nil))
    }
}

// MARK: - Answers slower than the client would take them

extension HTTPConnectionHandler {
    /// The head at once, the body part by part; without a body the head comes when the time is over.
    private func sendSlowly(
        _ head: HTTPResponseHead, _ body: ConditionalResponse.Body, over time: Duration, _ limit: Int?,
        _ context: ChannelHandlerContext
    ) {
        guard case .bytes(let bytes, let range) = body else {
            schedule(after: TimeAmount(time), context) { self.send(head, body, $0) }
            return
        }
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        sendNextPart(of: PacedBody(bytes, range, over: time, breaksOffAfter: limit), context)
    }

    private func sendNextPart(of body: PacedBody, _ context: ChannelHandlerContext) {
        schedule(after: body.pause, context) { context in
            var body = body
            guard let part = body.next() else {
                if body.breaksOff { context.close(promise: nil) } else { self.finish(context) }
                return
            }
            self.lastProgress = .now()
            let buffer = context.channel.allocator.buffer(bytes: part)
            context.writeAndFlush(self.wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
            self.sendNextPart(of: body, context)
        }
    }

    /// Nothing happens on a connection that is closed by then.
    private func schedule(
        after time: TimeAmount, _ context: ChannelHandlerContext, _ work: @escaping (ChannelHandlerContext) -> Void
    ) {
        context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            if context.channel.isActive { work(context) }
        }
    }

    /// So that the client sees no end but a broken connection.
    private func reset(_ context: ChannelHandlerContext) {
        let atOnce = linger(l_onoff: 1, l_linger: 0)
        _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(atOnce)
        context.close(promise: nil)
    }
}

extension HTTPConnectionHandler {
    /// Closes a connection on which for `idleTimeout` no request was complete and no slice of a body was taken.
    private func checkIdleness(_ context: ChannelHandlerContext) {
        let deadline = lastProgress + idleTimeout
        guard deadline > .now() else {
            context.close(promise: nil)
            return
        }
        idleCheck = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.checkIdleness(context)
        }
    }
}
