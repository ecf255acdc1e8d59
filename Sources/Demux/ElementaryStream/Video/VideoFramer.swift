import Media
import Support

/// Frames the video byte stream of one PID: access units with timestamps, sync kind, parameter sets, in sample format.
struct VideoFramer: Sendable {
    /// The largest size in bytes of an access unit that is held: 800 Mbit/s at 25 frames per second.
    private static let maxHeldBytes = 4 << 20

    private var splitter: AccessUnitSplitter
    private var writer: VideoSampleWriter
    private var boundaryAlignment = BoundaryAlignment.unknown(cleanBoundaries: 0)
    /// Whether the held bytes are the first field of a frame: its second field then says nothing about segment
    /// alignment.
    private var heldIsUnpairedField = false
    /// Whether the PES packet at the end of the last segment was known to be complete; nil before any segment.
    private var lookedComplete: Bool?

    init(pid: UInt16, codec: VideoConfiguration.Codec) {
        splitter = AccessUnitSplitter(codec: codec)
        writer = VideoSampleWriter(pid: pid, codec: codec)
    }

    mutating func expectOpenPackets() {
        boundaryAlignment.recordBoundary(.continuation, continuesAccessUnit: false, previousLookedComplete: false)
    }

    /// Removes every complete access unit from `buffer` and leaves the rest there.
    /// - Parameter start: how the segment begins on this PID; nil if it has no payload of the PID.
    mutating func frame(
        _ buffer: inout ElementaryBuffer, start: SegmentStart?, ending: StreamEnding, counts: inout Counts<DemuxCount>
    ) throws(MediaError) -> [VideoPacket] {
        writer.reserve(bytes: buffer.bytes.count + buffer.bytes.count / 64)
        var lastTimed: Int?
        var begin = 0
        for loss in buffer.losses where loss.isBetweenPackets {
            let split = try split(buffer, in: begin..<loss.offset, start, counts: &counts)
            for unit in split.accessUnits { try write(unit, of: split, buffer, &lastTimed, &counts) }
            begin = loss.offset
        }
        let split = try split(buffer, in: begin..<buffer.bytes.count, start, counts: &counts)
        for unit in split.accessUnits.dropLast() { try write(unit, of: split, buffer, &lastTimed, &counts) }
        try finish(&buffer, split, ending, &lastTimed, &counts)
        return writer.drain()
    }

    private mutating func split(
        _ buffer: borrowing ElementaryBuffer, in range: Range<Int>, _ start: SegmentStart?,
        counts: inout Counts<DemuxCount>
    ) throws(MediaError) -> SplitAccessUnits {
        let split = try splitter.split(buffer, in: range)
        if range.lowerBound == 0 { updateAlignment(start, split, carriedBytes: buffer.carriedBytes) }
        if split.hasOrphanedBytes { counts[.undecodableUnits] += 1 }
        return split
    }

    private mutating func updateAlignment(_ start: SegmentStart?, _ split: SplitAccessUnits, carriedBytes: Int) {
        guard let lookedComplete, let start else { return }
        self.lookedComplete = nil
        let first = split.accessUnits.first
        let continuesAccessUnit =
            carriedBytes > 0
            ? !heldIsUnpairedField && first.map { $0.bytes.upperBound > carriedBytes } ?? true : split.hasOrphanedBytes
        boundaryAlignment.recordBoundary(
            start, continuesAccessUnit: continuesAccessUnit, previousLookedComplete: lookedComplete)
    }

    private mutating func finish(
        _ buffer: inout ElementaryBuffer, _ split: SplitAccessUnits, _ ending: StreamEnding,
        _ lastTimed: inout Int?, _ counts: inout Counts<DemuxCount>
    ) throws(MediaError) {
        guard let last = split.accessUnits.last else {
            buffer.removeFirst(buffer.bytes.count, keepsTimes: false)
            return rememberPacketState(ending)
        }
        heldIsUnpairedField = last.isUnpairedField
        if shouldHold(last, ending), last.bytes.count <= Self.maxHeldBytes {
            let packet = buffer.packetIndex(at: last.bytes.lowerBound)
            buffer.removeFirst(last.bytes.lowerBound, keepsTimes: packet != lastTimed)
        } else {
            if isComplete(last, ending) {
                try write(last, of: split, buffer, &lastTimed, &counts)
            } else {
                counts[.abandonedUnits] += 1
            }
            buffer.removeFirst(buffer.bytes.count, keepsTimes: false)
        }
        rememberPacketState(ending)
    }

    private mutating func rememberPacketState(_ ending: StreamEnding) {
        if case .segmentBoundary(let isPacketComplete, _) = ending { lookedComplete = isPacketComplete }
    }

    private func shouldHold(_ last: AccessUnit, _ ending: StreamEnding) -> Bool {
        guard case .segmentBoundary(let isPacketComplete, let isPacketDue) = ending else { return false }
        return !last.hasSlice || last.isUnpairedField || isPacketDue
            || boundaryAlignment.holdsLastAccessUnit(isPacketComplete: isPacketComplete)
    }

    private func isComplete(_ last: AccessUnit, _ ending: StreamEnding) -> Bool {
        guard case .closed(let isPacketDue) = ending else { return last.hasSlice }
        return last.hasSlice && !isPacketDue
    }

    private mutating func write(
        _ unit: AccessUnit, of split: SplitAccessUnits, _ buffer: borrowing ElementaryBuffer, _ lastTimed: inout Int?,
        _ counts: inout Counts<DemuxCount>
    ) throws(MediaError) {
        try MediaError.checkCancellation()
        let packet = buffer.packetIndex(at: unit.bytes.lowerBound)
        let packetStart = packet == lastTimed ? nil : packet.map { buffer.starts[$0] }
        lastTimed = packet ?? lastTimed
        let timing = VideoSampleWriter.Timing(
            pts: packetStart?.pts, dts: packetStart?.dts,
            isDamaged: unit.isFirstSliceMissing || buffer.hasLoss(in: unit.bytes))
        let isWritten = writer.write(
            split.units[unit.units], split.roles[unit.units], of: buffer.bytes, timing)
        if !isWritten { counts[.undecodableUnits] += 1 }
    }
}

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
