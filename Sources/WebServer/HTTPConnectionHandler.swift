import Dispatch
import Glibc
import NIOCore
import NIOHTTP1
import Support

/// Answers the requests of one client connection, as fast as the client reads.
///
/// The pipelining handler before this one delivers the next request after the end of the last response. The end is
/// written when the socket has accepted the whole body. A connection therefore holds at most one body and one file.
final class HTTPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The transport of the requests.
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
        /// The body of a request that changes something is on its way, into `body`.
        case receiving(HTTPExchange, BodyAction, RequestWork.Place)
        /// The response is being made, and nobody needs it if the client leaves.
        case held
        case answering(keepAlive: Bool)
        /// The last response was sent; only the client's end of the connection is still to come.
        case finished
    }

    private let transport: Transport
    private let responder: any Responder
    private var state = State.idle
    /// The body of the request that is being received.
    private var body: RequestBody?
    private var file: FileTransmission?
    /// The unsent rest of a body in memory, which other connections may send too.
    private var unsent: ArraySlice<UInt8> = []
    /// Counts the bytes of which `unsent` is the rest.
    private var heldBytes: HeldBytes?
    private var stream: ByteStream?
    /// Announced bytes that `stream` has not given yet; nil: their number was not announced.
    private var announced: Int?
    /// Makes the response, or the next bytes of `stream`.
    private var production: Task<Void, Never>?
    /// Whether the client sends nothing more. It may have left; requests that it sent before may still wait.
    private var hasInputEnded = false
    private var isInputClosed = false
    private let traffic: HTTPTraffic
    private var kind = Route.Kind.other
    private var requestTime = ContinuousClock.now
    /// Counts the body of the response under way.
    private var sentBytes: ByteCounter?
    /// Tasks that will answer to the event loop, which has to run until then.
    private let pendingWork: DispatchGroup
    private let connections: OpenConnections
    private var hasRequested = false
    /// Whether all of the request has arrived.
    private var isRequestComplete = true

    init(
        _ transport: Transport = .plain, responder: any Responder, pendingWork: DispatchGroup,
        connections: OpenConnections, traffic: HTTPTraffic
    ) {
        self.transport = transport
        self.responder = responder
        self.pendingWork = pendingWork
        self.connections = connections
        self.traffic = traffic
    }

    func handlerAdded(context: ChannelHandlerContext) { if transport != .stream { traffic.connectionOpened() } }

    func handlerRemoved(context: ChannelHandlerContext) { if transport != .stream { traffic.connectionClosed() } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if case .end = part { isRequestComplete = true }
        switch (part, state) {
        case (.head(let head), .idle):
            if !hasRequested { connections.recordRequest(connection(context)) }
            hasRequested = true
            isRequestComplete = false
            answer(head, context)
        case (.body(let bytes), .receiving(let request, let action, _)):
            if body?.append(bytes) == false { send(action.tooLarge, to: request, context) }
        case (.end, .receiving(let request, let action, let place)): perform(action, for: request, place, context)
        // Other bodies are ignored: the parser counts their bytes, and nothing keeps them.
        default: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ConnectionInput.Ended:
            hasInputEnded = true
            if case .held = state { production?.cancel() }
        case ChannelEvent.inputClosed:
            isInputClosed = true
            // A client that shuts down only its sending half still reads the response.
            switch state {
            case .held, .answering: break
            case .idle, .receiving, .finished: context.close(promise: nil)
            }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        endStream()
        state = .finished
        body = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

// MARK: - Requests

extension HTTPConnectionHandler {
    private func connection(_ context: ChannelHandlerContext) -> any Channel {
        transport == .stream ? context.channel.parent ?? context.channel : context.channel
    }

    private func answer(_ received: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var head = received
        // A stream has what HTTP/1.1 has: answers of any length, and one Host.
        if transport == .stream { head.version = .http1_1 }
        let request = HTTPExchange(head, from: context.channel.remoteAddress?.ipAddress)
        (kind, requestTime) = (request.kind, .now)
        switch responder.answer(to: request, limiter: connections.requests) {
        case .now(let response): send(response, to: request, context)
        case .later(let work): hold(request, work, context)
        case .body(let action): receiveBody(of: request, for: action, context)
        }
    }

    /// Makes a response that takes longer, as long as the client waits for it.
    private func hold(
        _ request: HTTPExchange, _ work: @escaping @Sendable () async -> Response, _ context: ChannelHandlerContext
    ) {
        guard let place = connections.work.place(.response, on: connection(context)) else {
            return send(.busy(kind), to: request, context)
        }
        state = .held
        let made = context.eventLoop.makePromise(of: Response.self)
        made.futureResult.assumeIsolated().whenSuccess { response in
            guard case .held = self.state else { return }
            self.send(response, to: request, context)
        }
        production = perform(holding: place) { made.succeed(await work()) }
        if hasInputEnded { production?.cancel() }
    }

    private func receiveBody(of request: HTTPExchange, for action: BodyAction, _ context: ChannelHandlerContext) {
        guard request.bodyByteCount ?? 0 <= action.limit else { return send(action.tooLarge, to: request, context) }
        guard let place = connections.work.place(action.place, on: connection(context)) else {
            return send(.busy(kind), to: request, context)
        }
        state = .receiving(request, action, place)
        body = RequestBody(limit: action.limit)
    }

    private func perform(
        _ action: BodyAction, for request: HTTPExchange, _ place: RequestWork.Place,
        _ context: ChannelHandlerContext
    ) {
        let bytes = body?.bytes ?? []
        state = .answering(keepAlive: false)
        body = nil
        let made = context.eventLoop.makePromise(of: Response.self)
        made.futureResult.assumeIsolated().whenSuccess { response in
            guard case .answering = self.state else { return }
            self.send(response, to: request, context)
        }
        perform(holding: place) { made.succeed(await action.perform(bytes)) }
    }

    @discardableResult
    private func perform(
        holding place: RequestWork.Place?, _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        pendingWork.enter()
        return Task { [pendingWork] in
            await work()
            withExtendedLifetime(place) {}
            pendingWork.leave()
        }
    }
}

// MARK: - Responses

extension HTTPConnectionHandler {
    private func send(_ response: Response, to request: HTTPExchange, _ context: ChannelHandlerContext) {
        let response = openFile(of: request.response(response, date: Self.dateText()), to: request)
        let keepAlive = !isInputClosed && request.allowsKeepAlive(after: response)
        state = .answering(keepAlive: keepAlive)
        body = nil
        traffic.record(kind, status: response.status.rawValue, after: .now - requestTime)
        (sentBytes, heldBytes) = (response.sentBytes, response.held)
        send(request.head(of: response, keepAlive: keepAlive), response.body, context)
    }

    private func send(_ head: HTTPResponseHead, _ body: ConditionalResponse.Body, _ context: ChannelHandlerContext) {
        let sent = makeSentPromise(context)
        if case .stream(let stream, let byteCount) = body { (self.stream, announced) = (stream, byteCount) }
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
    private func openFile(of response: ConditionalResponse, to request: HTTPExchange) -> ConditionalResponse {
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
                // The announced length cannot be reached: only a closed connection tells the client.
                if self.announced ?? 0 > 0 { context.close(promise: nil) } else { self.finish(context) }
                return
            }
            self.announced = self.announced.map { $0 - bytes.count }
            self.unsent = bytes
            self.writeSlice(promise: self.makeSentPromise(context), context)
            context.flush()
        }
        production = perform(holding: nil) { made.succeed(await stream.next()) }
    }

    private func countSent(_ byteCount: Int) {
        traffic.addSent(byteCount, of: kind)
        sentBytes?.add(byteCount)
    }

    private func endStream() {
        production?.cancel()
        (stream, production, unsent, heldBytes) = (nil, nil, [], nil)
    }

    private func finish(_ context: ChannelHandlerContext) {
        file = nil
        (unsent, heldBytes) = ([], nil)
        let isLast =
            if transport == .stream { true } else if case .answering(keepAlive: true) = state { isInputClosed } else {
                true
            }
        state = isLast ? .finished : .idle
        // The end has no bytes, but during a shutdown the handlers before this one close the connection after its flush.
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        guard isLast else { return }
        if transport == .stream {
            // A stream ends with its request and its answer; closing it would reset it. A client that goes on sending is
            // stopped by flow control.
            if !isRequestComplete { _ = context.channel.setOption(.autoRead, value: false) }
            return
        }
        context.triggerUserOutboundEvent(ConnectionInput.Discard(), promise: nil)
        // Closing both directions with unread input would reset the connection and discard bytes under way.
        context.close(mode: isInputClosed ? .all : .output, promise: nil)
    }

    private static func dateText() -> String {
        HTTPDate.text(secondsSince1970: time(nil))
    }
}
