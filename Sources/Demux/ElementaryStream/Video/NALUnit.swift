import Media

/// One NAL unit in a byte stream, as offsets, without its start code and trailing zeros.
struct NALUnit: Equatable, Sendable {
    /// The offset of the first zero before the unit; its start code is in between.
    let prefix: Int
    let start: Int
    let end: Int
}

/// The role of a NAL unit in framing (ISO/IEC 14496-10 Table 7-1, ISO/IEC 23008-2 Table 7-1).
///
/// What follows a start code of MPEG-2 counts as a NAL unit with the last byte of the code as its header (ISO/IEC 13818-2
/// Table 6-1). The picture header stands for the first slice, and slices belong to it.
enum NALUnitRole: Equatable, Sendable {
    enum ParameterSet: Int, Sendable { case video, sequence, picture }

    enum PictureType: Equatable, Sendable {
        case plain
        /// IDR; HEVC: IDR or BLA.
        case instantaneousRefresh
        /// HEVC CRA, MPEG-2 I picture: a random access point whose leading pictures refer to earlier pictures.
        case cleanRandomAccess
    }

    /// An access unit delimiter: begins an access unit and is dropped.
    case delimiter
    case filler
    case parameterSet(ParameterSet)
    /// Supplemental information and the like: begins an access unit after a picture.
    case prefix
    /// A coded slice: the first of its picture begins an access unit after a picture.
    case slice(isFirst: Bool, PictureType)
    /// Any other unit belongs to the preceding picture.
    case other

    init(_ unit: NALUnit, of bytes: [UInt8], codec: VideoConfiguration.Codec) {
        switch codec {
        case .h264: self = Self.h264(unit, of: bytes)
        case .hevc: self = Self.hevc(unit, of: bytes)
        case .mpeg2: self = Self.mpeg2(unit, of: bytes)
        }
    }

    /// Whether an access unit can begin here; it does after a picture (§7.4.1.2.3; HEVC §7.4.2.4.4).
    var canBeginAccessUnit: Bool {
        switch self {
        case .delimiter, .parameterSet, .prefix, .slice(isFirst: true, _): true
        case .filler, .slice(isFirst: false, _), .other: false
        }
    }

    private static func h264(_ unit: NALUnit, of bytes: [UInt8]) -> Self {
        // first_mb_in_slice = 0 is the Exp-Golomb code "1".
        let isFirst = unit.end > unit.start + 1 && bytes[unit.start + 1] & 0x80 != 0
        switch bytes[unit.start] & 0x1F {
        case 1, 2: return .slice(isFirst: isFirst, .plain)
        case 3, 4: return .slice(isFirst: false, .plain)
        case 5: return .slice(isFirst: isFirst, .instantaneousRefresh)
        case 6, 14...18: return .prefix
        case 7: return .parameterSet(.sequence)
        case 8: return .parameterSet(.picture)
        case 9: return .delimiter
        case 12: return .filler
        default: return .other
        }
    }

    private static func mpeg2(_ unit: NALUnit, of bytes: [UInt8]) -> Self {
        switch bytes[unit.start] {
        case MPEG2Picture.startCode:
            return .slice(isFirst: true, MPEG2Picture.isIntra(unit, of: bytes) ? .cleanRandomAccess : .plain)
        case MPEG2SequenceHeader.startCode: return .parameterSet(.sequence)
        case MPEG2SequenceHeader.extensionStartCode:
            let number = unit.end > unit.start + 1 ? bytes[unit.start + 1] >> 4 : 0
            return MPEG2SequenceHeader.Extension(rawValue: number) == nil ? .other : .parameterSet(.picture)
        case MPEG2Picture.groupStartCode: return .prefix
        default: return .other
        }
    }

    private static func hevc(_ unit: NALUnit, of bytes: [UInt8]) -> Self {
        let isFirst = unit.end > unit.start + 2 && bytes[unit.start + 2] & 0x80 != 0
        switch bytes[unit.start] >> 1 & 0x3F {
        case 16...20: return .slice(isFirst: isFirst, .instantaneousRefresh)
        case 21: return .slice(isFirst: isFirst, .cleanRandomAccess)
        case 0...31: return .slice(isFirst: isFirst, .plain)
        case 32: return .parameterSet(.video)
        case 33: return .parameterSet(.sequence)
        case 34: return .parameterSet(.picture)
        case 35: return .delimiter
        case 38: return .filler
        case 39, 41...44, 48...55: return .prefix
        default: return .other
        }
    }
}

/// NAL units in a sample, each after its length (ISO/IEC 14496-15 §5.3.4.2.1).
enum LengthPrefixedNALUnits {
    /// Returns the NAL units of a sample as this package writes it: with lengths of four bytes.
    static func units(of sample: [UInt8]) -> [NALUnit] {
        var units: [NALUnit] = []
        _ = scan(sample, in: sample.indices, lengthSize: 4, into: &units)
        return units
    }

    /// Appends the NAL units of `range` in order, without trailing zeros; empty ones are skipped, and those beyond
    /// the limit.
    /// - Parameter lengthSize: bytes of a length field, 1 ... 4.
    /// - Returns: false if a length reaches past the end; that unit then ends there.
    static func scan(_ bytes: [UInt8], in range: Range<Int>, lengthSize: Int, into units: inout [NALUnit]) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound, units.count < DemuxLimits.units {
            guard range.upperBound - position >= lengthSize else { return false }
            let start = position + lengthSize
            let length = bytes[position..<start].reduce(0) { $0 << 8 | Int($1) }
            let end = min(start + length, range.upperBound)
            var trimmed = end
            while trimmed > start, bytes[trimmed - 1] == 0 { trimmed -= 1 }
            if trimmed > start { units.append(NALUnit(prefix: position, start: start, end: trimmed)) }
            if start + length > range.upperBound { return false }
            position = end
        }
        return true
    }
}

/// The length field of a NAL unit in a sample (ISO/IEC 14496-15 §5.3.4.2.1): four bytes, big-endian.
enum NALUnitLength {
    static func bytes(_ length: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    }

    @inline(__always)
    static func append(_ length: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: length >> 24))
        bytes.append(UInt8(truncatingIfNeeded: length >> 16))
        bytes.append(UInt8(truncatingIfNeeded: length >> 8))
        bytes.append(UInt8(truncatingIfNeeded: length))
    }
}
