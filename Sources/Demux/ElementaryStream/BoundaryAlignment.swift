import Media

/// How a stream's segments have been cut so far; decides whether the last access unit of a segment waits for the
/// next one. What speaks against a border outweighs what speaks for it: a packager does not change its ways within a
/// run.
enum BoundaryAlignment: Equatable, Sendable {
    /// A run's borders are trusted after so many clean ones: one PES packet in 184 fills its last transport packet by
    /// chance and then looks unfinished, and a picture held for it comes a segment late.
    static let cleanBoundariesToTrust = 1

    /// Nothing speaks against what the PES packets say of themselves.
    case unknown(cleanBoundaries: Int)
    /// PES packets and access units end with their segments, whatever they look like.
    case aligned
    /// A PES packet went on in the next segment.
    case packetsSpanBoundary
    /// The end of an access unit came in a later PES packet.
    case accessUnitsSpanBoundary

    /// - Parameter isPacketComplete: the PES packet is known to be at its end.
    func holdsLastAccessUnit(isPacketComplete: Bool) -> Bool {
        switch self {
        case .unknown, .packetsSpanBoundary: !isPacketComplete
        case .aligned: false
        case .accessUnitsSpanBoundary: true
        }
    }

    /// - Parameters:
    ///   - entry: how the segment's first transport packet met the PES packet before it.
    ///   - continuesAccessUnit: bytes of the access unit before it came at its start.
    ///   - lookedComplete: the PES packet before it was known to be at its end.
    mutating func recordBoundary(_ entry: PESAssembler.PESStart, continuesAccessUnit: Bool, lookedComplete: Bool) {
        switch (entry, self) {
        case (.discontinuous, _), (_, .accessUnitsSpanBoundary): break
        case (.newPacket, _) where continuesAccessUnit: self = .accessUnitsSpanBoundary
        case (.newPacket, .unknown(let clean)):
            let isTrusted = !lookedComplete || clean + 1 == Self.cleanBoundariesToTrust
            self = isTrusted ? .aligned : .unknown(cleanBoundaries: clean + 1)
        case (.newPacket, _): break
        case (.continuation, _): self = .packetsSpanBoundary
        }
    }
}

/// Why the bytes at hand end.
enum StreamEnding: Equatable, Sendable {
    /// A segment ends; the next one may continue it.
    case segmentBoundary(isPacketComplete: Bool, isPacketDue: Bool)
    /// Nothing will ever continue it.
    case closed(isPacketDue: Bool)
}
