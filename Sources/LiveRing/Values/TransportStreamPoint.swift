/// How a segment is written as a transport stream. The ring stores it with the segment.
package struct TransportStreamPoint: Equatable, Sendable {
    /// The parameters in the text form of the multiplexer, which the ring does not interpret. Without quotation marks and
    /// line ends.
    package var parameters: String
    /// The discontinuity sequence number in the playlists with transport streams. Fewer segments begin with a
    /// discontinuity there, because all periods have one clock and one set of tables.
    package var discontinuitySequence: UInt64
    package var isDiscontinuous: Bool
    /// The files in the spool with media of earlier segments that the transport stream consists of, besides the segment's
    /// own. Several segments may have the same file.
    package var files: [SpoolFile]

    package init(
        parameters: String, discontinuitySequence: UInt64, isDiscontinuous: Bool, files: [SpoolFile] = []
    ) {
        self.parameters = parameters
        self.discontinuitySequence = discontinuitySequence
        self.isDiscontinuous = isDiscontinuous
        self.files = files
    }
}

extension TransportStreamPoint {
    /// The file with that content; nil if the segment needs none.
    package func file(_ content: TransportStreamFile.Content) -> SpoolFile? {
        files.first { $0.name.hasPrefix("\(content.rawValue)-") }
    }
}
