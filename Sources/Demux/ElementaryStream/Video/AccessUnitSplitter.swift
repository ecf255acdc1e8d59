import Media
import Metering

/// Splits a byte stream into access units, independently of its PES packets (ISO/IEC 14496-10 §7.4.1.2.3, ISO/IEC
/// 23008-2 §7.4.2.4.4).
struct AccessUnitSplitter: Sendable {
    private let codec: VideoConfiguration.Codec
    private(set) var units: [NALUnit] = []
    private(set) var roles: [NALUnitRole] = []
    private(set) var accessUnits: [AccessUnit] = []
    /// Whether bytes precede the first access unit: the end of one whose beginning is missing.
    private(set) var hasOrphanedBytes = false
    private var slices: SliceComparison

    init(codec: VideoConfiguration.Codec) {
        self.codec = codec
        slices = SliceComparison(codec: codec)
    }

    /// Splits `range`; afterwards `units`, `roles` and `accessUnits` describe that range only.
    mutating func split(_ buffer: borrowing ElementaryBuffer, in range: Range<Int>) throws(MediaError) {
        units.removeAll(keepingCapacity: true)
        roles.removeAll(keepingCapacity: true)
        accessUnits.removeAll(keepingCapacity: true)
        try AnnexB.scan(buffer.bytes, in: range, into: &units)
        for unit in units { roles.append(NALUnitRole(unit, of: buffer.bytes, codec: codec)) }
        guard let first = roles.firstIndex(where: \.canBeginAccessUnit) else {
            hasOrphanedBytes = !range.isEmpty
            return
        }
        hasOrphanedBytes = first > 0 || units[first].prefix > range.lowerBound
        try group(from: first, buffer, end: range.upperBound)
        if codec == .h264 { joinFields() }
    }

    private mutating func group(
        from first: Int, _ buffer: borrowing ElementaryBuffer, end: Int
    ) throws(MediaError) {
        var open = AccessUnit(units: first..<first, bytes: 0..<0, hasSlice: false)
        var begin = buffer.startOffset(of: units[first])
        var firstSlice: Int?
        for index in first..<units.count {
            StepCounter.add(1)
            if index & 0xFFF == 0 { try MediaError.checkCancellation() }
            if case .parameterSet(let kind) = roles[index] { slices.insert(content(index, buffer), kind) }
            if begins(index, firstSlice, buffer) {
                firstSlice = nil
                let next = buffer.startOffset(of: units[index])
                close(&open, units: index, bytes: begin..<next)
                begin = next
            }
            if case .slice(let isFirst, _) = roles[index], firstSlice == nil {
                firstSlice = index
                open.hasSlice = true
                open.isFirstSliceMissing = !isFirst
                open.field = slices.field(content(index, buffer))
            }
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
    private mutating func joinFields() {
        var count = 0
        var open: H264SliceHeader?
        for unit in accessUnits {
            if count > 0, let field = unit.field, let first = open, field.isSecondField(after: first) {
                accessUnits[count - 1].merge(unit)
                open = nil
            } else {
                accessUnits[count] = unit
                accessUnits[count].isUnpairedField = unit.field != nil
                open = unit.field
                count += 1
            }
        }
        accessUnits.removeLast(accessUnits.count - count)
    }

    /// Whether an access unit begins at unit `index`.
    /// - Parameter firstSlice: the first slice of the access unit before; nil if it has none.
    private func begins(_ index: Int, _ firstSlice: Int?, _ buffer: borrowing ElementaryBuffer) -> Bool {
        guard let firstSlice else { return false }
        if case .slice(isFirst: false, _) = roles[index] {
            return slices.areDifferentPictures(content(firstSlice, buffer), content(index, buffer))
        }
        return roles[index].canBeginAccessUnit
    }

    private func content(_ index: Int, _ buffer: borrowing ElementaryBuffer) -> ArraySlice<UInt8> {
        buffer.bytes[units[index].start..<units[index].end]
    }
}

extension ElementaryBuffer {
    /// Returns the start of an access unit whose first unit is `unit`. Zeros before its start code belong to it, but
    /// never those of an earlier PES packet, which has other timestamps.
    fileprivate func startOffset(of unit: NALUnit) -> Int {
        let start = packetIndex(at: unit.start - 3).map { starts[$0].offset } ?? 0
        return max(unit.prefix, start)
    }
}
