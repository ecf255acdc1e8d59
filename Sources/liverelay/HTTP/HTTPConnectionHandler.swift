import Dispatch
import Glibc
import HTTPSyntax
import NIOCore
import NIOHTTP1

/// Answers the requests of one client connection, as fast as the client reads.
///
/// The pipelining handler before this one delivers the next request after the end of the last response. The end is
/// written when the socket has accepted the whole body. A connection therefore holds at most one body and one file.
final class HTTPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case idle
        case answering(keepAlive: Bool)
        /// The last response was sent; only the client's end of the connection is still to come.
        case finished
    }

    private let responder: Responder
    private let deferredResponder: DeferredResponder
    private var state = State.idle
    private var file: FileTransmission?
    private var stream: ByteStream?
    /// Makes the next bytes of `stream`.
    private var production: Task<Void, Never>?
    private var isInputClosed = false
    /// Tasks that will answer to the event loop, which has to run until then.
    private let pendingWork: DispatchGroup

    init(
        responder: @escaping Responder, deferredResponder: @escaping DeferredResponder, pendingWork: DispatchGroup
    ) {
        self.responder = responder
        self.deferredResponder = deferredResponder
        self.pendingWork = pendingWork
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bodies of requests are ignored: the parser counts their bytes, and nothing keeps them.
        guard case .head(let head) = unwrapInboundIn(data), case .idle = state else { return }
        answer(head, context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        isInputClosed = true
        // A client that shuts down only its sending half still reads the response.
        if case .answering = state { return }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endStream()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension HTTPConnectionHandler {
    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let request = HTTPRequestReader(head, client: context.remoteAddress?.ipAddress)
        let keepAlive = request.allowsKeepAlive && !isInputClosed
        state = .answering(keepAlive: keepAlive)
        guard let work = request.deferredResponse(from: deferredResponder) else {
            answer(request, from: responder, keepAlive: keepAlive, context)
            return
        }
        let made = context.eventLoop.makePromise(of: Response.self)
        made.futureResult.assumeIsolated().whenSuccess { response in
            self.answer(request, from: { _ in response }, keepAlive: keepAlive, context)
        }
        perform { made.succeed(await work()) }
    }

    private func answer(
        _ request: HTTPRequestReader, from responder: (RequestTarget) -> Response, keepAlive: Bool,
        _ context: ChannelHandlerContext
    ) {
        let response = openFile(of: request.response(from: responder, date: Self.dateText()), to: request)
        let keepAlive = keepAlive && request.allowsKeepAlive(after: response)
        state = .answering(keepAlive: keepAlive)
        send(request.head(of: response, keepAlive: keepAlive), response.body, context)
    }

    private func send(_ head: HTTPResponseHead, _ body: ConditionalResponse.Body, _ context: ChannelHandlerContext) {
        let sent = makeSentPromise(context)
        if case .stream(let stream) = body { self.stream = stream }
        let sendsBytes = if case .bytes = body { true } else { false }
        context.write(wrapOutboundOut(.head(head)), promise: sendsBytes ? nil : sent)
        if case .bytes(let bytes, let range) = body {
            let buffer = context.channel.allocator.buffer(bytes: bytes[range])
            context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: sent)
        }
        context.flush()
    }

    /// Opens the response's file; returns an error response if that fails.
    private func openFile(of response: ConditionalResponse, to request: HTTPRequestReader) -> ConditionalResponse {
        guard case .file(let slice) = response.body else { return response }
        do throws(FileTransmission.Failure) {
            file = try FileTransmission.open(slice)
            return response
        } catch {
            return request.response(for: error, date: Self.dateText())
        }
    }

    /// A promise for a write; when the socket has accepted it, the next part of the response is written.
    private func makeSentPromise(_ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { self.didSend($0, context) }
        return promise
    }

    private func didSend(_ result: Result<Void, any Error>, _ context: ChannelHandlerContext) {
        guard case .success = result else {
            file = nil
            endStream()
            context.close(promise: nil)
            return
        }
        if let stream {
            sendNext(of: stream, context)
            return
        }
        do throws(FileTransmission.Failure) {
            guard let region = try file?.next() else {
                finish(context)
                return
            }
            context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(region))), promise: makeSentPromise(context))
        } catch {
            // The announced length cannot be reached: only a closed connection tells the client.
            file = nil
            context.close(promise: nil)
        }
    }

    private func sendNext(of stream: ByteStream, _ context: ChannelHandlerContext) {
        let made = context.eventLoop.makePromise(of: ArraySlice<UInt8>?.self)
        made.futureResult.assumeIsolated().whenSuccess { bytes in
            // The client may have left meanwhile.
            guard self.stream != nil else { return }
            guard let bytes else {
                self.endStream()
                self.finish(context)
                return
            }
            let buffer = context.channel.allocator.buffer(bytes: bytes)
            context.writeAndFlush(
                self.wrapOutboundOut(.body(.byteBuffer(buffer))), promise: self.makeSentPromise(context))
        }
        production = perform { made.succeed(await stream.next()) }
    }

    @discardableResult
    private func perform(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        pendingWork.enter()
        return Task { [pendingWork] in
            await work()
            pendingWork.leave()
        }
    }

    private func endStream() {
        production?.cancel()
        (stream, production) = (nil, nil)
    }

    private func finish(_ context: ChannelHandlerContext) {
        file = nil
        let isLast = if case .answering(keepAlive: true) = state { isInputClosed } else { true }
        state = isLast ? .finished : .idle
        // The end has no bytes, but during a shutdown the handlers before this one close the connection after its flush.
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        // Closing both directions with unread input would reset the connection and discard bytes under way.
        if isLast { context.close(mode: isInputClosed ? .all : .output, promise: nil) }
    }

    private static func dateText() -> String {
        HTTPDate.text(secondsSince1970: time(nil))
    }
}
