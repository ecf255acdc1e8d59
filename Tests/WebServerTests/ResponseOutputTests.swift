import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTP
@testable import WebServer

/// The output for the handlers before: bytes of HTTP/1.1, or parts for a stream of HTTP/2.
@Suite struct ResponseOutputTests {
    struct Row: CustomTestStringConvertible {
        let when: String
        let isStream: Bool
        let isChunked: Bool
        let written: [String]
        var testDescription: String { when }
    }

    static let rows = [
        Row(
            when: "HTTP/1.1, length known", isStream: false, isChunked: false,
            written: ["HTTP/1.1 200 OK\r\nx: y\r\n\r\nabc", "0123456789abcdef"]),
        Row(
            when: "HTTP/1.1, length not known", isStream: false, isChunked: true,
            written: [
                "HTTP/1.1 200 OK\r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n", "10\r\n0123456789abcdef\r\n",
                "0\r\n\r\n",
            ]),
        Row(
            when: "a stream of HTTP/2, length known", isStream: true, isChunked: false,
            written: ["head 200 x: y", "abc", "0123456789abcdef", "end"]),
        Row(
            when: "a stream of HTTP/2, length not known: its frames are the chunks", isStream: true, isChunked: true,
            written: ["head 200 x: y", "0123456789abcdef", "end"]),
    ]

    @Test("Head, body and end", arguments: rows) func response(row: Row) throws {
        let channel = EmbeddedChannel(handler: Writer(isStream: row.isStream, isChunked: row.isChunked))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var written: [String] = []
        if row.isStream {
            while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) { written.append(part.text) }
        } else {
            while let data = try channel.readOutbound(as: IOData.self) { written.append(data.text) }
        }
        #expect(written == row.written)
        _ = try channel.finish()
    }
}

/// Writes one response when its connection opens.
private final class Writer: ChannelInboundHandler {
    typealias InboundIn = Never

    private let output: ResponseOutput
    private let head: OutgoingHead

    init(isStream: Bool, isChunked: Bool) {
        output = ResponseOutput(isStream: isStream, isChunked: isChunked)
        head = OutgoingHead(
            isChunked: isChunked, status: .ok, fields: [HeaderField(name: "x", value: "y")])
    }

    func channelActive(context: ChannelHandlerContext) {
        // A head whose body is sent in chunks has none of it in memory.
        output.write(head, head.isChunked ? [] : ArraySlice("abc".utf8), promise: nil, context)
        output.write(ArraySlice("0123456789abcdef".utf8), promise: nil, context)
        output.writeEnd(context)
    }
}

extension HTTPServerResponsePart {
    fileprivate var text: String {
        switch self {
        case .head(let head): "head \(head.status.code) " + head.headers.map { "\($0.name): \($0.value)" }.joined()
        case .body(let data): data.text
        case .end: "end"
        }
    }
}

extension IOData {
    fileprivate var text: String {
        switch self {
        case .byteBuffer(let buffer): String(buffer: buffer)
        case .fileRegion(let region): "a file of \(region.readableBytes) bytes"
        }
    }
}
