import Glibc
import Support

/// A socket that receives the datagrams of one stream. Its multicast group is joined while the socket exists.
@safe
final class DatagramSocket: Sendable {
    /// The receive buffer requested from the kernel, in bytes: one second at 60 Mbit/s. The kernel may grant less.
    static let bufferBytes: Int32 = 8 << 20
    private static let datagramBytes = 1 << 16

    private let descriptor: Int32

    /// - Parameter interface: name of the interface at which a group is joined if its URL names none; nil: as the routes
    ///   say.
    /// - Throws: `.other` with the system's message.
    init(_ url: DatagramURL, interface: String?) throws(FetchError) {
        let isIPv4 = url.address.bytes.count == 4
        descriptor = socket(isIPv4 ? AF_INET : AF_INET6, SocketNumber.datagrams, 0)
        guard descriptor >= 0 else { throw Self.error("no socket") }
        let index = try Self.index(of: url.interface ?? interface.map { .name($0) })
        set(SOL_SOCKET, SO_REUSEADDR, 1)
        set(SOL_SOCKET, SO_RCVBUF, Self.bufferBytes)
        let requests = GroupRequest.all(of: url, interface: index)
        for request in requests { set(request.level, request.allGroupsOption, 0) }
        try bind(to: SocketAddress.bytes(url.address, port: url.port, scope: index))
        if url.isMulticast { for request in requests { try perform(request) } }
    }

    deinit { close(descriptor) }

    /// Waits up to `milliseconds` for a datagram. Returns the datagrams that have arrived, `limit` at most.
    func receive(within milliseconds: Int32, limit: Int = 256) -> [[UInt8]] {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&state, 1, milliseconds) > 0 else { return [] }
        var datagrams: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: Self.datagramBytes)
        while datagrams.count < limit {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            datagrams.append(Array(buffer[..<count]))
        }
        return datagrams
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func bind(to address: [UInt8]) throws(FetchError) {
        let code = unsafe address.withUnsafeBytes { bytes in
            unsafe bytes.withMemoryRebound(to: sockaddr.self) {
                unsafe Glibc.bind(descriptor, $0.baseAddress, socklen_t(address.count))
            }
        }
        guard code == 0 else { throw Self.error("the port cannot be used") }
    }

    private func perform(_ request: GroupRequest) throws(FetchError) {
        let size = socklen_t(request.value.count)
        guard unsafe setsockopt(descriptor, request.level, request.option, request.value, size) == 0 else {
            throw Self.error("the group cannot be joined")
        }
    }

    private static func index(of interface: DatagramURL.Interface?) throws(FetchError) -> UInt32 {
        switch interface {
        case nil: return 0
        case .name(let name):
            let index = unsafe if_nametoindex(name)
            guard index > 0 else { throw error("no interface \(name)") }
            return index
        case .address(let address):
            errno = ENODEV
            guard let index = NetworkInterface.index(with: address) else {
                throw error("no interface has \(address.text)")
            }
            return index
        }
    }

    private static func error(_ what: String) -> FetchError {
        let code = errno
        return FetchError(.other, url: "", code: code, message: unsafe "\(what): \(String(cString: strerror(code)))")
    }
}

/// Values of <sys/socket.h> and <netinet/in.h> whose definitions use C types. libcurl includes both headers, so in this
/// module those types belong to Glibc or to CCurl, whichever is loaded first; a file that imports one of them may not
/// name the members of the other.
private enum SocketNumber {
    /// SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK.
    static let datagrams: Int32 = 2 | 0o2_000_000 | 0o4000
    /// IPPROTO_IP.
    static let ipv4: Int32 = 0
    /// IPPROTO_IPV6.
    static let ipv6: Int32 = 41
}

/// The interfaces of this machine.
private enum NetworkInterface {
    /// The index of the interface with an address; nil if none has it.
    static func index(with address: IPAddress) -> UInt32? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return nil }
        defer { unsafe freeifaddrs(first) }
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            guard unsafe IPAddress(of: entry.pointee.ifa_addr) == address else { continue }
            let index = unsafe if_nametoindex(entry.pointee.ifa_name)
            return index > 0 ? index : nil
        }
        return nil
    }
}

extension IPAddress {
    /// The address in a `sockaddr_in` or `sockaddr_in6`; nil for another family.
    fileprivate init?(of socketAddress: UnsafeMutablePointer<sockaddr>?) {
        guard let socketAddress = unsafe socketAddress else { return nil }
        let bytes = UnsafeRawPointer(socketAddress)
        // `sa_family` is the first member of each.
        switch Int32(unsafe bytes.load(as: UInt16.self)) {
        case AF_INET: unsafe self.init(Array(UnsafeRawBufferPointer(start: bytes + 4, count: 4)))
        case AF_INET6: unsafe self.init(Array(UnsafeRawBufferPointer(start: bytes + 8, count: 16)))
        default: return nil
        }
    }
}

/// The socket option that joins a group, for all senders or for one, or that excludes a sender (RFC 3678 §5.1).
struct GroupRequest: Equatable, Sendable {
    /// IPPROTO_IP or IPPROTO_IPV6.
    let level: Int32
    /// MCAST_JOIN_GROUP, MCAST_BLOCK_SOURCE or MCAST_JOIN_SOURCE_GROUP; the numbers are the same at both levels.
    let option: Int32
    /// `group_req` or `group_source_req`: an interface of 4 bytes, and addresses of 128 bytes from the 8th byte on.
    let value: [UInt8]
    /// IP_MULTICAST_ALL or IPV6_MULTICAST_ALL: whether the socket also receives from groups that other sockets joined.
    let allGroupsOption: Int32

    private static let addressBytes = 128

    /// The requests for a URL, in order.
    static func all(of url: DatagramURL, interface: UInt32) -> [GroupRequest] {
        let joins =
            url.sources.isEmpty
            ? [GroupRequest(42, url.address, nil, interface: interface)]
            : url.sources.map { GroupRequest(46, url.address, $0, interface: interface) }
        // Excluding senders makes sense only if no senders are selected.
        let blocks = url.sources.isEmpty ? url.blocked : []
        return joins + blocks.map { GroupRequest(43, url.address, $0, interface: interface) }
    }

    private init(_ option: Int32, _ group: IPAddress, _ source: IPAddress?, interface: UInt32) {
        let isIPv4 = group.bytes.count == 4
        level = isIPv4 ? SocketNumber.ipv4 : SocketNumber.ipv6
        (self.option, allGroupsOption) = (option, isIPv4 ? 49 : 29)
        let addresses = [group, source].compactMap(\.self).flatMap { address in
            let bytes = SocketAddress.bytes(address, port: 0, scope: interface)
            return bytes + [UInt8](repeating: 0, count: Self.addressBytes - bytes.count)
        }
        value = unsafe withUnsafeBytes(of: interface) { unsafe Array($0) } + [0, 0, 0, 0] + addresses
    }
}

enum SocketAddress {
    /// The bytes of a `sockaddr_in` or `sockaddr_in6`.
    static func bytes(_ address: IPAddress, port: UInt16, scope: UInt32) -> [UInt8] {
        let isIPv4 = address.bytes.count == 4
        let family = unsafe withUnsafeBytes(of: UInt16(isIPv4 ? AF_INET : AF_INET6)) { unsafe Array($0) }
        let head = family + [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
        if isIPv4 { return head + address.bytes + [UInt8](repeating: 0, count: 8) }
        let scopeID = unsafe withUnsafeBytes(of: scope) { unsafe Array($0) }
        return head + [0, 0, 0, 0] + address.bytes + scopeID
    }
}
