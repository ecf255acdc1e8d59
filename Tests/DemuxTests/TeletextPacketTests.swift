import Media
import MediaTestSupport
import Testing

@testable import Demux

@Suite struct TeletextPacketTests {
    private typealias Sample = TeletextSample

    private static func texts(_ payload: [UInt8]) -> [String] {
        TeletextPacket.packets(in: payload).map { packet in
            switch packet.content {
            case .header(let header):
                let flags = [
                    header.erasesPage ? "erase" : "", header.inhibitsDisplay ? "inhibit" : "",
                    header.isSerial ? "serial" : "", header.characterSubset > 0 ? "\(header.characterSubset)" : "",
                ]
                return ([String(packet.magazine) + String(header.page, radix: 16)] + flags.filter { !$0.isEmpty })
                    .joined(separator: " ")
            case .row(let number, let codes):
                return "\(packet.magazine)/\(number) " + String(decoding: codes.prefix(5), as: UTF8.self)
            }
        }
    }

    private static func changed(_ packet: [UInt8], _ index: Int, _ bits: UInt8) -> [UInt8] {
        var packet = packet
        packet[index] ^= bits
        return packet
    }

    private static let hello = Sample.row(0x888, 22, codes: Array("Hello".utf8))
    static let rows: [(when: String, payload: [UInt8], packets: [String])] = [
        ("a header and a row", Sample.payload([Sample.header(0x888), hello]), ["888 erase", "8/22 Hello"]),
        ("magazine 1", Sample.payload([Sample.header(0x1A0, [])]), ["1a0"]),
        ("flags", Sample.payload([Sample.header(0x150, [.inhibits, .isSerial], subset: 4)]), ["150 inhibit serial 4"]),
        ("subsets", Sample.payload((1...2).map { Sample.header(0x150, [], subset: $0) }), ["150 1", "150 2"]),
        ("one wrong bit in the address", Sample.payload([changed(hello, 1, 0x10)]), ["8/22 Hello"]),
        ("two wrong bits in the address", Sample.payload([changed(hello, 1, 0x11), hello]), ["8/22 Hello"]),
        ("two wrong bits in a header", Sample.payload([changed(Sample.header(0x888), 9, 0x03)]), []),
        ("wrong parity", Sample.payload([changed(hello, 3, 0x01)]), ["8/22 H llo"]),
        (
            "packets beyond level 1", Sample.payload([Sample.packet(0, 26, Array(hello.suffix(40))), hello]),
            ["8/22 Hello"]
        ),
        ("another framing code", [0x10, 3, 44, 0xE7, 0x1B] + hello, []),
        ("stuffing", [0x10, 0xFF, 2, 0, 0] + Sample.payload([hello]).dropFirst(), ["8/22 Hello"]),
        ("cut off", Array(Sample.payload([hello, hello]).dropLast(3)), ["8/22 Hello"]),
        ("a size of its own", [0x10, 3, 1, 0xE7], []),
        ("nothing", [], []),
        ("the identifier alone", [0x10, 3], []),
    ]

    @Test(arguments: rows.indices) func packets(index: Int) {
        #expect(Self.texts(Self.rows[index].payload) == Self.rows[index].packets, "\(Self.rows[index].when)")
    }

    static let pageRows: [(when: String, descriptor: [UInt8], pages: [String])] = [
        ("subtitles", Sample.descriptor([("deu", 2, 0x888)]), ["888.de"]),
        ("for hearing impaired people", Sample.descriptor([("fra", 5, 0x150)]), ["150.fr.hi"]),
        ("an index page and subtitles", Sample.descriptor([("deu", 1, 0x100), ("deu", 2, 0x777)]), ["777.de"]),
        ("one page twice", Sample.descriptor([("deu", 2, 0x888), ("deu", 5, 0x888)]), ["888.de"]),
        ("a private language", Sample.descriptor([("qaa", 2, 0x888)]), ["888.und"]),
        ("no entries", [0x56, 0], []),
        ("a cut entry", [0x56, 4, 0x64, 0x65, 0x75, 0x10], []),
        ("DVB subtitles", [0x59, 8] + Array("deu".utf8) + [0x10, 0, 1, 0, 1], []),
    ]

    @Test(arguments: pageRows.indices) func subtitlePages(index: Int) {
        let row = Self.pageRows[index]
        let pages = PrivateDataStream(descriptor: row.descriptor).subtitlePages
        #expect(pages.map(\.text) == row.pages, "\(row.when)")
        for page in pages { #expect(TeletextPage(text: page.text) == page) }
    }

    @Test(arguments: ["", "888", "888.", "88.de", "988.de", "888.de.x", "888.de.hi.x", "zzz.de", "-888.de"])
    func otherTextIsNoPage(_ text: String) { #expect(TeletextPage(text: text) == nil) }
}
