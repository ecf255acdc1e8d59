import Dispatch
import Glibc
import HTTP
import NIOCore
import NIOHTTP1
import Support

/// Answers the requests of one client connection, as fast as the client reads.
///
/// A response is complete when the socket has accepted all of it. Only then is the next request handled, so a
/// connection holds at most one body and one file. A connection without progress is closed if no complete request head
/// arrives and no part of a response is sent. A client whose response is still being made is told to ask again.
final class HTTPConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never

    private enum State {
        /// A request may arrive, or the rest of the last request's body, which is ignored.
        case idle
        /// The body of a request that changes something is arriving, into `body`.
        case receiving(HTTPExchange, BodyAction, RequestWork.Place)
        /// The response is being made. It is not needed any more if the client leaves.
        case held(HTTPExchange)
        case answering(keepAlive: Bool)
        /// The last response was sent; only the client's end of the connection is still to come.
        case finished
    }

    private let transport: Transport
    private var output: ResponseOutput
    private let responder: any Responder
    private var state = State.idle
    private var body: RequestBody?
    private var file: FileTransmission?
    /// The unsent rest of a body in memory, which other connections may send too.
    private var unsent: ArraySlice<UInt8> = []
    /// Counts the bytes of the array of which `unsent` is a part.
    private var heldBytes: HeldBytes?
    private var stream: ByteStream?
    /// Announced bytes that `stream` has not delivered yet; nil: no number was announced.
    private var announced: Int?
    /// Makes the response, or the next bytes of `stream`.
    private var pendingResponse: PendingResponse?
    /// The number of held requests so far, which identifies the current one: an immediate response may hold the next
    /// request.
    private var holdCount = 0
    /// Input after the request that is being answered.
    private var waiting = WaitingInput()
    private var isReceivingWaiting = false
    /// Whether the client has closed its sending side. Requests that it sent before may still be waiting.
    private var hasInputEnded = false
    /// Whether the waiting requests are answered too.
    private var isInputClosed = false
    /// Whether the server stops, so that the current response is the last one.
    private var isDraining = false
    private let traffic: HTTPTraffic
    private var kind = Route.Kind.other
    private var requestTime = NIODeadline.now()
    private let idleTime: TimeAmount
    private var lastProgress = NIODeadline.now()
    private var idleCheck: Scheduled<Void>?
    /// Counts the body of the current response.
    private var sentBytes: ByteCounter?
    /// Tasks that will call the event loop, which must run until then.
    private let pendingWork: DispatchGroup
    private let connections: OpenConnections
    private let readyAnswers: ReadyAnswers
    private var hasRequested = false
    /// The requests that are recognized if the client sends them again, by their numbers; a request is made of the head when
    /// it is repeated.
    private var remembered: [Int: (head: HTTPRequestHead, request: HTTPExchange?)] = [:]
    /// The number of the next request from the parser.
    private var nextNumber: Int?
    private var isRequestComplete = true
    /// The address of the client, as text.
    private var peer: String?

    init(
        _ transport: Transport = .plain, responder: any Responder, pendingWork: DispatchGroup,
        connections: OpenConnections, traffic: HTTPTraffic, readyAnswers: ReadyAnswers, idleTime: TimeAmount
    ) {
        self.transport = transport
        output = ResponseOutput(isStream: transport == .stream)
        self.responder = responder
        self.pendingWork = pendingWork
        self.connections = connections
        self.traffic = traffic
        self.readyAnswers = readyAnswers
        self.idleTime = idleTime
    }

    /// An encrypted connection has agreed on its protocol before this handler is added.
    func handlerAdded(context: ChannelHandlerContext) {
        if transport != .stream { traffic.connectionOpened() }
        if context.channel.isActive { begin(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if transport != .stream { traffic.connectionClosed() }
        idleCheck?.cancel()
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        peer = context.channel.remoteAddress?.ipAddress
        if idleCheck == nil { checkProgress(context) }
    }

    /// How long the server waits for another request on a connection that closes after its next response.
    private static let closingIdleTime = TimeAmount.seconds(15)

    private func checkProgress(_ context: ChannelHandlerContext) {
        var idleTime = idleTime
        if case .idle = state, isRequestComplete, connections.isClosing {
            idleTime = min(idleTime, Self.closingIdleTime)
        }
        if lastProgress + idleTime <= .now() {
            guard case .held(let request) = state else { return context.close(promise: nil) }
            pendingResponse?.cancel()
            lastProgress = .now()
            send(.late(kind), to: request, context)
        }
        let deadline = lastProgress + idleTime
        idleCheck = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.checkProgress(context) }
    }

    /// Checks the progress with another limit.
    private func checkProgressAnew(_ context: ChannelHandlerContext) {
        idleCheck?.cancel()
        checkProgress(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        idleCheck?.cancel()
        endStream()
        state = .finished
        body = nil
        waiting.removeAll()
        context.fireChannelInactive()
    }
}

// MARK: - Input

extension HTTPConnectionHandler {
    /// Whether new input must wait because a whole request is being answered. An HTTP/2 stream has only one request.
    private var holdsRequests: Bool {
        guard isRequestComplete, transport != .stream else { return false }
        return switch state {
        case .held, .answering: true
        case .idle, .receiving, .finished: false
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if let number = nextNumber, case .head(let head) = part {
            remembered[number] = (head, nil)
            nextNumber = nil
        }
        if holdsRequests || !waiting.isEmpty { waiting.append(.part(part)) } else { receive(part, context) }
    }

    /// Handles a request again, which had no body.
    private func receiveRepeated(_ number: Int, _ context: ChannelHandlerContext) {
        guard let (head, known) = remembered[number] else { return }
        if holdsRequests || !waiting.isEmpty {
            waiting.append(.part(.head(head)))
            waiting.append(.part(.end(nil)))
        } else if case .idle = state {
            isRequestComplete = false
            let request = known ?? HTTPExchange(head, in: responder.paths, from: peer)
            if known == nil { remembered[number] = (head, request) }
            answer(request, context)
            receive(.end(nil), context)
        }
    }

    private func receive(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
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
        case (.end, .idle) where isDraining: context.close(promise: nil)
        // Any other body is ignored: the parser counts its bytes, and they are dropped.
        default: break
        }
    }

    /// Handles the input that waited for the end of a response, up to the next request that is not answered at once.
    private func receiveWaiting(_ context: ChannelHandlerContext) {
        // A request that is answered at once returns here again. This check keeps thousands of such requests from
        // growing the stack.
        guard !isReceivingWaiting else { return }
        isReceivingWaiting = true
        defer { isReceivingWaiting = false }
        while let element = waiting.popFirst(holdsRequests: holdsRequests) {
            switch element {
            case .part(let part): receive(part, context)
            case .malformed(let error): refuse(error, context)
            case .inputClosed: closeInput(context)
            }
        }
        resumeReading(context)
    }

    /// Nothing is read while a request waits.
    func read(context: ChannelHandlerContext) {
        waiting.isReadPending = true
        resumeReading(context)
    }

    private func resumeReading(_ context: ChannelHandlerContext) {
        guard waiting.isReadPending, !holdsRequests else { return }
        waiting.isReadPending = false
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case RepeatedRequest.Event.remembered(let number): nextNumber = number
        case RepeatedRequest.Event.repeated(let number): receiveRepeated(number, context)
        case ChannelEvent.inputClosed:
            if transport != .stream {
                hasInputEnded = true
                if case .held = state { pendingResponse?.cancel() }
            }
            if holdsRequests, !waiting.isEmpty { waiting.append(.inputClosed) } else { closeInput(context) }
        case is ChannelShouldQuiesceEvent where transport != .stream:
            isDraining = true
            waiting.removeAll()
            switch state {
            case .idle where isRequestComplete, .finished: context.close(promise: nil)
            case .idle, .receiving, .held, .answering: break
            }
        case is ConnectionsClosing where transport != .stream: checkProgressAnew(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func closeInput(_ context: ChannelHandlerContext) {
        isInputClosed = true
        // A client that shuts down only its sending half still reads the response.
        switch state {
        case .held, .answering: break
        case .idle, .receiving, .finished: context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard transport != .stream, let error = error as? HTTPParserError else { return context.close(promise: nil) }
        if holdsRequests { waiting.append(.malformed(error)) } else { refuse(error, context) }
    }

    /// Answers input that is not an HTTP/1.1 request with 400, or with 431 if the head is too large (RFC 6585 §5), and
    /// closes the connection. Inside another response, nothing can be sent.
    private func refuse(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
        switch state {
        case .idle, .receiving, .held:
            let fields = [("Connection", "close"), ("Content-Length", "0")].map { HeaderField(name: $0.0, value: $0.1) }
            let status = error == .headerOverflow ? HTTPStatus.requestHeaderFieldsTooLarge : .badRequest
            output.write(OutgoingHead(status: status, fields: fields), [], promise: nil, context)
        case .answering, .finished: break
        }
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
        // A stream supports everything of HTTP/1.1: answers of unknown length, and one Host.
        if transport == .stream { head.version = .http1_1 }
        answer(HTTPExchange(head, in: responder.paths, from: peer), context)
    }

    private func answer(_ request: HTTPExchange, _ context: ChannelHandlerContext) {
        (kind, requestTime) = (request.received.route.kind, .now())
        lastProgress = requestTime
        switch responder.answer(to: request.received, limiter: connections.requests) {
        case .now(let response): send(response, to: request, context)
        case .later(let work):
            hold(request, as: .response, context) { place, made in
                .task(holding: place, pendingWork) { made.succeed(await work()) }
            }
        case .waiting(let begin):
            hold(request, as: .wait, context) { [pendingWork] place, made in
                .wait(for: begin, holding: place, pendingWork) { made.succeed($0) }
            }
        case .body(let action): receiveBody(of: request, for: action, context)
        }
    }

    /// Makes a response that takes longer, as long as the client waits for it.
    private func hold(
        _ request: HTTPExchange, as kind: RequestWork.Kind, _ context: ChannelHandlerContext,
        _ produce: (RequestWork.Place, EventLoopPromise<Response>) -> PendingResponse
    ) {
        guard let place = connections.work.place(kind, on: connection(context)) else {
            return send(.busy(self.kind), to: request, context)
        }
        state = .held(request)
        holdCount &+= 1
        let hold = holdCount
        let made = context.eventLoop.makePromise(of: Response.self)
        made.futureResult.assumeIsolated().whenSuccess { response in
            // A response that comes too late belongs to a request that was answered already.
            guard hold == self.holdCount, case .held = self.state else { return }
            self.send(response, to: request, context)
        }
        let begun = produce(place, made)
        guard hold == holdCount, case .held = state else { return }
        pendingResponse = begun
        if hasInputEnded { begun.cancel() }
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
        _ = PendingResponse.task(holding: place, pendingWork) { made.succeed(await action.perform(bytes)) }
    }
}

// MARK: - Responses

extension HTTPConnectionHandler {
    private func send(_ response: Response, to request: HTTPExchange, _ context: ChannelHandlerContext) {
        let isLast = isInputClosed || isDraining || transport != .stream && connections.isClosing
        let (now, variant) = (time(nil), isLast || transport == .stream ? nil : request.variant)
        if let variant, let ready = readyAnswers.find(response, variant, second: now) {
            begin(response.status, keepAlive: true, response.sentBytes, nil)
            output = ResponseOutput(isStream: false)
            countSent(ready.bodyByteCount)
            return output.write(.byteBuffer(ready.bytes), promise: makeSentPromise(context), context)
        }
        let answer = openFile(of: request.response(response, date: HTTPDate.text(ofNow: now)), to: request)
        let keepAlive = !isLast && request.allowsKeepAlive(after: answer)
        begin(answer.status, keepAlive: keepAlive, answer.sentBytes, answer.held)
        switch answer.body {
        case .none, .file: break
        case .bytes(let bytes, let range): unsent = bytes[range]
        case .stream(let stream, let byteCount): (self.stream, announced) = (stream, byteCount)
        }
        let head = request.head(of: answer, keepAlive: keepAlive)
        output = ResponseOutput(isStream: transport == .stream, isChunked: head.isChunked)
        let slice = nextSlice()
        if let variant, unsent.isEmpty, slice.count <= ReadyAnswers.bodyLimit,
            let bytes = head.bytes(before: slice, context.channel.allocator)
        {
            readyAnswers.keep(bytes, bodyByteCount: slice.count, of: response, variant, second: now)
            return output.write(.byteBuffer(bytes), promise: makeSentPromise(context), context)
        }
        output.write(head, slice, promise: makeSentPromise(context), context)
    }

    private func begin(_ status: HTTPStatus, keepAlive: Bool, _ sentBytes: ByteCounter?, _ heldBytes: HeldBytes?) {
        state = .answering(keepAlive: keepAlive)
        body = nil
        traffic.record(kind, status: status.rawValue, after: .init(.now() - requestTime))
        (self.sentBytes, self.heldBytes) = (sentBytes, heldBytes)
    }

    /// The next slice of a body in memory, which is counted as sent. A slow client holds a copy of at most one slice.
    private func nextSlice() -> ArraySlice<UInt8> {
        let slice = unsent.prefix(transport.sliceByteCount)
        unsent = unsent.dropFirst(slice.count)
        if !slice.isEmpty { countSent(slice.count) }
        return slice
    }

    /// Opens the response's file; returns an error response if that fails.
    private func openFile(of response: ConditionalResponse, to request: HTTPExchange) -> ConditionalResponse {
        guard case .file(let slice) = response.body else { return response }
        do throws(FileTransmission.Failure) {
            file = try FileTransmission.open(slice)
            return response
        } catch {
            return request.response(for: error, date: HTTPDate.text(ofNow: time(nil)))
        }
    }

    /// A promise for a write. When the socket has accepted the write, the next part of the response is written.
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
        lastProgress = .now()
        if !unsent.isEmpty { return output.write(nextSlice(), promise: makeSentPromise(context), context) }
        if let stream { return sendNext(of: stream, context) }
        do throws(FileTransmission.Failure) {
            guard let part = try nextPart(context) else { return finish(context) }
            countSent(part.readableBytes)
            output.write(part, promise: makeSentPromise(context), context)
        } catch {
            // The announced length cannot be reached: only a closed connection tells the client.
            file = nil
            context.close(promise: nil)
        }
    }

    /// The next part of the file. Only a plain connection sends it without reading it into memory.
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
            self.output.write(self.nextSlice(), promise: self.makeSentPromise(context), context)
        }
        pendingResponse = .task(holding: nil, pendingWork) { made.succeed(await stream.next()) }
    }

    private func countSent(_ byteCount: Int) {
        traffic.addSent(byteCount, of: kind)
        sentBytes?.add(byteCount)
    }

    private func endStream() {
        pendingResponse?.cancel()
        (stream, pendingResponse, unsent, heldBytes) = (nil, nil, [], nil)
    }

    private func finish(_ context: ChannelHandlerContext) {
        file = nil
        (unsent, heldBytes) = ([], nil)
        output.writeEnd(context)
        if transport == .stream {
            state = .finished
            // An HTTP/2 stream ends with its request and its answer; closing it would reset it. If the client goes on
            // sending, flow control stops it.
            if !isRequestComplete { _ = context.channel.setOption(.autoRead, value: false) }
            return
        }
        if case .answering(keepAlive: true) = state, !isInputClosed, !isDraining {
            state = .idle
            if connections.isClosing { checkProgressAnew(context) }
            return receiveWaiting(context)
        }
        state = .finished
        waiting.removeAll()
        context.triggerUserOutboundEvent(ConnectionInput.Discard(), promise: nil)
        // Closing both directions with unread input would reset the connection and discard bytes under way.
        let hasInput = !isInputClosed && !(isDraining && isRequestComplete)
        context.close(mode: hasInput ? .output : .all, promise: nil)
        resumeReading(context)
    }
}
