import Media

/// The alignment of access units with segment boundaries so far; decides whether the last access unit of a segment is
/// held until the next segment.
///
/// Evidence against alignment outweighs evidence for it: a packager does not change its segmentation.
enum BoundaryAlignment: Equatable, Sendable {
    /// Number of clean boundaries before they are trusted. One PES packet in 184 fills its last transport packet by
    /// chance and then looks unfinished; a frame held for that reason arrives a segment late.
    private static let cleanBoundariesToTrust = 1

    /// No evidence yet: the state of the PES packet at the boundary decides.
    case unknown(cleanBoundaries: Int)
    /// PES packets and access units end with their segments, even if they look unfinished.
    case aligned
    case packetsSpanBoundary
    case accessUnitsSpanBoundary

    /// - Parameter isPacketComplete: whether the PES packet is known to be complete.
    func holdsLastAccessUnit(isPacketComplete: Bool) -> Bool {
        switch self {
        case .unknown, .packetsSpanBoundary: !isPacketComplete
        case .aligned: false
        case .accessUnitsSpanBoundary: true
        }
    }

    /// - Parameters:
    ///   - start: how the first transport packet relates to the preceding PES packet.
    ///   - continuesAccessUnit: whether bytes of the preceding access unit came at the start.
    ///   - previousLookedComplete: whether the preceding PES packet was known to be complete.
    mutating func recordBoundary(
        _ start: SegmentStart, continuesAccessUnit: Bool, previousLookedComplete: Bool
    ) {
        switch (start, self) {
        case (.discontinuous, _), (_, .accessUnitsSpanBoundary): break
        case (.newPacket, _) where continuesAccessUnit: self = .accessUnitsSpanBoundary
        case (.newPacket, .unknown(let clean)):
            let isTrusted = !previousLookedComplete || clean + 1 == Self.cleanBoundariesToTrust
            self = isTrusted ? .aligned : .unknown(cleanBoundaries: clean + 1)
        case (.newPacket, _): break
        case (.continuation, _): self = .packetsSpanBoundary
        }
    }
}

/// How the first payload of a segment relates to the PES packet that the preceding segment left open.
enum SegmentStart: Equatable, Sendable {
    case newPacket
    /// The open PES packet continues, and its continuity counter fits.
    case continuation
    /// Transport packets between the two segments are missing.
    case discontinuous
}

/// Why the buffered bytes of an elementary stream end.
enum StreamEnding: Equatable, Sendable {
    case segmentBoundary(isPacketComplete: Bool, isPacketDue: Bool)
    case closed(isPacketDue: Bool)
}
