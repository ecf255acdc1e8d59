import Capture
import Glibc
import NIOCore
import Support

/// Delays, cuts and suppresses responses as a capture captured them.
///
/// `HTTPConnectionHandler`, which does not know this handler, writes a head together with the beginning of the body.
/// Each head names its transmission in a header field, which this handler removes.
final class FaultInjectionHandler: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum State {
        case passing
        /// A response that is under way or will never be sent; the promise of its write.
        case waiting(EventLoopPromise<Void>?)
    }

    private var state = State.passing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(let bytes) = unwrapOutboundIn(data), let response = PlannedResponse(bytes) else {
            return context.write(data, promise: promise)
        }
        state = .waiting(promise)
        switch response.transmission {
        case .paced(let time): send(response, over: time, cutAfter: nil, context)
        case .cut(let count, let time): send(response, over: time, cutAfter: count, context)
        case .silent: break
        case .reset(let time): schedule(after: time, context) { Self.reset($0) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if case .waiting(let promise) = state { promise?.fail(ChannelError.ioOnClosedChannel) }
        state = .passing
    }
}

extension FaultInjectionHandler {
    private func send(
        _ response: PlannedResponse, over time: Duration, cutAfter cut: Int?, _ context: ChannelHandlerContext
    ) {
        let head = context.channel.allocator.buffer(bytes: response.head)
        guard !response.body.isEmpty else {
            return schedule(after: time, context) { self.finish(head, $0) }
        }
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(head)), promise: nil)
        sendNextPart(of: PacedBody(response.body, over: time, cutAfter: cut), isCut: cut != nil, context)
    }

    /// Sends the last bytes of a response.
    private func finish(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        guard case .waiting(let promise) = state else { return }
        state = .passing
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
    }

    private func sendNextPart(of body: PacedBody, isCut: Bool, _ context: ChannelHandlerContext) {
        schedule(after: body.pause, context) { context in
            var body = body
            let part = context.channel.allocator.buffer(bytes: body.next() ?? [])
            let data = self.wrapOutboundOut(.byteBuffer(part))
            if !body.isEmpty {
                context.writeAndFlush(data, promise: nil)
                self.sendNextPart(of: body, isCut: isCut, context)
            } else if isCut {
                context.writeAndFlush(data).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
            } else {
                self.finish(part, context)
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

/// A response to be sent.
private struct PlannedResponse {
    let transmission: CapturedResponse.Transmission
    /// The head without the field of the transmission.
    let head: [UInt8]
    let body: [UInt8]

    /// - Returns: nil unless the bytes are a head with a transmission.
    init?(_ buffer: ByteBuffer) {
        let bytes = Array(buffer.readableBytesView)
        let field = Array("\r\n\(CapturedResponse.Transmission.fieldName): ".utf8)
        guard bytes.starts(with: "HTTP/1.".utf8), let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound,
            let name = bytes[..<end].firstRange(of: field)
        else { return nil }
        let value = bytes[name.upperBound...].prefix { $0 != UInt8(ascii: "\r") }
        guard let transmission = CapturedResponse.Transmission(fieldValue: String(decoding: value, as: UTF8.self))
        else {
            return nil
        }
        self.transmission = transmission
        head = Array(bytes[..<name.lowerBound] + bytes[value.endIndex..<end + 4])
        body = Array(bytes[(end + 4)...])
    }
}

extension CapturedResponse.Transmission {
    /// A header field between `CapturedOrigin` and `FaultInjectionHandler`, never sent to clients.
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
