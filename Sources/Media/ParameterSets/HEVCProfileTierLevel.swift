/// The general part of profile_tier_level (ISO/IEC 23008-2 §7.3.3); the sub-layer part is skipped.
package struct HEVCProfileTierLevel: Equatable, Sendable {
    /// 0 ... 3.
    package var generalProfileSpace: Int
    package var generalTierFlag: Bool
    package var generalProfileIdc: Int
    /// general_profile_compatibility_flag[0] in the most significant bit.
    package var generalProfileCompatibilityFlags: UInt32
    /// The 48 bits from general_progressive_source_flag on, as six bytes.
    package var generalConstraintIndicatorFlags: [UInt8] = []
    /// The level times 30.
    package var generalLevelIdc: Int

    /// - Parameter maxSubLayersMinus1: 0 ... 6.
    package init(_ bits: inout BitReader, maxSubLayersMinus1: Int) throws(MediaError) {
        generalProfileSpace = try bits.u(2)
        generalTierFlag = try bits.flag()
        generalProfileIdc = try bits.u(5)
        generalProfileCompatibilityFlags = UInt32(try bits.u(32))
        for _ in 0..<6 { generalConstraintIndicatorFlags.append(UInt8(try bits.u(8))) }
        generalLevelIdc = try bits.u(8)
        try Self.skipSubLayers(&bits, count: maxSubLayersMinus1)
    }

    private static func skipSubLayers(_ bits: inout BitReader, count: Int) throws(MediaError) {
        guard count > 0 else { return }
        var sizes: [Int] = []
        for _ in 0..<count { sizes.append(try (bits.flag() ? 88 : 0) + (bits.flag() ? 8 : 0)) }
        try bits.skip(2 * (8 - count))
        for size in sizes { try bits.skip(size) }
    }
}
