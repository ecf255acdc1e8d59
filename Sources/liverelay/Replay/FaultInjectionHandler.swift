import Capture
import Glibc
import NIOCore
import NIOHTTP1
import Support

/// Delays, cuts and suppresses responses as a capture recorded them.
///
/// Stands between the HTTP codec and `HTTPConnectionHandler`, which knows nothing of it. Each response head names its
/// transmission in a header field, which this handler removes.
final class FaultInjectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case passing
        /// A head that waits for its body or, without a body, for the end of the latency.
        case holding(HTTPResponseHead, EventLoopPromise<Void>?, latency: Duration, cut: Int?)
        /// A response that is under way or will never be sent; the promise of its last write.
        case waiting(EventLoopPromise<Void>?)
    }

    private var state = State.passing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch (unwrapOutboundIn(data), state) {
        case (.head(let head), _): begin(head, promise, context)
        case (.body(.byteBuffer(let buffer)), .holding(let head, _, let latency, let cut)):
            state = .waiting(promise)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
            let body = PacedBody(Array(buffer.readableBytesView), over: latency, cutAfter: cut)
            sendNextPart(of: body, isCut: cut != nil, context)
        default: context.write(data, promise: promise)
        }
    }

    func flush(context: ChannelHandlerContext) {
        if case .holding(let head, let promise, let latency, _) = state {
            // The head was flushed without a body.
            state = .waiting(promise)
            schedule(after: latency, context) { context in
                self.state = .passing
                context.writeAndFlush(self.wrapOutboundOut(.head(head)), promise: promise)
            }
        }
        context.flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .waiting(let promise) = state { promise?.fail(ChannelError.ioOnClosedChannel) }
        state = .passing
        context.fireChannelInactive()
    }
}

extension FaultInjectionHandler {
    private func begin(_ head: HTTPResponseHead, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        var head = head
        let field = head.headers.first(name: RecordedResponse.Transmission.fieldName)
        head.headers.remove(name: RecordedResponse.Transmission.fieldName)
        switch field.flatMap({ RecordedResponse.Transmission(fieldValue: $0) }) {
        case nil: context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .paced(let time): state = .holding(head, promise, latency: time, cut: nil)
        case .cut(let count, let time): state = .holding(head, promise, latency: time, cut: count)
        case .silent: state = .waiting(promise)
        case .reset(let time):
            state = .waiting(promise)
            schedule(after: time, context) { Self.reset($0) }
        }
    }

    private func sendNextPart(of body: PacedBody, isCut: Bool, _ context: ChannelHandlerContext) {
        schedule(after: body.pause, context) { context in
            var body = body
            let part = context.channel.allocator.buffer(bytes: body.next() ?? [])
            let data = self.wrapOutboundOut(.body(.byteBuffer(part)))
            guard body.isEmpty else {
                context.writeAndFlush(data, promise: nil)
                self.sendNextPart(of: body, isCut: isCut, context)
                return
            }
            if isCut {
                context.writeAndFlush(data).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
            } else if case .waiting(let promise) = self.state {
                self.state = .passing
                context.writeAndFlush(data, promise: promise)
            }
        }
    }

    /// Performs an action later, unless the connection is closed by then.
    private func schedule(
        after time: Duration, _ context: ChannelHandlerContext, _ action: @escaping (ChannelHandlerContext) -> Void
    ) {
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            if context.channel.isActive { action(context) }
        }
    }

    /// Closes with a TCP reset instead of an orderly end.
    private static func reset(_ context: ChannelHandlerContext) {
        let immediately = linger(l_onoff: 1, l_linger: 0)
        _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(immediately)
        context.close(promise: nil)
    }
}

extension RecordedResponse.Transmission {
    /// A header field between `RecordedOrigin` and `FaultInjectionHandler`, never sent to clients.
    static let fieldName = "X-LiveRelay-Transmission"

    var fieldValue: String {
        switch self {
        case .paced(let time): "paced \(time.wholeMicroseconds)"
        case .cut(let count, let time): "cut \(time.wholeMicroseconds) \(count)"
        case .reset(let time): "reset \(time.wholeMicroseconds)"
        case .silent: "silent"
        }
    }

    init?(fieldValue: String) {
        let parts = fieldValue.split(separator: " ")
        let numbers = parts.dropFirst().compactMap { Int($0) }.filter { $0 >= 0 }
        switch (parts.first, numbers.count) {
        case ("paced", 1): self = .paced(over: .microseconds(numbers[0]))
        case ("cut", 2): self = .cut(after: numbers[1], over: .microseconds(numbers[0]))
        case ("reset", 1): self = .reset(after: .microseconds(numbers[0]))
        case ("silent", 0): self = .silent
        default: return nil
        }
    }
}

/// A body that is sent in equal parts over a given time.
struct PacedBody {
    /// Short enough for a client to see a slow body instead of a late one.
    private static let longestPause = Duration.milliseconds(100)

    private var unsent: ArraySlice<UInt8>
    private let partByteCount: Int
    /// Time before each part.
    let pause: Duration

    /// - Parameters:
    ///   - time: time until the last part.
    ///   - cut: number of bytes to send; nil for all.
    init(_ bytes: [UInt8], over time: Duration, cutAfter cut: Int? = nil) {
        unsent = bytes.prefix(cut ?? bytes.count)
        let parts = min(max(1, Int(time / Self.longestPause)), max(1, unsent.count))
        partByteCount = max(1, (unsent.count + parts - 1) / parts)
        pause = time / parts
    }

    var isEmpty: Bool { unsent.isEmpty }

    /// The next part; nil after the last one.
    mutating func next() -> ArraySlice<UInt8>? {
        guard !unsent.isEmpty else { return nil }
        let part = unsent.prefix(partByteCount)
        unsent = unsent.dropFirst(part.count)
        return part
    }
}
