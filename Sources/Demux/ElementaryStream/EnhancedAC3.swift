import Media

/// What an E-AC-3 frame says in front of its audio blocks (ETSI TS 102 366 Annex E.1.2.2), and what `dec3` says of the
/// programme that it and its dependent frames make (Annex F.6).
struct EnhancedAC3: Equatable, Sendable {
    /// Of the independent frame.
    private let fscod: Int
    private let bsid: Int
    private let bsmod: Int
    private let acmod: Int
    private let lfeon: Bool
    /// Where its channels are, as a chanmap.
    private var locations: ChannelMap
    private(set) var dependentCount = 0
    /// complexity_index_type_a: the programme carries objects (ETSI TS 103 420 §8.3.1, joint object coding).
    private(set) var objectComplexity: Int?

    private static let section = "ETSI TS 102 366 §E.1.2.2"
    private static let independent = 0
    private static let dependent = 1

    /// Bytes from the syncword on within which all of this stands, addbsi included.
    static let longestInformation = 128

    /// - Parameter frame: from the syncword on; `longestInformation` bytes of it, or all.
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

    /// infomdat, behind its flag.
    /// - Returns: bsmod.
    private static func information(_ bits: inout BitReader, acmod: Int, fscod: Int) throws(MediaError) -> Int {
        let bsmod = try bits.u(3)
        try bits.skip(2)  // copyrightb, origbs
        if acmod == 2 { try bits.skip(2 + 2) }
        if acmod >= 6 { try bits.skip(2) }
        for _ in 0..<(acmod == 0 ? 2 : 1) { try bits.skipOptional(5 + 2 + 1) }  // audprodi
        if fscod < 3 { try bits.skip(1) }  // sourcefscod
        return bsmod
    }

    /// addbsi, behind its flag: seven reserved bits, flag_ec3_extension_type_a and complexity_index_type_a.
    private static func objects(_ bits: inout BitReader) throws(MediaError) -> Int? {
        let size = try bits.u(6) + 1
        try bits.skip(7)
        guard try bits.flag(), size >= 2 else { return nil }
        return try bits.u(8)
    }

    /// Takes in a dependent frame: it replaces channels of the independent one, or adds others.
    mutating func merge(_ dependent: EnhancedAC3) {
        dependentCount += 1
        locations.formUnion(dependent.locations)
        objectComplexity = objectComplexity ?? dependent.objectComplexity
    }

    var channelCount: Int { locations.channelCount }

    /// The payload of `dec3` with a data rate of 0 and one independent substream, big-endian in the low bytes.
    var specific: (bits: UInt64, size: Int) {
        var writer = FieldWriter()
        writer.put(0, 13 + 3)  // data_rate, num_ind_sub
        writer.put(fscod, 2)
        writer.put(bsid, 5)
        writer.put(0, 1 + 1)  // reserved, asvc
        writer.put(bsmod, 3)
        writer.put(acmod, 3)
        writer.put(lfeon ? 1 : 0, 1)
        writer.put(0, 3)
        writer.put(min(dependentCount, 15), 4)
        if dependentCount > 0 { writer.put(locations.beyondFiveOne, 9) } else { writer.put(0, 1) }
        if let objectComplexity {
            writer.put(1, 8)  // reserved, flag_ec3_extension_type_a
            writer.put(objectComplexity, 8)
        }
        return (writer.bits, writer.count / 8)
    }

    private struct FieldWriter {
        var bits: UInt64 = 0
        var count = 0

        mutating func put(_ value: Int, _ size: Int) {
            bits = bits << UInt64(size) | UInt64(value)
            count += size
        }
    }
}

extension EnhancedAC3 {
    /// Channels by their place: chanmap (Table E.1.4), left in the most significant bit.
    struct ChannelMap: Equatable, Sendable {
        private var bits: UInt16

        /// Lc/Rc, Lrs/Rrs, Lsd/Rsd, Lw/Rw, Lvh/Rvh and Lts/Rts are pairs.
        private static let pairs: UInt16 = 0b0000_0110_0111_0100

        init(bits: UInt16) { self.bits = bits }

        init(acmod: Int, lfeon: Bool) {
            let (left, centre, right, leftSurround, rightSurround) = (0x8000, 0x4000, 0x2000, 0x1000, 0x0800)
            let (surround, lowFrequency) = (0x0100, 0x0001)
            let front = [left | right, centre, left | right, left | centre | right]
            let full = [surround, surround, leftSurround | rightSurround, leftSurround | rightSurround]
            let places = acmod < 4 ? front[acmod] : front[2 + acmod % 2] | full[acmod - 4]
            bits = UInt16(places | (lfeon ? lowFrequency : 0))
        }

        mutating func formUnion(_ other: ChannelMap) { bits |= other.bits }

        var channelCount: Int { bits.nonzeroBitCount + (bits & Self.pairs).nonzeroBitCount }

        /// chan_loc (Table F.6.1): Lc/Rc in its least significant bit, LFE2 in its most.
        var beyondFiveOne: Int {
            let places = (0..<8).reduce(0) { $0 | Int(bits >> UInt16(10 - $1) & 1) << $1 }
            return places | Int(bits >> 1 & 1) << 8
        }
    }

    /// mixmdat, behind its flag: read for what follows it.
    private struct Mixing {
        let streamType: Int
        let acmod: Int
        let lfeon: Bool
        /// numblkscod.
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

        /// blkmixcfginfo of each block.
        private func skipBlocks(_ bits: inout BitReader) throws(MediaError) {
            guard blockCode > 0 else { return try bits.skip(5) }
            for _ in 0..<[1, 2, 3, 6][blockCode] { try bits.skipOptional(5) }
        }
    }
}

extension BitReader {
    /// A flag, and `count` bits when it is set.
    fileprivate mutating func skipOptional(_ count: Int) throws(MediaError) {
        if try flag() { try skip(count) }
    }
}
