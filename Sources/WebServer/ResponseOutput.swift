import HTTP
import NIOCore
import NIOHTTP1

/// Writes a response in the form that the preceding handlers expect: bytes of HTTP/1.1, or parts for the codec of an
/// HTTP/2 stream. Each write is flushed.
struct ResponseOutput {
    /// The space for the length of a chunk and its line ends.
    private static let chunkFrameByteCount = 20
    private static let lastChunk = ByteBuffer(string: "0\r\n\r\n")

    private let isStream: Bool
    /// Whether the body of the response is sent in chunks.
    private let isChunked: Bool

    /// - Parameter isChunked: whether HTTP/1.1 would send the body in chunks. HTTP/2 has frames instead (RFC 9113 §8.1).
    init(isStream: Bool, isChunked: Bool = false) {
        self.isStream = isStream
        self.isChunked = isChunked && !isStream
    }

    /// Writes a head and the first bytes of the body, which are empty unless the body is in memory.
    func write(
        _ head: OutgoingHead, _ slice: ArraySlice<UInt8>, promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) {
        if isStream {
            context.write(NIOAny(HTTPServerResponsePart.head(head.part)), promise: slice.isEmpty ? promise : nil)
            return slice.isEmpty ? context.flush() : write(slice, promise: promise, context)
        }
        guard let buffer = head.bytes(before: slice, context.channel.allocator) else {
            promise?.fail(HTTPParserError.invalidHeaderToken)
            return
        }
        context.writeAndFlush(NIOAny(IOData.byteBuffer(buffer)), promise: promise)
    }

    func write(_ slice: ArraySlice<UInt8>, promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        var buffer = context.channel.allocator.buffer(capacity: slice.count + Self.chunkFrameByteCount)
        // An empty chunk would end the body.
        let isChunk = isChunked && !slice.isEmpty
        if isChunk { buffer.writeString(String(slice.count, radix: 16) + "\r\n") }
        buffer.writeBytes(slice)
        if isChunk { buffer.writeString("\r\n") }
        write(.byteBuffer(buffer), promise: promise, context)
    }

    /// Writes a part of a body whose length is known.
    func write(_ part: IOData, promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        context.writeAndFlush(
            isStream ? NIOAny(HTTPServerResponsePart.body(part)) : NIOAny(part), promise: promise)
    }

    func writeEnd(_ context: ChannelHandlerContext) {
        if isStream {
            context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)), promise: nil)
        } else if isChunked {
            context.writeAndFlush(NIOAny(IOData.byteBuffer(Self.lastChunk)), promise: nil)
        }
    }
}

/// The head of a response as it is sent.
struct OutgoingHead {
    /// Whether the response is one of HTTP/1.0, whose body ends with the connection.
    var endsWithConnection = false
    /// Whether the body is sent in chunks, because its length is not known (RFC 9112 §7.1).
    var isChunked = false
    let status: HTTPStatus
    /// In order; each name once.
    var fields: [HeaderField]

    /// The head on a stream of HTTP/2.
    var part: HTTPResponseHead {
        HTTPResponseHead(
            version: endsWithConnection ? .http1_0 : .http1_1, status: .init(statusCode: status.rawValue),
            headers: HTTPHeaders(fields.map { ($0.name, $0.value) }))
    }

    /// The size of a usual head, in bytes.
    private static let usualByteCount = 512

    /// The bytes of the head (RFC 9112 §4) and of the beginning of the body.
    /// - Returns: nil if a field cannot be sent because it contains a line break, which would begin another field.
    func bytes(before slice: ArraySlice<UInt8>, _ allocator: ByteBufferAllocator) -> ByteBuffer? {
        var buffer = allocator.buffer(capacity: Self.usualByteCount + slice.count)
        buffer.writeString(endsWithConnection ? "HTTP/1.0 " : "HTTP/1.1 ")
        buffer.writeString(String(status.rawValue))
        buffer.writeString(" ")
        buffer.writeString(HTTPResponseStatus(statusCode: status.rawValue).reasonPhrase)
        for field in fields {
            guard field.name.isFieldName, field.value.isFieldValue else { return nil }
            buffer.writeString("\r\n")
            buffer.writeString(field.name)
            buffer.writeString(": ")
            buffer.writeString(field.value)
        }
        buffer.writeString(isChunked ? "\r\ntransfer-encoding: chunked\r\n\r\n" : "\r\n\r\n")
        buffer.writeBytes(slice)
        return buffer
    }
}

extension String {
    /// Whether the text contains no control characters other than tabs (RFC 9110 §5.5).
    fileprivate var isFieldValue: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

    /// Whether the text ends no name and no line (RFC 9110 §5.1).
    fileprivate var isFieldName: Bool {
        !isEmpty && utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
    }
}
