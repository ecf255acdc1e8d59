import Glibc

package struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]

    package init?(_ bytes: [UInt8]) {
        guard [4, 16].contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Reads `192.0.2.1` or `2001:db8::1`. Returns nil for anything else, including names.
    package init?(_ text: String) {
        // inet_pton would stop at a zero byte and accept the text before it.
        guard !text.utf8.contains(0) else { return nil }
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
    package var isPublic: Bool {
        if bytes.count == 4 { return !Self.specialIPv4.contains { $0.contains(bytes) } }
        if let inner = Self.embeddedIPv4Prefixes.first(where: { $0.prefix.contains(bytes) })?.offset {
            return IPAddress(Array(bytes[inner..<inner + 4]))?.isPublic ?? false
        }
        return Self.globalUnicast.contains(bytes) && !Self.specialIPv6.contains { $0.contains(bytes) }
    }

    /// The IPv4 address in a v4-mapped IPv6 address; any other address as it is.
    package var unmapped: IPAddress {
        guard bytes.count == 16, Self.mapped.contains(bytes) else { return self }
        return IPAddress(Array(bytes.suffix(4))) ?? self
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
    private static let mapped = IPAddressPrefix([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96)

    private static let specialIPv4 = [
        IPAddressPrefix([0], 8), IPAddressPrefix([10], 8), IPAddressPrefix([127], 8), IPAddressPrefix([169, 254], 16),
        IPAddressPrefix([172, 16], 12),
        IPAddressPrefix([192, 168], 16),
        IPAddressPrefix([100, 64], 10),  // shared by carriers (RFC 6598)
        IPAddressPrefix([192, 0, 0], 24), IPAddressPrefix([198, 18], 15),  // protocol assignments, benchmarks
        // documentation
        IPAddressPrefix([192, 0, 2], 24), IPAddressPrefix([198, 51, 100], 24), IPAddressPrefix([203, 0, 113], 24),
        IPAddressPrefix([192, 88, 99], 24),  // 6to4 relays, deprecated (RFC 7526)
        IPAddressPrefix([224], 4), IPAddressPrefix([240], 4),  // multicast; reserved, and broadcast
    ]

    /// The other ranges are unassigned or local: ::1, fc00::/7, fe80::/10, ff00::/8.
    private static let globalUnicast = IPAddressPrefix([0x20], 3)

    private static let specialIPv6 = [
        IPAddressPrefix([0x20, 0x01], 23),  // protocol assignments, Teredo among them
        IPAddressPrefix([0x20, 0x01, 0x0D, 0xB8], 32), IPAddressPrefix([0x3F, 0xFF], 20),  // documentation
    ]

    /// Prefixes of addresses that embed an IPv4 address, with its byte offset.
    ///
    /// They are v4-compatible (with :: and ::1, whose last four bytes are in 0.0.0.0/8), v4-mapped, NAT64 (RFC 6052)
    /// and 6to4 (RFC 3056).
    private static let embeddedIPv4Prefixes: [(prefix: IPAddressPrefix, offset: Int)] = [
        (IPAddressPrefix([], 96), 12),
        (mapped, 12),
        (IPAddressPrefix([0x00, 0x64, 0xFF, 0x9B], 96), 12),
        (IPAddressPrefix([0x20, 0x02], 16), 2),
    ]
}

/// A range of addresses with the same leading bits: `192.0.2.0/24`.
package struct IPAddressPrefix: Hashable, Sendable {
    private let bytes: [UInt8]
    private let bits: Int
    /// 4 or 16; nil in the tables of this file, each of which serves one kind of address.
    private let byteCount: Int?

    /// - Parameter bytes: the leading bytes; the others are 0.
    init(_ bytes: [UInt8], _ bits: Int) {
        self.bytes = bytes
        self.bits = bits
        byteCount = nil
    }

    /// Reads `192.0.2.0/24` or `2001:db8::/32`, or one address. Returns nil for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
        bytes = address.bytes
        byteCount = address.bytes.count
        guard parts.count == 2 else {
            bits = 8 * address.bytes.count
            return
        }
        guard let bits = UInt8(parts[1]).map(Int.init), bits <= 8 * address.bytes.count else { return nil }
        self.bits = bits
    }

    package func contains(_ address: IPAddress) -> Bool {
        byteCount.map { $0 == address.bytes.count } != false && contains(address.bytes)
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
