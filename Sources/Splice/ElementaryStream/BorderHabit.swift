/// How a stream's segments have been cut so far; decides whether the last access unit of a segment waits for the
/// next one. It only ever grows more careful: a packager does not change its ways within a run.
enum BorderHabit: Int, Equatable, Comparable, Sendable {
    /// Nothing speaks against what the PES packets say of themselves.
    case unknown
    /// A PES packet that did not look finished was: the next segment began with a new one.
    case whole
    /// A PES packet went on in the next segment.
    case packetsContinue
    /// The end of an access unit came in a later PES packet.
    case accessUnitsContinue

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

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
        switch entry {
        case .newPacket where continuesAccessUnit: self = .accessUnitsContinue
        case .newPacket where !lookedComplete: self = max(self, .whole)
        case .continuation: self = max(self, .packetsContinue)
        case .newPacket, .broken: break
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
