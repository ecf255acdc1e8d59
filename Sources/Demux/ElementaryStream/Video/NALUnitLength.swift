import Media

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
