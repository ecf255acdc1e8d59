/// Why the buffered bytes of an elementary stream end.
enum StreamEnding: Equatable, Sendable {
    /// A segment ends; the next one may continue the stream.
    case segmentBoundary(isPacketComplete: Bool, isPacketDue: Bool)
    /// The stream ends and is not continued.
    case closed(isPacketDue: Bool)
}
