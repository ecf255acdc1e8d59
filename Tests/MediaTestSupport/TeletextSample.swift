/// PES payloads of teletext, written by the tables of the standard.
package enum TeletextSample {
    /// ETSI EN 300 706 Table 4, the first bit as the lowest.
    private static let hamming: [UInt8] = [
        0x15, 0x02, 0x49, 0x5E, 0x64, 0x73, 0x38, 0x2F, 0xD0, 0xC7, 0x8C, 0x9B, 0xA1, 0xB6, 0xFD, 0xEA,
    ]

    /// The control bits of a header.
    package struct Flags: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        package static let erases = Flags(rawValue: 1)
        package static let inhibits = Flags(rawValue: 2)
        package static let isSerial = Flags(rawValue: 4)
    }

    /// 42 bytes: a packet with its address.
    package static func packet(_ magazine: Int, _ number: Int, _ data: [UInt8]) -> [UInt8] {
        [hamming[magazine & 7 | (number & 1) << 3], hamming[number >> 1]] + data
    }

    /// - Parameters:
    ///   - page: three digits, such as 0x888.
    ///   - subset: C12 to C14.
    package static func header(_ page: Int, _ flags: Flags = .erases, subset: Int = 0) -> [UInt8] {
        let national = (subset >> 2 & 1) << 1 | (subset >> 1 & 1) << 2 | (subset & 1) << 3
        let isSerial = flags.contains(.isSerial) ? 1 : 0
        let digits: [Int] = [
            page & 15, page >> 4 & 15, 0, flags.contains(.erases) ? 8 : 0, 0, 8, flags.contains(.inhibits) ? 8 : 0,
            national | isSerial,
        ]
        return packet(page >> 8, 0, digits.map { hamming[$0] } + codes(String(repeating: " ", count: 32)))
    }

    /// A row with text in a box.
    package static func row(_ page: Int, _ number: Int, _ text: String) -> [UInt8] {
        row(page, number, codes: [0x0B, 0x0B] + Array(text.utf8) + [0x0A, 0x0A])
    }

    package static func row(_ page: Int, _ number: Int, codes: [UInt8]) -> [UInt8] {
        let padded = codes + [UInt8](repeating: 0x20, count: max(0, 40 - codes.count))
        return packet(page >> 8, number, padded.map(withParity))
    }

    private static func codes(_ text: String) -> [UInt8] { text.utf8.map(withParity) }

    private static func withParity(_ code: UInt8) -> UInt8 { code.nonzeroBitCount % 2 == 0 ? code | 0x80 : code }

    /// The payload of a PES packet (ETSI EN 300 472 §4.3).
    package static func payload(_ packets: [[UInt8]]) -> [UInt8] {
        [0x10] + packets.flatMap { [0x03, 0x2C, 0xE7, 0xE4] + $0.map(reversed) }
    }

    private static func reversed(_ byte: UInt8) -> UInt8 { (0..<8).reduce(0) { $0 | (byte >> $1 & 1) << (7 - $1) } }

    /// The descriptor of a stream whose pages are for subtitles.
    package static func descriptor(_ pages: [(language: String, type: UInt8, page: Int)]) -> [UInt8] {
        var descriptor = [0x56, UInt8(pages.count * 5)]
        for (language, type, page) in pages {
            let magazine = UInt8(page >> 8 & 7)
            descriptor += Array(language.utf8)
            descriptor += [type << 3 | magazine, UInt8(page & 0xFF)]
        }
        return descriptor
    }
}
