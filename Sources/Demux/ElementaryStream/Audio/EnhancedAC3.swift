import Media

/// The header of an E-AC-3 frame (ETSI TS 102 366 Annex E.1.2.2), and `dec3` of the program that it forms with its
/// dependent frames (Annex F.6).
struct EnhancedAC3: Equatable, Sendable {
    private let fscod: Int
    private let bsid: Int
    private let bsmod: Int
    private let acmod: Int
    private let lfeon: Bool
    private var locations: ChannelMap
    private(set) var dependentCount = 0
    /// complexity_index_type_a if the program carries objects (ETSI TS 103 420 §8.3.1, joint object coding).
    private(set) var objectComplexity: Int?

    private static let section = "ETSI TS 102 366 §E.1.2.2"
    private static let independent = 0
    private static let dependent = 1

    /// The largest number of bytes from the syncword to the end of addbsi.
    static let longestInformation = 128

    /// - Parameter frame: `longestInformation` bytes from the syncword on, or the complete frame.
    init(_ frame: ArraySlice<UInt8>) throws(MediaError) {
        var bits = BitReader(frame, section: Self.section)
        try bits.skip(16)
        let streamType = try bits.u(2)
        try bits.skip(3 + 11)  // substreamid, frmsiz
        fscod = try bits.u(2)
        let blockCode = try fscod == 3 ? bits.u(2) | 3 : bits.u(2)
        acmod = try bits.u(3)
        lfeon = try bits.flag()
        bsid = try bits.u(5)
        locations = ChannelMap(acmod: acmod, lfeon: lfeon)
        for _ in 0..<(acmod == 0 ? 2 : 1) {
            try bits.skip(5)  // dialnorm
            try bits.skipOptional(8)  // compr
        }
        if streamType == Self.dependent, try bits.flag() { locations = ChannelMap(bits: UInt16(try bits.u(16))) }
        let mixing = Mixing(streamType: streamType, acmod: acmod, lfeon: lfeon, blockCode: blockCode)
        if try bits.flag() { try mixing.skip(&bits) }
        bsmod = try bits.flag() ? try Self.information(&bits, acmod: acmod, fscod: fscod) : 0
        if streamType == Self.independent, blockCode != 3 { try bits.skip(1) }  // convsync
        if streamType == 2 {
            let startsFrame = try blockCode == 3 ? true : bits.flag()  // blkid
            if startsFrame { try bits.skip(6) }  // frmsizecod
        }
        if try bits.flag() { objectComplexity = try Self.objects(&bits) }
    }

    private static func information(_ bits: inout BitReader, acmod: Int, fscod: Int) throws(MediaError) -> Int {
        let bsmod = try bits.u(3)
        try bits.skip(2)  // copyrightb, origbs
        if acmod == 2 { try bits.skip(2 + 2) }
        if acmod >= 6 { try bits.skip(2) }
        for _ in 0..<(acmod == 0 ? 2 : 1) { try bits.skipOptional(5 + 2 + 1) }  // audprodi
        if fscod < 3 { try bits.skip(1) }  // sourcefscod
        return bsmod
    }

    /// Reads addbsi after its flag: seven reserved bits, flag_ec3_extension_type_a and complexity_index_type_a.
    private static func objects(_ bits: inout BitReader) throws(MediaError) -> Int? {
        let size = try bits.u(6) + 1
        try bits.skip(7)
        guard try bits.flag(), size >= 2 else { return nil }
        return try bits.u(8)
    }

    /// Merges a dependent frame, which replaces channels of the independent frame or adds others.
    mutating func merge(_ dependent: EnhancedAC3) {
        dependentCount += 1
        locations.formUnion(dependent.locations)
        objectComplexity = objectComplexity ?? dependent.objectComplexity
    }

    var channelCount: Int { locations.channelCount }

    /// The payload of `dec3` with a data rate of 0 and one independent substream, big-endian in the low bytes.
    var specific: (bits: UInt64, size: Int) {
        var writer = BitWriter()
        writer.append(0, bits: 13 + 3)  // data_rate, num_ind_sub
        writer.append(fscod, bits: 2)
        writer.append(bsid, bits: 5)
        writer.append(0, bits: 1 + 1)  // reserved, asvc
        writer.append(bsmod, bits: 3)
        writer.append(acmod, bits: 3)
        writer.append(lfeon ? 1 : 0, bits: 1)
        writer.append(0, bits: 3)
        writer.append(min(dependentCount, 15), bits: 4)
        if dependentCount > 0 {
            writer.append(locations.beyondFiveOne, bits: 9)
        } else {
            writer.append(0, bits: 1)
        }
        if let objectComplexity {
            writer.append(1, bits: 8)  // reserved, flag_ec3_extension_type_a
            writer.append(objectComplexity, bits: 8)
        }
        return (writer.bytes.reduce(0) { $0 << 8 | UInt64($1) }, writer.bytes.count)
    }

    /// Channel locations: chanmap (Table E.1.4), with left in the most significant bit.
    struct ChannelMap: Equatable, Sendable {
        private var bits: UInt16

        /// Lc/Rc, Lrs/Rrs, Lsd/Rsd, Lw/Rw, Lvh/Rvh and Lts/Rts are pairs.
        private static let pairs: UInt16 = 0b0000_0110_0111_0100

        init(bits: UInt16) { self.bits = bits }

        init(acmod: Int, lfeon: Bool) {
            let (left, center, right, leftSurround, rightSurround) = (0x8000, 0x4000, 0x2000, 0x1000, 0x0800)
            let (surround, lowFrequency) = (0x0100, 0x0001)
            let front = [left | right, center, left | right, left | center | right]
            let full = [surround, surround, leftSurround | rightSurround, leftSurround | rightSurround]
            let locations = acmod < 4 ? front[acmod] : front[2 + acmod % 2] | full[acmod - 4]
            bits = UInt16(locations | (lfeon ? lowFrequency : 0))
        }

        mutating func formUnion(_ other: ChannelMap) { bits |= other.bits }

        var channelCount: Int { bits.nonzeroBitCount + (bits & Self.pairs).nonzeroBitCount }

        /// chan_loc (Table F.6.1): Lc/Rc in the least significant bit, LFE2 in the most significant.
        var beyondFiveOne: Int {
            let pairs = (0..<8).reduce(0) { $0 | Int(bits >> UInt16(10 - $1) & 1) << $1 }
            return pairs | Int(bits >> 1 & 1) << 8
        }
    }

    /// The presence flags of mixmdat, which is skipped for the fields after it.
    private struct Mixing {
        let streamType: Int
        let acmod: Int
        let lfeon: Bool
        let blockCode: Int

        func skip(_ bits: inout BitReader) throws(MediaError) {
            if acmod > 2 { try bits.skip(2) }  // dmixmod
            if acmod > 2, acmod & 1 != 0 { try bits.skip(3 + 3) }
            if acmod & 4 != 0 { try bits.skip(3 + 3) }
            if lfeon { try bits.skipOptional(5) }  // lfemixlevcod
            guard streamType == EnhancedAC3.independent else { return }
            for _ in 0..<(acmod == 0 ? 2 : 1) { try bits.skipOptional(6) }  // pgmscl
            try bits.skipOptional(6)  // extpgmscl
            try skipMixDefinition(&bits)
            if acmod < 2 {
                for _ in 0..<(acmod == 0 ? 2 : 1) { try bits.skipOptional(8 + 6) }  // panmean, paninfo
            }
            if try bits.flag() { try skipBlocks(&bits) }
        }

        private func skipMixDefinition(_ bits: inout BitReader) throws(MediaError) {
            switch try bits.u(2) {
            case 1: try bits.skip(1 + 1 + 3)
            case 2: try bits.skip(12)
            case 3: try bits.skip((bits.u(5) + 2) * 8)
            default: break
            }
        }

        private func skipBlocks(_ bits: inout BitReader) throws(MediaError) {
            guard blockCode > 0 else { return try bits.skip(5) }
            for _ in 0..<[1, 2, 3, 6][blockCode] { try bits.skipOptional(5) }
        }
    }
}

extension BitReader {
    fileprivate mutating func skipOptional(_ count: Int) throws(MediaError) {
        if try flag() { try skip(count) }
    }
}
