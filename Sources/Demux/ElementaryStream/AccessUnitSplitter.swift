import Media

/// One access unit in a byte stream: which NAL units, and which bytes.
struct AccessUnit: Equatable, Sendable {
    /// Indices into the splitter's units.
    var units: Range<Int>
    /// From the first zero of its first start code to the same of the next access unit.
    var bytes: Range<Int>
    /// A coded slice is in it.
    var hasSlice: Bool
    /// The first field of a frame whose second is not here.
    var isHalf = false

    mutating func merge(_ next: AccessUnit) {
        units = units.lowerBound..<next.units.upperBound
        bytes = bytes.lowerBound..<next.bytes.upperBound
        isHalf = false
    }
}

/// Cuts a byte stream into access units, whatever its PES packets say (ISO/IEC 14496-10 §7.4.1.2.3,
/// ISO/IEC 23008-2 §7.4.2.4.4).
struct AccessUnitSplitter: Sendable {
    private let codec: VideoConfiguration.Codec
    private(set) var units: [NALUnit] = []
    private(set) var roles: [NALUnitRole] = []
    private(set) var accessUnits: [AccessUnit] = []
    /// Bytes stood in front of the first access unit: the end of one whose beginning is not here.
    private(set) var hasOrphan = false
    private var pairing = FieldPairing()

    init(codec: VideoConfiguration.Codec) { self.codec = codec }

    /// Afterwards `units`, `roles` and `accessUnits` describe `range` alone.
    mutating func split(_ buffer: borrowing ElementaryBuffer, in range: Range<Int>) {
        units.removeAll(keepingCapacity: true)
        roles.removeAll(keepingCapacity: true)
        accessUnits.removeAll(keepingCapacity: true)
        AnnexB.scan(buffer.bytes, in: range, into: &units)
        for unit in units { roles.append(NALUnitRole(unit, of: buffer.bytes, codec: codec)) }
        guard let first = roles.firstIndex(where: \.canBeginAccessUnit) else {
            hasOrphan = !range.isEmpty
            return
        }
        hasOrphan = first > 0 || units[first].prefix > range.lowerBound
        group(from: first, buffer, end: range.upperBound)
        if codec == .h264 { joinFields(buffer.bytes) }
    }

    private mutating func group(from first: Int, _ buffer: borrowing ElementaryBuffer, end: Int) {
        var packets = PacketStartCursor()
        var open = AccessUnit(units: first..<first, bytes: 0..<0, hasSlice: false)
        var begin = packets.startOffset(of: units[first], in: buffer)
        for index in first..<units.count {
            if begins(roles[index], after: open) {
                let next = packets.startOffset(of: units[index], in: buffer)
                close(&open, units: index, bytes: begin..<next)
                begin = next
            }
            if case .slice = roles[index] { open.hasSlice = true }
        }
        close(&open, units: units.count, bytes: begin..<end)
    }

    private mutating func close(_ open: inout AccessUnit, units end: Int, bytes: Range<Int>) {
        open.units = open.units.lowerBound..<end
        open.bytes = bytes
        accessUnits.append(open)
        open = AccessUnit(units: end..<end, bytes: bytes.upperBound..<bytes.upperBound, hasSlice: false)
    }

    /// A second field goes with the access unit of the first.
    private mutating func joinFields(_ bytes: [UInt8]) {
        var kept = 0
        var open: FieldPairing.Field?
        for unit in accessUnits {
            let field = field(of: unit, bytes)
            if kept > 0, let field, let first = open, first.isCompleted(by: field) {
                accessUnits[kept - 1].merge(unit)
                open = nil
            } else {
                accessUnits[kept] = unit
                accessUnits[kept].isHalf = field != nil
                open = field
                kept += 1
            }
        }
        accessUnits.removeLast(accessUnits.count - kept)
    }

    private mutating func field(of unit: AccessUnit, _ bytes: [UInt8]) -> FieldPairing.Field? {
        for index in unit.units {
            let content = bytes[units[index].start..<units[index].end]
            switch roles[index] {
            case .parameterSet(.sequence): pairing.setSequenceParameterSet(content)
            case .slice: return pairing.field(content)
            default: break
            }
        }
        return nil
    }

    private func begins(_ role: NALUnitRole, after open: AccessUnit) -> Bool {
        role.canBeginAccessUnit && open.hasSlice
    }
}

/// Walks the PES packets along with the access units.
struct PacketStartCursor: Sendable {
    private var index = -1

    init() {}

    /// Where an access unit begins that has `unit` in front: the zeros before its start code belong to it, but never
    /// those of an earlier PES packet, whose times are not its own.
    mutating func startOffset(of unit: NALUnit, in buffer: borrowing ElementaryBuffer) -> Int {
        let code = unit.start - 3
        let start = packetIndex(at: code, in: buffer).map { buffer.starts[$0].offset } ?? 0
        return max(unit.prefix, start)
    }

    /// The PES packet that `offset` lies in; offsets ascend from call to call.
    mutating func packetIndex(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Int? {
        while index + 1 < buffer.starts.count, buffer.starts[index + 1].offset <= offset { index += 1 }
        return index < 0 ? nil : index
    }
}
