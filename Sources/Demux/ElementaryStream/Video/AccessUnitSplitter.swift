import Media
import Support

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
        try AnnexB.scan(buffer.bytes, in: range, keepsZeros: codec == .mpeg2, into: &units)
        for unit in units { roles.append(NALUnitRole(unit, of: buffer.bytes, codec: codec)) }
        guard let first = roles.firstIndex(where: \.canBeginAccessUnit) else {
            hasOrphanedBytes = !range.isEmpty
            return
        }
        hasOrphanedBytes = first > 0 || units[first].prefix > range.lowerBound
        try group(from: first, buffer, end: range.upperBound)
        if codec == .mpeg2 { findFields(in: buffer) }
        if codec != .hevc { joinFields() }
    }

    private mutating func findFields(in buffer: borrowing ElementaryBuffer) {
        for index in accessUnits.indices {
            accessUnits[index].field =
                MPEG2Picture.field(units[accessUnits[index].units], of: buffer.bytes).map { .mpeg2($0) }
        }
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
                open.field = slices.field(content(index, buffer)).map { .h264($0) }
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

    private mutating func joinFields() {
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
