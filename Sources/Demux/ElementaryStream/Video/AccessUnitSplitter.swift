import Media
import Support

/// Splits a byte stream into access units, independently of its PES packets (ISO/IEC 14496-10 §7.4.1.2.3, ISO/IEC
/// 23008-2 §7.4.2.4.4).
struct AccessUnitSplitter: Sendable {
    private let codec: VideoConfiguration.Codec
    private var slices: SliceComparison

    init(codec: VideoConfiguration.Codec) {
        self.codec = codec
        slices = SliceComparison(codec: codec)
    }

    mutating func split(
        _ buffer: borrowing ElementaryBuffer, in range: Range<Int>
    ) throws(MediaError) -> SplitAccessUnits {
        var split = SplitAccessUnits()
        try AnnexB.scan(buffer.bytes, in: range, keepsZeros: codec == .mpeg2, into: &split.units)
        split.roles.reserveCapacity(split.units.count)
        for unit in split.units { split.roles.append(NALUnitRole(unit, of: buffer.bytes, codec: codec)) }
        guard let first = split.roles.firstIndex(where: \.canBeginAccessUnit) else {
            split.hasOrphanedBytes = !range.isEmpty
            return split
        }
        split.hasOrphanedBytes = first > 0 || split.units[first].prefix > range.lowerBound
        try group(&split, from: first, buffer, end: range.upperBound)
        if codec == .mpeg2 { split.findFields(in: buffer) }
        if codec != .hevc { split.joinFields() }
        return split
    }

    private mutating func group(
        _ split: inout SplitAccessUnits, from first: Int, _ buffer: borrowing ElementaryBuffer, end: Int
    ) throws(MediaError) {
        var open = AccessUnit(units: first..<first, bytes: 0..<0, hasSlice: false)
        var begin = buffer.startOffset(of: split.units[first])
        var firstSlice: Int?
        for index in first..<split.units.count {
            StepCounter.add(1)
            if index & 0xFFF == 0 { try MediaError.checkCancellation() }
            let (unit, role) = (split.units[index], split.roles[index])
            if case .parameterSet(let kind) = role { slices.insert(buffer.content(of: unit), kind) }
            if let slice = firstSlice, slices.beginsAccessUnit(unit, role, after: split.units[slice], of: buffer) {
                firstSlice = nil
                let next = buffer.startOffset(of: unit)
                split.close(&open, units: index, bytes: begin..<next)
                begin = next
            }
            if case .slice(let isFirst, _) = role, firstSlice == nil {
                firstSlice = index
                open.hasSlice = true
                open.isFirstSliceMissing = !isFirst
                open.field = slices.field(buffer.content(of: unit)).map { .h264($0) }
            }
        }
        split.close(&open, units: split.units.count, bytes: begin..<end)
    }
}

/// The access units of a range of a byte stream, as offsets into its bytes.
struct SplitAccessUnits: Equatable, Sendable {
    fileprivate(set) var units: [NALUnit] = []
    /// One for each of `units`.
    fileprivate(set) var roles: [NALUnitRole] = []
    fileprivate(set) var accessUnits: [AccessUnit] = []
    /// Whether bytes precede the first access unit: the end of one whose beginning is missing.
    fileprivate(set) var hasOrphanedBytes = false

    fileprivate mutating func findFields(in buffer: borrowing ElementaryBuffer) {
        for index in accessUnits.indices {
            accessUnits[index].field =
                MPEG2Picture.field(units[accessUnits[index].units], of: buffer.bytes).map { .mpeg2($0) }
        }
    }

    fileprivate mutating func close(_ open: inout AccessUnit, units end: Int, bytes: Range<Int>) {
        open.units = open.units.lowerBound..<end
        open.bytes = bytes
        accessUnits.append(open)
        open = AccessUnit(units: end..<end, bytes: bytes.upperBound..<bytes.upperBound, hasSlice: false)
    }

    fileprivate mutating func joinFields() {
        var count = 0
        var open: FieldPicture?
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
}

extension ElementaryBuffer {
    /// Returns the start of an access unit whose first unit is `unit`. Zeros before its start code belong to it, but
    /// never those of an earlier PES packet, which has other timestamps.
    fileprivate func startOffset(of unit: NALUnit) -> Int {
        let start = packetIndex(at: unit.start - 3).map { starts[$0].offset } ?? 0
        return max(unit.prefix, start)
    }

    fileprivate func content(of unit: NALUnit) -> ArraySlice<UInt8> { bytes[unit.start..<unit.end] }
}

/// A picture that is one field, by what tells whether it is the second one of a frame.
enum FieldPicture: Equatable, Sendable {
    case h264(H264SliceHeader)
    case mpeg2(MPEG2Picture.Field)

    func isSecondField(after first: FieldPicture) -> Bool {
        switch (self, first) {
        case (.h264(let second), .h264(let first)): second.isSecondField(after: first)
        case (.mpeg2(let second), .mpeg2(let first)): second.isSecondField(after: first)
        default: false
        }
    }
}

/// One access unit in a byte stream: the ranges of its NAL units and bytes.
struct AccessUnit: Equatable, Sendable {
    var units: Range<Int>
    /// From the first zero of its first start code to that of the next access unit.
    var bytes: Range<Int>
    var hasSlice: Bool
    /// Whether its first slice is not the first of a picture: the beginning of the picture is missing.
    var isFirstSliceMissing = false
    var field: FieldPicture?
    /// Whether it is the first field of a frame whose second field is not here.
    var isUnpairedField = false

    mutating func merge(_ next: AccessUnit) {
        units = units.lowerBound..<next.units.upperBound
        bytes = bytes.lowerBound..<next.bytes.upperBound
        isFirstSliceMissing = isFirstSliceMissing || next.isFirstSliceMissing
        isUnpairedField = false
    }
}

/// Tells whether two slices belong to one picture, whose first slice may be lost (ISO/IEC 14496-10 §7.4.1.2.4, ISO/IEC
/// 23008-2 §7.4.2.4.5). Keeps the parameter sets that their headers refer to.
private struct SliceComparison: Sendable {
    private let codec: VideoConfiguration.Codec
    private var h264 = H264ParameterSets()
    private var hevc = HEVCParameterSets()

    init(codec: VideoConfiguration.Codec) { self.codec = codec }

    mutating func insert(_ unit: ArraySlice<UInt8>, _ kind: NALUnitRole.ParameterSet) {
        switch (codec, kind) {
        case (.h264, .sequence): h264.insertSequence(unit)
        case (.h264, .picture): h264.insertPicture(unit)
        case (.hevc, .sequence): hevc.insertSequence(unit)
        case (.hevc, .picture): hevc.insertPicture(unit)
        case (_, .video), (.mpeg2, _): break
        }
    }

    /// Whether an access unit begins at `unit`, after one with the slice `first`.
    func beginsAccessUnit(
        _ unit: NALUnit, _ role: NALUnitRole, after first: NALUnit, of buffer: borrowing ElementaryBuffer
    ) -> Bool {
        guard case .slice(isFirst: false, _) = role else { return role.canBeginAccessUnit }
        return areDifferentPictures(buffer.content(of: first), buffer.content(of: unit))
    }

    /// Whether the slices are known to belong to different pictures.
    func areDifferentPictures(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool {
        switch codec {
        case .h264:
            guard let first = H264SliceHeader(first, h264), let second = H264SliceHeader(second, h264) else {
                return false
            }
            return first != second
        case .hevc:
            guard let first = HEVCSliceHeader(first, hevc), let second = HEVCSliceHeader(second, hevc) else {
                return false
            }
            return !first.isSamePicture(as: second)
        case .mpeg2: return false
        }
    }

    /// Returns the header of a slice of a field picture; nil for any other slice.
    func field(_ slice: ArraySlice<UInt8>) -> H264SliceHeader? {
        guard codec == .h264, h264.allowsFields, let header = H264SliceHeader(slice, h264) else { return nil }
        return header.isField ? header : nil
    }
}
