/// Media of earlier segments that the transport stream of a segment needs. It is stored beside the segment and kept as long
/// as a segment needs it, so that the transport stream stays the same when those segments are evicted.
package struct TransportStreamFile: Equatable, Sendable {
    package enum Content: String, CaseIterable, Sendable {
        /// The frame that stands in for video in a foreign codec.
        case still
        /// The end of the foreign audio of the segment before.
        case leadIn = "leadin"
    }

    /// `still-<letters, digits>.mp4` or `leadin-<letters, digits>.mp4`. One name always means the same bytes.
    package let name: String
    package let bytes: [UInt8]

    /// - Parameter hash: of the bytes, letters and digits.
    package init(_ content: Content, hash: String, bytes: [UInt8]) {
        name = "\(content.rawValue)-\(hash).mp4"
        self.bytes = bytes
    }

    package var file: SpoolFile { SpoolFile(name: name, byteCount: bytes.count) }
}
