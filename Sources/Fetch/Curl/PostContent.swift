/// The content of a POST request, and its media type.
package struct PostContent: Equatable, Sendable {
    let type: String
    let bytes: [UInt8]

    package init(type: String, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }
}
