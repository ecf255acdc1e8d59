import Media

/// NAL units in a sample, each after its length (ISO/IEC 14496-15 §5.3.4.2.1).
enum LengthPrefixedNALUnits {
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
