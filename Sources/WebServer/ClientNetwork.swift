import Support

/// One client where clients are limited: an IPv4 address, or an IPv6 network of 64 bits, whose addresses belong to one
/// subscriber.
package struct ClientNetwork: Hashable, Sendable {
    /// `192.0.2.1`, or the first half of an IPv6 address; anything else as it is.
    private let name: String

    /// - Parameter address: as text; nil if it is not known.
    package init(_ address: String?) {
        let address = address ?? ""
        // An address of a link has its interface after a percent sign.
        guard address.utf8.contains(UInt8(ascii: ":")),
            let known = IPAddress(String(address.prefix { $0 != "%" }))?.unmapped
        else {
            name = address
            return
        }
        let groups = known.text.split(separator: ":")
        name = groups.count == 8 ? groups.prefix(4).joined(separator: ":") : known.text
    }
}
