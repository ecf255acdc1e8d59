/// How a stream's segments have been cut so far; decides whether the last access unit of a segment waits for the
/// next one. What speaks against a border outweighs what speaks for it: a packager does not change its ways within a
/// run.
enum BorderHabit: Equatable, Sendable {
    /// A run's borders are trusted after so many clean ones: one PES packet in 184 fills its last transport packet by
    /// chance and then looks unfinished, and a picture held for it comes a segment late.
    static let cleanBordersToTrust = 1

    /// Nothing speaks against what the PES packets say of themselves.
    case unknown(cleanBorders: Int)
    /// PES packets and access units end with their segments, whatever they look like.
    case whole
    /// A PES packet went on in the next segment.
    case packetsContinue
    /// The end of an access unit came in a later PES packet.
    case accessUnitsContinue

    /// - Parameter isPacketComplete: the PES packet is known to be at its end.
    func holdsLast(isPacketComplete: Bool) -> Bool {
        switch self {
        case .unknown, .packetsContinue: !isPacketComplete
        case .whole: false
        case .accessUnitsContinue: true
        }
    }

    /// - Parameters:
    ///   - entry: how the segment's first transport packet met the PES packet before it.
    ///   - continuesAccessUnit: bytes of the access unit before it came at its start.
    ///   - lookedComplete: the PES packet before it was known to be at its end.
    mutating func learn(_ entry: PESAssembler.Entry, continuesAccessUnit: Bool, lookedComplete: Bool) {
        switch (entry, self) {
        case (.broken, _), (_, .accessUnitsContinue): break
        case (.newPacket, _) where continuesAccessUnit: self = .accessUnitsContinue
        case (.newPacket, .unknown(let clean)):
            let isTrusted = !lookedComplete || clean + 1 == Self.cleanBordersToTrust
            self = isTrusted ? .whole : .unknown(cleanBorders: clean + 1)
        case (.newPacket, _): break
        case (.continuation, _): self = .packetsContinue
        }
    }
}

/// Why the bytes at hand end.
enum StreamEnding: Equatable, Sendable {
    /// A segment ends; the next one may continue it.
    case border(isPacketComplete: Bool, isPacketDue: Bool)
    /// Nothing will ever continue it.
    case closed(isPacketDue: Bool)
}
