/// How a segment is written as a transport stream. The ring stores it with the segment.
package struct TransportStreamPoint: Equatable, Sendable {
    /// The parameters in the text form of the multiplexer, which the ring does not interpret. Without quotation marks and
    /// line ends.
    package var parameters: String
    /// The discontinuity sequence number in the playlists with transport streams. Fewer segments begin with a
    /// discontinuity there, because all periods have one clock and one set of tables.
    package var discontinuitySequence: UInt64
    package var isDiscontinuous: Bool
    /// The file in the spool with the frame that stands in for video in a foreign codec; nil if the segment needs none.
    /// Several segments may have the same one.
    package var still: SpoolFile?

    package init(
        parameters: String, discontinuitySequence: UInt64, isDiscontinuous: Bool, still: SpoolFile? = nil
    ) {
        self.parameters = parameters
        self.discontinuitySequence = discontinuitySequence
        self.isDiscontinuous = isDiscontinuous
        self.still = still
    }
}

/// A frame of an earlier segment, which the transport stream of a segment needs. It is kept as long as a segment needs it,
/// so that the transport stream stays the same when that segment is evicted.
package struct StillFile: Equatable, Sendable {
    /// `still-<letters, digits>.mp4`. One name always means the same bytes.
    package let name: String
    package let bytes: [UInt8]

    /// - Parameter hash: of the bytes, letters and digits.
    package init(hash: String, bytes: [UInt8]) {
        name = "still-\(hash).mp4"
        self.bytes = bytes
    }

    package var file: SpoolFile { SpoolFile(name: name, byteCount: bytes.count) }
}
