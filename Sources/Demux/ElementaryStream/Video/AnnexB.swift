import Media
import Support

/// The byte stream format (ISO/IEC 14496-10 Annex B, ISO/IEC 23008-2 Annex B).
enum AnnexB {
    private static let longestSearch = 1 << 20

    /// Appends the NAL units of `range` in order; empty ones are skipped, and those beyond the limit.
    /// - Parameter keepsZeros: whether zeros before a start code belong to the unit, as in MPEG-2, whose headers may end
    ///   with some.
    static func scan(
        _ bytes: [UInt8], in range: Range<Int>, keepsZeros: Bool = false, into units: inout [NALUnit]
    ) throws(MediaError) {
        var open: (prefix: Int, start: Int)?
        func close(at end: Int) throws(MediaError) -> Int {
            let start = open?.start ?? range.lowerBound
            let trimmed = keepsZeros ? end : try endWithoutZeros(bytes, in: start..<end)
            if let open, trimmed > open.start {
                units.append(NALUnit(prefix: open.prefix, start: open.start, end: trimmed))
            }
            return trimmed
        }
        var position = range.lowerBound
        while units.count < DemuxLimits.units, position < range.upperBound {
            if units.count & 0xFF == 0 { try MediaError.checkCancellation() }
            let end = min(position + longestSearch, range.upperBound)
            if let code = nextStartCode(bytes, from: position, to: end) {
                StepCounter.add((code - position) / 8 + 1)
                let trimmed = try close(at: code)
                open = (trimmed, code + 3)
                position = code + 3
            } else {
                StepCounter.add((end - position) / 8 + 1)
                position = end < range.upperBound ? end - 2 : end
            }
        }
        if units.count < DemuxLimits.units { _ = try close(at: range.upperBound) }
    }

    private static func endWithoutZeros(_ bytes: [UInt8], in range: Range<Int>) throws(MediaError) -> Int {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1] == 0 {
            if end & 0xFFFF == 0 { try MediaError.checkCancellation() }
            StepCounter.add(1)
            end -= 1
        }
        return end
    }

    /// Returns the offset of the next 00 00 01 that is completely before `end`.
    static func nextStartCode(_ bytes: [UInt8], from start: Int, to end: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { unsafe StartCodeSearch(bytes: $0).next(from: start, to: end) }
    }
}

/// Searches start codes 32 bytes at a time, skipping those without two consecutive zeros. Only this type reads video
/// bytes unchecked.
@safe private struct StartCodeSearch {
    private let bytes: UnsafeRawBufferPointer

    init(bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

    func next(from start: Int, to end: Int) -> Int? {
        var offset = start
        let limit = min(end, unsafe bytes.count)
        while offset + 34 <= limit {
            if hasZeros(at: offset), let found = first(in: offset..<offset + 32) { return found }
            offset += 32
        }
        return offset + 3 <= limit ? first(in: offset..<limit - 2) : nil
    }

    private func first(in range: Range<Int>) -> Int? {
        for offset in range
        where unsafe bytes[offset] == 0 && bytes[offset + 1] == 0 && bytes[offset + 2] == 1 {
            return offset
        }
        return nil
    }

    /// Whether two consecutive zeros begin in the 32 bytes at `offset`.
    @inline(__always)
    private func hasZeros(at offset: Int) -> Bool {
        zeros(at: offset) | zeros(at: offset + 8) | zeros(at: offset + 16) | zeros(at: offset + 24) != 0
    }

    /// Marks, among eight bytes, the first that is 0 and before a 0, and perhaps later ones; 0 if there is none.
    @inline(__always)
    private func zeros(at offset: Int) -> UInt64 {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let pair = word | (unsafe bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        return (pair &- 0x0101_0101_0101_0101) & ~pair & 0x8080_8080_8080_8080
    }
}
