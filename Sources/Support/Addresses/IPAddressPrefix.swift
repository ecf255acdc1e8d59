/// A range of addresses with the same leading bits: `192.0.2.0/24`.
package struct IPAddressPrefix: Hashable, Sendable {
    private let bytes: [UInt8]
    private let bits: Int
    /// 4 or 16; nil for a table of ours, whose addresses are of one kind anyway.
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
