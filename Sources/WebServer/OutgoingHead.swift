import NIOCore
import NIOHTTP1

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

    /// The room that a usual head takes.
    static let usualByteCount = 512

    /// Appends the bytes of the head (RFC 9112 §4).
    /// - Returns: false if a field cannot be sent as one: a line break in it would be another field.
    func write(into buffer: inout ByteBuffer) -> Bool {
        buffer.writeString(endsWithConnection ? "HTTP/1.0 " : "HTTP/1.1 ")
        buffer.writeString(String(status.rawValue))
        buffer.writeString(" ")
        buffer.writeString(HTTPResponseStatus(statusCode: status.rawValue).reasonPhrase)
        for field in fields {
            guard field.name.isFieldName, field.value.isFieldValue else { return false }
            buffer.writeString("\r\n")
            buffer.writeString(field.name)
            buffer.writeString(": ")
            buffer.writeString(field.value)
        }
        buffer.writeString(isChunked ? "\r\ntransfer-encoding: chunked\r\n\r\n" : "\r\n\r\n")
        return true
    }
}

extension String {
    /// Whether the text has no control character but tabs (RFC 9110 §5.5).
    fileprivate var isFieldValue: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

    /// Whether the text ends no name and no line (RFC 9110 §5.1).
    fileprivate var isFieldName: Bool {
        !isEmpty && utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
    }
}
