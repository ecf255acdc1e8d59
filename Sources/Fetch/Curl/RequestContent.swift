/// The content of a request that changes something, and its media type.
package struct RequestContent: Equatable, Sendable {
    package enum Method: String, Equatable, Sendable {
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    let method: Method
    let type: String
    let bytes: [UInt8]

    package init(_ method: Method = .post, type: String, bytes: [UInt8]) {
        self.method = method
        self.type = type
        self.bytes = bytes
    }
}
