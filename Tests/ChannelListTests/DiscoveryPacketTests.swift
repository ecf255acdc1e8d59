import TestSupport
import Testing

@testable import ChannelList

private let device = TunerDevice(name: "a", deviceID: "1C0FFEEC", tunerCount: 4)

private let requests: [(when: String, packet: String, isMeant: Bool?)] = [
    ("the older form, as Jellyfin sends it", "0002000c0104ffffffff0204ffffffff73cc7d8f", true),
    ("hdhomerun_config discover", "000200060104ffffffff4c20cb4e", true),
    ("tuners only", "00020006010400000001393077e7", true),
    ("a wrong CRC", "00020006010400000001393077e8", nil),
    ("a length that is not that of the packet", "00020007010400000001393077e7", nil),
    ("a reply", packet(3, "010400000001"), nil),
    ("storage devices", packet(2, "010400000005"), false),
    ("our device", packet(2, "01040000000102041c0ffeec"), true),
    ("another device", packet(2, "0104000000010204105003f0"), false),
    ("several types", packet(2, "2d080000000500000001"), true),
    ("several other types", packet(2, "2d080000000500000006"), false),
    ("no type", packet(2, ""), false),
    ("an unknown tag before", packet(2, "7f0355555501040000000102041c0ffeec"), true),
    ("a long unknown tag before", packet(2, "7f8001" + String(repeating: "55", count: 128) + "010400000001"), true),
    ("a tag that is longer than the packet", packet(2, "0105000000"), nil),
    ("a tag without a length", packet(2, "010400000001" + "02"), nil),
    ("a type of another size", packet(2, "01020001"), false),
    ("nothing", "", nil),
]

/// A packet of a payload, in hexadecimal digits.
private func packet(_ kind: UInt8, _ payload: String) -> String {
    let bytes = [0, kind, 0, UInt8(payload.count / 2)] + Hexadecimal.bytes(payload)
    return hexadecimal(bytes + DiscoveryPacketTests.crc32(bytes))
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private enum Hexadecimal {
    static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }
}

@Suite("Packets of HDHomeRun discovery") struct DiscoveryPacketTests {
    /// By a table, unlike the code under test; in the order of the wire.
    static func crc32(_ bytes: [UInt8]) -> [UInt8] {
        let table = (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { (value: UInt32, _: Int) -> UInt32 in
                value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
            }
        }
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes { crc = table[Int((crc ^ UInt32(byte)) & 0xFF)] ^ (crc >> 8) }
        crc = ~crc
        return (0..<4).map { UInt8(truncatingIfNeeded: crc >> (8 * $0)) }
    }

    @Test(arguments: requests)
    func request(when: String, packet: String, isMeant: Bool?) {
        let request = DiscoveryRequest(Hexadecimal.bytes(packet))
        #expect(request?.matches(deviceID: "1C0FFEEC") == isMeant, "\(when)")
    }

    @Test("A reply is that of the vector") func reply() {
        let expected =
            "0003004901040000000102041c0ffeec1001042a15687474703a2f2f3139322e302e322e373a383038302721687474703a2f2f3139"
            + "322e302e322e373a383038302f6c696e6575702e6a736f6ed365cd4d"
        #expect(hexadecimal(device.discoveryReply(baseURL: "http://192.0.2.7:8080/")) == expected)
    }

    @Test("A long URL and many tuners fit") func longReply() throws {
        let base = "http://" + String(repeating: "a", count: 300)
        let reply = TunerDevice(name: "", deviceID: "1C0FFEEC", tunerCount: 300).discoveryReply(baseURL: base)
        let fields = try #require(DiscoveryPacket.parse(reply[...], as: .reply))
        #expect(fields.map(\.tag) == [.deviceType, .deviceID, .tunerCount, .baseURL, .lineupURL])
        #expect(Array(fields[2].value) == [255])
        #expect(String(decoding: fields[3].value, as: UTF8.self) == base)
    }

    @Test("Any bytes are read without harm") func anyBytes() {
        var random = SeededGenerator(seed: 65_001)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if bytes.count > 8 {
                (bytes[0], bytes[1], bytes[2], bytes[3]) = (0, 2, 0, UInt8(bytes.count - 8))
                bytes.replaceSubrange((bytes.count - 4)..., with: Self.crc32(Array(bytes.dropLast(4))))
            }
            _ = DiscoveryRequest(bytes)?.matches(deviceID: "1C0FFEEC")
        }
    }
}
