import Media

/// Splits a byte stream into access units, independently of its PES packets (ISO/IEC 14496-10 §7.4.1.2.3, ISO/IEC
/// 23008-2 §7.4.2.4.4).
struct AccessUnitSplitter: Sendable {
    private let codec: VideoConfiguration.Codec
    private(set) var units: [NALUnit] = []
    private(set) var roles: [NALUnitRole] = []
    private(set) var accessUnits: [AccessUnit] = []
    /// Whether bytes precede the first access unit: the end of one whose beginning is missing.
    private(set) var hasOrphanedBytes = false
    private var pairing = FieldPairing()

    init(codec: VideoConfiguration.Codec) { self.codec = codec }

    /// Splits `range`; afterwards `units`, `roles` and `accessUnits` describe that range only.
    mutating func split(_ buffer: borrowing ElementaryBuffer, in range: Range<Int>) {
        units.removeAll(keepingCapacity: true)
        roles.removeAll(keepingCapacity: true)
        accessUnits.removeAll(keepingCapacity: true)
        AnnexB.scan(buffer.bytes, in: range, into: &units)
        for unit in units { roles.append(NALUnitRole(unit, of: buffer.bytes, codec: codec)) }
        guard let first = roles.firstIndex(where: \.canBeginAccessUnit) else {
            hasOrphanedBytes = !range.isEmpty
            return
        }
        hasOrphanedBytes = first > 0 || units[first].prefix > range.lowerBound
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

    /// Merges a second field into the access unit of the first.
    private mutating func joinFields(_ bytes: [UInt8]) {
        var count = 0
        var open: FieldPairing.Field?
        for unit in accessUnits {
            let field = field(of: unit, bytes)
            if count > 0, let field, let first = open, first.isCompleted(by: field) {
                accessUnits[count - 1].merge(unit)
                open = nil
            } else {
                accessUnits[count] = unit
                accessUnits[count].isUnpairedField = field != nil
                open = field
                count += 1
            }
        }
        accessUnits.removeLast(accessUnits.count - count)
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

extension PacketStartCursor {
    /// Returns the start of an access unit whose first unit is `unit`. Zeros before its start code belong to it, but
    /// never those of an earlier PES packet, which has other timestamps.
    fileprivate mutating func startOffset(of unit: NALUnit, in buffer: borrowing ElementaryBuffer) -> Int {
        let code = unit.start - 3
        let start = packetIndex(at: code, in: buffer).map { buffer.starts[$0].offset } ?? 0
        return max(unit.prefix, start)
    }
}
