import Media

/// A part of the body of an answer that has no end: of a transport stream.
package struct StreamPart: Equatable, Sendable {
    /// The URL after redirects.
    package let finalURL: String
    package let bytes: [UInt8]
    /// Datagrams that are missing since the last part, as far as they are numbered.
    package let lostDatagrams: Int

    package init(finalURL: String, bytes: [UInt8], lostDatagrams: Int = 0) {
        self.finalURL = finalURL
        self.bytes = bytes
        self.lostDatagrams = lostDatagrams
    }

    /// Whether the beginning of a body is that of a stream. A body that is none is received whole.
    package static func isStream(_ beginning: [UInt8]) -> Bool {
        !beginning.looksLikeText && PacketStride(recognizing: beginning) != nil
    }
}
