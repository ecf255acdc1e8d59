import Glibc

/// An IPv4 or IPv6 address.
package struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes in network order.
    let bytes: [UInt8]

    /// Returns nil for another number of bytes.
    init?(_ bytes: [UInt8]) {
        guard [4, 16].contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Reads `192.0.2.1` or `2001:db8::1`. Returns nil for anything else, including names.
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    /// Whether the address belongs to one host of the public Internet.
    ///
    /// Multicast addresses and those in the registries of special-purpose addresses are not public (RFC 6890, RFC 8190
    /// and later entries). For an IPv6 address that embeds an IPv4 address, the embedded one decides.
    var isPublic: Bool {
        if bytes.count == 4 { return !Self.specialIPv4.contains { $0.contains(bytes) } }
        if let inner = Self.embeddedIPv4Prefixes.first(where: { $0.prefix.contains(bytes) })?.offset {
            return IPAddress(Array(bytes[inner..<inner + 4]))?.isPublic ?? false
        }
        return Self.globalUnicast.contains(bytes) && !Self.specialIPv6.contains { $0.contains(bytes) }
    }

    /// `192.0.2.1`, `2001:db8:0:0:0:0:0:1` (RFC 4291 §2.2, uncompressed).
    package var text: String {
        if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }.joined(separator: ":")
    }
}

extension IPAddress {
    /// A range of addresses with the same leading bits.
    private struct Prefix {
        let bytes: [UInt8]
        let bits: Int

        /// - Parameter bytes: the leading bytes; the others are 0.
        init(_ bytes: [UInt8], _ bits: Int) {
            self.bytes = bytes
            self.bits = bits
        }

        func contains(_ address: [UInt8]) -> Bool {
            (0..<address.count).allSatisfy { index in
                let compared = min(8, max(0, bits - 8 * index))
                let mask = UInt8(truncatingIfNeeded: 0xFF00 >> compared)
                let own = index < bytes.count ? bytes[index] : 0
                return (address[index] ^ own) & mask == 0
            }
        }
    }

    private static let specialIPv4 = [
        Prefix([0], 8), Prefix([10], 8), Prefix([127], 8), Prefix([169, 254], 16), Prefix([172, 16], 12),
        Prefix([192, 168], 16),
        Prefix([100, 64], 10),  // shared by carriers (RFC 6598)
        Prefix([192, 0, 0], 24), Prefix([198, 18], 15),  // protocol assignments, benchmarks
        Prefix([192, 0, 2], 24), Prefix([198, 51, 100], 24), Prefix([203, 0, 113], 24),  // documentation
        Prefix([192, 88, 99], 24),  // 6to4 relays, deprecated (RFC 7526)
        Prefix([224], 4), Prefix([240], 4),  // multicast; reserved, and broadcast
    ]

    /// The other ranges are unassigned or local: ::1, fc00::/7, fe80::/10, ff00::/8.
    private static let globalUnicast = Prefix([0x20], 3)

    private static let specialIPv6 = [
        Prefix([0x20, 0x01], 23),  // protocol assignments, Teredo among them
        Prefix([0x20, 0x01, 0x0D, 0xB8], 32), Prefix([0x3F, 0xFF], 20),  // documentation
    ]

    /// Prefixes of addresses that embed an IPv4 address, with its byte offset.
    ///
    /// They are v4-compatible (with :: and ::1, whose last four bytes are in 0.0.0.0/8), v4-mapped, NAT64 (RFC 6052)
    /// and 6to4 (RFC 3056).
    private static let embeddedIPv4Prefixes: [(prefix: Prefix, offset: Int)] = [
        (Prefix([], 96), 12),
        (Prefix([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96), 12),
        (Prefix([0x00, 0x64, 0xFF, 0x9B], 96), 12),
        (Prefix([0x20, 0x02], 16), 2),
    ]
}
