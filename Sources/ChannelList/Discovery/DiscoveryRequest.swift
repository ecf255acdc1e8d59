/// A request for the devices that a client looks for.
package struct DiscoveryRequest: Equatable, Sendable {
    private static let tuner: UInt32 = 1

    /// The types of devices. Older clients ask for one type, current clients for one or several.
    let deviceTypes: [UInt32]
    /// The device; nil or all bits set: any. Current clients leave it out when they look for all devices.
    let deviceID: UInt32?

    /// Parses a datagram; nil if it is not a request.
    package init?(_ packet: [UInt8]) {
        guard let fields = DiscoveryPacket.parse(packet[...], as: .request) else { return nil }
        var (types, device): ([UInt32], UInt32?) = ([], nil)
        for field in fields {
            switch field.tag {
            case .deviceType where field.value.count == 4: types.append(UInt32(bytes: field.value))
            case .deviceTypes:
                var rest = field.value
                while rest.count >= 4 {
                    types.append(UInt32(bytes: rest.prefix(4)))
                    rest.removeFirst(4)
                }
            case .deviceID where field.value.count == 4: device = UInt32(bytes: field.value)
            default: continue
            }
        }
        (deviceTypes, deviceID) = (types, device)
    }

    /// Whether the request includes a tuner with this device ID.
    package func matches(deviceID own: String) -> Bool {
        guard deviceTypes.contains(where: { $0 == Self.tuner || $0 == DiscoveryPacket.any }) else { return false }
        return deviceID.map { $0 == DiscoveryPacket.any || $0 == UInt32(own, radix: 16) } ?? true
    }
}

extension TunerDevice {
    /// The datagram that answers a request.
    /// - Parameter baseURL: the URL of this server as the client sees it.
    package func discoveryReply(baseURL: String) -> [UInt8] {
        let base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        return DiscoveryPacket.write(
            .reply,
            [
                (.deviceType, DiscoveryPacket.bytes(1 as UInt32)),
                (.deviceID, DiscoveryPacket.bytes(UInt32(deviceID, radix: 16) ?? 0)),
                (.tunerCount, [UInt8(clamping: tunerCount)]), (.baseURL, Array(base.utf8)),
                (.lineupURL, Array("\(base)/lineup.json".utf8)),
            ])
    }
}

/// The packets by which HDHomeRun clients find tuners, over UDP (libhdhomerun, hdhomerun_pkt.h).
///
/// A packet is its type and the length of its payload in 16 bits each, the payload, and a CRC-32 over all of it. The
/// payload is a sequence of tags with a length and a value. Numbers are in network order, except for the CRC-32.
enum DiscoveryPacket {
    enum Kind: UInt16 {
        case request = 2
        case reply = 3
    }

    enum Tag: UInt8 {
        case deviceType = 0x01
        case deviceID = 0x02
        case tunerCount = 0x10
        case lineupURL = 0x27
        case baseURL = 0x2A
        case deviceTypes = 0x2D
    }

    /// Stands for any type or any device.
    static let any: UInt32 = 0xFFFF_FFFF

    /// The tags and values of a packet; nil if it is malformed, or of another kind. Unknown tags are skipped.
    static func parse(_ packet: ArraySlice<UInt8>, as kind: Kind) -> [(tag: Tag, value: ArraySlice<UInt8>)]? {
        guard packet.count >= 8, UInt16(bytes: packet.prefix(2)) == kind.rawValue else { return nil }
        let end = packet.startIndex + 4 + Int(UInt16(bytes: packet.dropFirst(2).prefix(2)))
        guard packet.endIndex == end + 4, crc32(packet[..<end]) == UInt32(bytes: packet[end...].reversed()) else {
            return nil
        }
        var rest = packet[..<end].dropFirst(4)
        var fields: [(tag: Tag, value: ArraySlice<UInt8>)] = []
        while let tag = rest.popFirst() {
            guard let length = length(&rest), length <= rest.count else { return nil }
            if let tag = Tag(rawValue: tag) { fields.append((tag, rest.prefix(length))) }
            rest.removeFirst(length)
        }
        return fields
    }

    static func write(_ kind: Kind, _ fields: [(tag: Tag, value: [UInt8])]) -> [UInt8] {
        var payload: [UInt8] = []
        for (tag, value) in fields {
            payload.append(tag.rawValue)
            if value.count < 0x80 {
                payload.append(UInt8(value.count))
            } else {
                payload += [UInt8(value.count & 0x7F) | 0x80, UInt8(truncatingIfNeeded: value.count >> 7)]
            }
            payload += value
        }
        let packet = bytes(kind.rawValue) + bytes(UInt16(payload.count)) + payload
        return packet + bytes(crc32(packet[...])).reversed()
    }

    /// A number in network order.
    static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// A length of one byte, or of two bytes whose first holds the low seven bits.
    private static func length(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard let first = rest.popFirst() else { return nil }
        guard first >= 0x80 else { return Int(first) }
        return rest.popFirst().map { Int(first & 0x7F) | Int($0) << 7 }
    }

    /// The CRC-32 of Ethernet and zlib.
    static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
        }
        return ~crc
    }
}

extension FixedWidthInteger {
    /// A number in network order.
    init(bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | Self($1) } }
}
