/// A teletext packet of level 1: the header of a page, or one of its rows (ETSI EN 300 706 §7, §9).
package struct TeletextPacket: Equatable, Sendable {
    /// The header of a page. Its own text is a clock, and no part of subtitles.
    package struct Header: Equatable, Sendable {
        /// The two hexadecimal digits of the page. 0xFF ends a page and begins none.
        package let page: UInt8
        /// C4: nothing of the page stays.
        package let erasesPage: Bool
        /// C10: rows are not displayed.
        package let inhibitsDisplay: Bool
        /// C11: a header of any magazine ends the page.
        package let isSerial: Bool
        /// C12 to C14: the national option subset of the characters.
        package let characterSubset: Int
    }

    package enum Content: Equatable, Sendable {
        case header(Header)
        /// The codes of a row, without parity. A code with wrong parity is a space.
        case row(Int, [UInt8])
    }

    /// 1 ... 8.
    package let magazine: Int
    package let content: Content
}

extension TeletextPacket {
    /// data_unit_id of EBU teletext and of EBU teletext subtitles (ETSI EN 300 472 Table 4).
    private static let dataUnits: ClosedRange<UInt8> = 0x02...0x03
    /// field_parity, line_offset and framing_code are before the packet address.
    private static let (unitSize, addressOffset, headerSize) = (44, 2, 8)
    private static let framingCode: UInt8 = 0xE4
    private static let rows = 1...24

    /// Returns the packets in the payload of a PES packet, in order. Other packets, and those whose address or header is
    /// damaged, are left out.
    package static func packets(in payload: [UInt8]) -> [TeletextPacket] {
        var packets: [TeletextPacket] = []
        var index = 1  // after data_identifier
        while index + 2 <= payload.count {
            let (unit, size) = (payload[index], Int(payload[index + 1]))
            index += 2
            guard index + size <= payload.count else { break }
            if dataUnits.contains(unit), size == unitSize, payload[index + 1] == framingCode {
                let bytes = payload[index + addressOffset..<index + size].map(\.bitsReversed)
                if let packet = TeletextPacket(bytes) { packets.append(packet) }
            }
            index += size
        }
        return packets
    }

    /// - Parameter bytes: the address and the data, with the first bit of each byte as its lowest.
    private init?(_ bytes: [UInt8]) {
        guard let low = Hamming84.decode(bytes[0]), let high = Hamming84.decode(bytes[1]) else { return nil }
        let number = Int(low >> 3 | high << 1)
        let data = bytes.dropFirst(2)
        if number == 0 {
            guard let header = Header(data.prefix(Self.headerSize)) else { return nil }
            content = .header(header)
        } else {
            guard Self.rows.contains(number) else { return nil }
            content = .row(number, data.map { $0.nonzeroBitCount % 2 == 1 ? $0 & 0x7F : 0x20 })
        }
        magazine = low & 0x07 == 0 ? 8 : Int(low & 0x07)
    }
}

extension TeletextPacket.Header {
    fileprivate init?(_ bytes: ArraySlice<UInt8>) {
        let digits = bytes.compactMap(Hamming84.decode)
        guard digits.count == bytes.count else { return nil }
        page = digits[1] << 4 | digits[0]
        erasesPage = digits[3] & 0x08 != 0
        inhibitsDisplay = digits[6] & 0x08 != 0
        isSerial = digits[7] & 0x01 != 0
        // C12 is the most significant.
        characterSubset = Int(digits[7] >> 1 & 1) << 2 | Int(digits[7] >> 2 & 1) << 1 | Int(digits[7] >> 3)
    }
}

/// Bytes of four bits with four bits that protect them (ETSI EN 300 706 §8.2).
private enum Hamming84 {
    private static let codes = (0..<16).map { (data: UInt8) -> UInt8 in
        let (d1, d2, d3, d4) = (data & 1, data >> 1 & 1, data >> 2 & 1, data >> 3)
        let (p1, p2, p3) = (1 ^ d1 ^ d3 ^ d4, 1 ^ d1 ^ d2 ^ d4, 1 ^ d1 ^ d2 ^ d3)
        let p4 = 1 ^ p1 ^ d1 ^ p2 ^ d2 ^ p3 ^ d3 ^ d4
        let low = p1 | d1 << 1 | p2 << 2 | d2 << 3
        return low | p3 << 4 | d3 << 5 | p4 << 6 | d4 << 7
    }

    private static let table = (0...UInt8.max).map { byte in
        codes.firstIndex { ($0 ^ byte).nonzeroBitCount <= 1 }.map { UInt8($0) }
    }

    /// Returns the four bits; one wrong bit is corrected. nil if more are wrong.
    static func decode(_ byte: UInt8) -> UInt8? { table[Int(byte)] }
}

extension UInt8 {
    fileprivate var bitsReversed: UInt8 {
        let halves = self >> 4 | self << 4
        let pairs = halves >> 2 & 0x33 | (halves & 0x33) << 2
        return pairs >> 1 & 0x55 | (pairs & 0x55) << 1
    }
}
