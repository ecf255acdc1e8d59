@testable import ChannelList

/// Entry for the datagrams by which clients look for tuners.
enum DiscoveryEntry {
    static let entry = FuzzEntry(
        "discovery", "a datagram that looks for tuners, with correct length and CRC-32", largest: 1500,
        dictionary: [
            [0, 2, 0, 0], [0x01, 4, 0, 0, 0, 1], [0x02, 4, 0xFF, 0xFF, 0xFF, 0xFF], [0x2D, 4], [0x2D, 0x84, 0],
            [0x2A, 0x80],
        ],
        seeds: { _ in requests },
        run: { bytes in
            for packet in [bytes, repaired(bytes)] {
                guard let request = DiscoveryRequest(packet) else { continue }
                try demand(request.deviceTypes.count * 4 <= packet.count, "\(request.deviceTypes.count) types")
                _ = request.matches(deviceID: "FFFFFFFF")
                guard let fields = DiscoveryPacket.parse(packet[...], as: .request) else { continue }
                let again = DiscoveryPacket.write(.request, fields.map { ($0.tag, Array($0.value)) })
                let same = DiscoveryPacket.parse(again[...], as: .request) ?? []
                try demand(
                    same.elementsEqual(fields) { $0.tag == $1.tag && $0.value == $1.value },
                    "different fields are parsed")
            }
        })

    /// A request of a type and a payload of these bytes, without their first four and last four.
    private static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 8 else { return bytes }
        let payload = bytes.dropFirst(4).dropLast(4)
        let head = [0, 2] + DiscoveryPacket.bytes(UInt16(payload.count)) + payload
        return head + DiscoveryPacket.bytes(DiscoveryPacket.crc32(head[...])).reversed()
    }

    private static let requests = [
        DiscoveryPacket.write(.request, [(.deviceType, [0, 0, 0, 1]), (.deviceID, [0xFF, 0xFF, 0xFF, 0xFF])]),
        DiscoveryPacket.write(.request, [(.deviceTypes, [0, 0, 0, 1, 0, 0, 0, 5])]),
        DiscoveryPacket.write(.request, [(.baseURL, Array(repeating: 0x61, count: 200))]),
    ]
}
