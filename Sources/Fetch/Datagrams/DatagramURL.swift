import Support

/// The address of a stream in datagrams: `udp://@239.1.1.1:1234`, `rtp://source@[ff3e::1]:1234`.
package struct DatagramURL: Hashable, Sendable {
    /// The group, or the local address at which datagrams arrive.
    let address: IPAddress
    let port: UInt16
    /// The only sender whose datagrams are wanted (RFC 4607); nil: any.
    let source: IPAddress?

    package static func isOne(_ url: String) -> Bool {
        ["udp", "rtp"].contains(URIReference.scheme(of: url)?.lowercased())
    }

    /// - Throws: `.unsupportedScheme` for another scheme, `.other` without an IP address and a port.
    package init(_ url: String) throws(FetchError) {
        guard Self.isOne(url) else { throw FetchError(.unsupportedScheme, url: url) }
        let authority = URIReference.authority(of: url) ?? ""
        let parts = authority.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts.last ?? ""
        guard let colon = place.lastIndex(of: ":"), let port = UInt16(place[place.index(after: colon)...]), port > 0,
            let address = IPAddress(String(place[..<colon].filter { !"[]".contains($0) }))
        else {
            throw FetchError(.other, url: url, message: "no IP address with a port, such as 239.1.1.1:1234")
        }
        let source = parts.count == 2 && !parts[0].isEmpty ? String(parts[0].filter { !"[]".contains($0) }) : nil
        self.address = address
        self.port = port
        self.source = try source.map { source throws(FetchError) in
            guard let sender = IPAddress(source) else {
                throw FetchError(.other, url: url, message: "the sender is no IP address")
            }
            guard sender.bytes.count == address.bytes.count else {
                throw FetchError(.other, url: url, message: "the sender and the group are of IPv4 and IPv6")
            }
            return sender
        }
    }

    /// Whether the address is a multicast group (RFC 5771, RFC 4291 §2.7).
    var isMulticast: Bool { address.bytes.count == 4 ? address.bytes[0] >> 4 == 14 : address.bytes.first == 0xFF }

    /// Whether the address is a group of one interface or one link (RFC 7346 §2), which exists at each of them.
    var isOfOneLink: Bool { address.bytes.count == 16 && isMulticast && [1, 2].contains(address.bytes[1] & 0x0F) }
}
