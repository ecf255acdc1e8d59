import Support

/// The URL of a stream in datagrams: `udp://@239.1.1.1:1234`, `rtp://source@[ff3e::1]:1234`.
///
/// The query parameters have ffmpeg's names; the interface may also have the names that other programs use.
package struct DatagramURL: Hashable, Sendable {
    /// The interface at which a group is joined.
    enum Interface: Hashable, Sendable {
        case name(String)
        /// One of its addresses.
        case address(IPAddress)
    }

    /// The group, or the local address at which datagrams arrive.
    let address: IPAddress
    /// The port at which datagrams arrive.
    let port: UInt16
    /// The only senders whose datagrams are wanted (RFC 4607); empty: any.
    let sources: [IPAddress]
    /// Senders whose datagrams are not wanted.
    let blocked: [IPAddress]
    /// nil: the interface of the configuration.
    let interface: Interface?
    /// The names of parameters that are not understood, in order.
    package let unknownParameters: [String]

    package static func isOne(_ url: String) -> Bool {
        ["udp", "rtp"].contains(URIReference.scheme(of: url)?.lowercased())
    }

    /// - Throws: `.unsupportedScheme` for another scheme, `.other` if the IP address or the port is missing or a
    ///   parameter has an invalid value.
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
        let sender = parts.count == 2 && !parts[0].isEmpty ? [parts[0]] : []
        let parameters = try DatagramParameters(URIReference.query(of: url) ?? "", of: url)
        self.address = address
        self.port = parameters.localPort ?? port
        sources = try Self.senders(sender + parameters.sources, of: address, url)
        blocked = try Self.senders(parameters.blocked, of: address, url)
        interface = parameters.interface
        unknownParameters = parameters.unknown
    }

    private static func senders(
        _ texts: [Substring], of group: IPAddress, _ url: String
    ) throws(FetchError) -> [IPAddress] {
        try texts.map { text throws(FetchError) in
            guard let sender = IPAddress(String(text.filter { !"[]".contains($0) })) else {
                throw FetchError(.other, url: url, message: "the sender is no IP address")
            }
            guard sender.bytes.count == group.bytes.count else {
                throw FetchError(.other, url: url, message: "the sender and the group are of IPv4 and IPv6")
            }
            return sender
        }
    }

    /// Whether the address is a multicast group (RFC 5771, RFC 4291 §2.7).
    var isMulticast: Bool { address.bytes.count == 4 ? address.bytes[0] >> 4 == 14 : address.bytes.first == 0xFF }

    /// Whether the address is a group with interface-local or link-local scope (RFC 7346 §2), which exists separately
    /// on each interface.
    var isOfOneLink: Bool { address.bytes.count == 16 && isMulticast && [1, 2].contains(address.bytes[1] & 0x0F) }
}

/// The parameters of a datagram URL (ffmpeg's documentation of its protocols udp and rtp).
private struct DatagramParameters {
    private(set) var sources: [Substring] = []
    private(set) var blocked: [Substring] = []
    private(set) var interface: DatagramURL.Interface?
    private(set) var localPort: UInt16?
    private(set) var unknown: [String] = []

    /// Parameters for sending, and sizes and times that this program chooses itself.
    private static let unneeded: Set = [
        "pkt_size", "buffer_size", "fifo_size", "overrun_nonfatal", "reuse", "reuse_socket", "ttl", "connect",
        "broadcast", "bitrate", "burst_bits", "dscp", "timeout", "rtcpport", "localrtcpport", "write_to_source",
    ]
    private static let longestName = 64
    private static let most = 64

    init(_ query: String, of url: String) throws(FetchError) {
        for pair in query.split(whereSeparator: { $0 == "&" || $0 == "?" }).prefix(Self.most) {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (sides[0].lowercased(), sides.count > 1 ? sides[1] : "")
            switch name {
            case "sources": sources += value.split(separator: ",")
            case "block": blocked += value.split(separator: ",")
            case "localport", "localrtpport":
                guard let port = UInt16(value), port > 0 else { throw Self.error("\(name) is no port", url) }
                localPort = port
            case "localaddr":
                guard let address = IPAddress(String(value.filter { !"[]".contains($0) })) else {
                    throw Self.error("localaddr is no IP address", url)
                }
                interface = .address(address)
            case "iface", "interface", "miface", "multicast-iface", "multicast_iface":
                guard !value.isEmpty else { throw Self.error("\(name) names no interface", url) }
                interface = IPAddress(String(value)).map { .address($0) } ?? .name(String(value))
            default: if !Self.unneeded.contains(name) { unknown.append(String(name.prefix(Self.longestName))) }
            }
        }
    }

    private static func error(_ message: String, _ url: String) -> FetchError {
        FetchError(.other, url: url, message: message)
    }
}
