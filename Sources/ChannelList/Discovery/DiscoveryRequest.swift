/// What a client looks for.
package struct DiscoveryRequest: Equatable, Sendable {
    /// The type of a tuner.
    private static let tuner: UInt32 = 1

    /// The types of devices. Older clients ask for one; today's for one or several.
    package let deviceTypes: [UInt32]
    /// The device; nil or all bits set: any. Today's clients leave it out when they look for all.
    package let deviceID: UInt32?

    /// Parses a datagram; nil if it is no request.
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

    /// Whether a tuner with this device ID is meant.
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
