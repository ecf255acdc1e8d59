/// An init section (EXT-X-MAP, RFC 8216 §4.3.2.5) and its file name, which is derived from its content.
package struct InitializationFile: Equatable, Sendable {
    /// `init-<letters, digits>.mp4`. One name always means the same bytes.
    package var name: String
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}
