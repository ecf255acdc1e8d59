import Dispatch
import Glibc
import HTTPSyntax
import NIOCore
import NIOHTTP1
import Playlist

/// Answers the requests of one client connection, as fast as the client reads.
///
/// The pipelining handler before this one delivers the next request after the end of the last response. The end is
/// written when the socket has accepted the whole body. A connection therefore holds at most one body and one file.
final class HTTPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// What carries the requests.
    enum Transport {
        /// A TCP connection, to which the kernel copies files.
        case plain
        /// A TLS connection.
        case secure
        /// A stream of an HTTP/2 connection, for one request.
        case stream

        /// The largest part of a body that is written at once, and copied for a client that reads slowly. A connection of
        /// HTTP/2 has many streams, and TLS gains nothing from larger ones.
        var sliceByteCount: Int {
            self == .plain ? FileTransmission.sliceByteCount : FileTransmission.readByteCount
        }
    }

    private enum State {
        case idle
        /// The body of a request that changes something is on its way.
        case receiving(HTTPRequestReader, RequestAction, body: [UInt8])
        case answering(keepAlive: Bool)
        /// The last response was sent; only the client's end of the connection is still to come.
        case finished
    }

    private let transport: Transport
    private let responder: Responder
    private let deferredResponder: DeferredResponder
    private let actionResponder: ActionResponder
    private var state = State.idle
    private var file: FileTransmission?
    /// What is unsent of a body in memory, which other connections may send too.
    private var unsent: ArraySlice<UInt8> = []
    /// What counts the bytes of which `unsent` is the rest.
    private var held: HeldBytes?
    private var stream: ByteStream?
    /// Makes the response, or the next bytes of `stream`.
    private var production: Task<Void, Never>?
    private var isInputClosed = false
    private let traffic: HTTPTraffic
    private var route = HTTPRoute.other
    private var requestTime = ContinuousClock.now
    /// Counts the body of the response under way.
    private var sentBytes: ByteCounter?
    /// Tasks that will answer to the event loop, which has to run until then.
    private let pendingWork: DispatchGroup
    private let connections: OpenConnections
    private var hasRequested = false

    init(
        _ transport: Transport = .plain, responder: @escaping Responder, deferredResponder: @escaping DeferredResponder,
        actionResponder: @escaping ActionResponder = { _ in nil }, pendingWork: DispatchGroup,
        connections: OpenConnections, traffic: HTTPTraffic
    ) {
        self.transport = transport
        self.responder = responder
        self.deferredResponder = deferredResponder
        self.actionResponder = actionResponder
        self.pendingWork = pendingWork
        self.connections = connections
        self.traffic = traffic
    }

    func handlerAdded(context: ChannelHandlerContext) { if transport != .stream { traffic.connectionOpened() } }

    func handlerRemoved(context: ChannelHandlerContext) { if transport != .stream { traffic.connectionClosed() } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .idle):
            if !hasRequested { connections.recordRequest(connection(context)) }
            hasRequested = true
            answer(head, context)
        case (.body(let bytes), .receiving(let request, let action, let body)):
            receive(bytes, of: request, action, after: body, context)
        case (.end, .receiving(let request, let action, let body)): perform(action, body, for: request, context)
        // Other bodies are ignored: the parser counts their bytes, and nothing keeps them.
        default: break
        }
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
    private func connection(_ context: ChannelHandlerContext) -> any Channel {
        transport == .stream ? context.channel.parent ?? context.channel : context.channel
    }

    private func answer(_ received: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var head = received
        // A stream has what HTTP/1.1 has: answers of any length, and one Host.
        if transport == .stream { head.version = .http1_1 }
        let request = HTTPRequestReader(head, from: context.channel.remoteAddress?.ipAddress)
        (route, requestTime) = (request.route, .now)
        if let refusal = connections.requests?.refusal(of: request) {
            let response = request.response(toAction: refusal, date: Self.dateText())
            send(response, to: request, keepAlive: beginAnswering(request), context)
            return
        }
        if let action = request.action(from: actionResponder) {
            state = .receiving(request, action, body: [])
            return
        }
        let keepAlive = beginAnswering(request)
        guard let work = request.deferredResponse(from: deferredResponder) else {
            answer(request, from: responder, keepAlive: keepAlive, context)
            return
        }
        let made = context.eventLoop.makePromise(of: Response.self)
        made.futureResult.assumeIsolated().whenSuccess { response in
            // The client may have left meanwhile.
            guard context.channel.isActive else { return }
            self.answer(request, from: { _ in response }, keepAlive: keepAlive, context)
        }
        production = perform { made.succeed(await work()) }
    }

    private func perform(
        _ action: RequestAction, _ body: [UInt8], for request: HTTPRequestReader, _ context: ChannelHandlerContext
    ) {
        let keepAlive = beginAnswering(request)
        let made = context.eventLoop.makePromise(of: Response.self)
        made.futureResult.assumeIsolated().whenSuccess { response in
            guard context.channel.isActive else { return }
            let response = request.response(toAction: response, date: Self.dateText())
            self.send(response, to: request, keepAlive: keepAlive, context)
        }
        perform { made.succeed(await action.perform(body)) }
    }

    /// - Returns: whether another request may follow.
    private func beginAnswering(_ request: HTTPRequestReader) -> Bool {
        let keepAlive = request.allowsKeepAlive && !isInputClosed
        state = .answering(keepAlive: keepAlive)
        return keepAlive
    }

    private func receive(
        _ bytes: ByteBuffer, of request: HTTPRequestReader, _ action: RequestAction, after body: [UInt8],
        _ context: ChannelHandlerContext
    ) {
        guard body.count + bytes.readableBytes <= action.bodyLimit else {
            send(
                request.response(toAction: action.refusal, date: Self.dateText()), to: request, keepAlive: false,
                context)
            return
        }
        state = .receiving(request, action, body: body + Array(buffer: bytes))
    }

    private func answer(
        _ request: HTTPRequestReader, from responder: (RequestTarget) -> Response, keepAlive: Bool,
        _ context: ChannelHandlerContext
    ) {
        let response = openFile(of: request.response(from: responder, date: Self.dateText()), to: request)
        send(response, to: request, keepAlive: keepAlive, context)
    }

    private func send(
        _ response: ConditionalResponse, to request: HTTPRequestReader, keepAlive: Bool,
        _ context: ChannelHandlerContext
    ) {
        let keepAlive = keepAlive && request.allowsKeepAlive(after: response)
        state = .answering(keepAlive: keepAlive)
        traffic.record(route, status: response.status.rawValue, after: .now - requestTime)
        (sentBytes, held) = (response.sentBytes, response.held)
        send(request.head(of: response, keepAlive: keepAlive), response.body, context)
    }

    private func send(_ head: HTTPResponseHead, _ body: ConditionalResponse.Body, _ context: ChannelHandlerContext) {
        let sent = makeSentPromise(context)
        if case .stream(let stream) = body { self.stream = stream }
        if case .bytes(let bytes, let range) = body {
            unsent = bytes[range]
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            writeSlice(promise: sent, context)
        } else {
            context.write(wrapOutboundOut(.head(head)), promise: sent)
        }
        context.flush()
    }

    /// Writes the next slice of a body in memory. A client that reads slowly holds no copy of more.
    private func writeSlice(promise: EventLoopPromise<Void>, _ context: ChannelHandlerContext) {
        let slice = unsent.prefix(transport.sliceByteCount)
        unsent = unsent.dropFirst(slice.count)
        countSent(slice.count)
        let buffer = context.channel.allocator.buffer(bytes: slice)
        context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: promise)
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
        if !unsent.isEmpty {
            writeSlice(promise: makeSentPromise(context), context)
            context.flush()
            return
        }
        if let stream {
            sendNext(of: stream, context)
            return
        }
        do throws(FileTransmission.Failure) {
            guard let part = try nextPart(context) else {
                finish(context)
                return
            }
            countSent(part.readableBytes)
            context.writeAndFlush(wrapOutboundOut(.body(part)), promise: makeSentPromise(context))
        } catch {
            // The announced length cannot be reached: only a closed connection tells the client.
            file = nil
            context.close(promise: nil)
        }
    }

    /// The next part of the file, which only a plain connection sends without reading it.
    private func nextPart(_ context: ChannelHandlerContext) throws(FileTransmission.Failure) -> IOData? {
        if transport == .plain { return try file?.next().map { .fileRegion($0) } }
        return try file?.read(context.channel.allocator).map { .byteBuffer($0) }
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
            self.unsent = bytes
            self.writeSlice(promise: self.makeSentPromise(context), context)
            context.flush()
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

    private func countSent(_ byteCount: Int) {
        traffic.addSent(byteCount, of: route)
        sentBytes?.add(byteCount)
    }

    private func endStream() {
        production?.cancel()
        (stream, production, unsent, held) = (nil, nil, [], nil)
    }

    private func finish(_ context: ChannelHandlerContext) {
        file = nil
        (unsent, held) = ([], nil)
        let isLast =
            if transport == .stream { true } else if case .answering(keepAlive: true) = state { isInputClosed } else {
                true
            }
        state = isLast ? .finished : .idle
        // The end has no bytes, but during a shutdown the handlers before this one close the connection after its flush.
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        // A stream ends with its request and its answer; closing it would reset it.
        if transport == .stream { return }
        // Closing both directions with unread input would reset the connection and discard bytes under way.
        if isLast { context.close(mode: isInputClosed ? .all : .output, promise: nil) }
    }

    private static func dateText() -> String {
        HTTPDate.text(secondsSince1970: time(nil))
    }
}
