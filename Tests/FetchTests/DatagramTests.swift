import Glibc
import Support
import Testing

@testable import Fetch
@testable import Tracker

/// Datagrams are put into order, and what is missing is counted.
@Suite struct DatagramOrderTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Sequence numbers in the order of arrival, 10 ms apart.
        let arrivals: [UInt16]
        let order: [UInt16]
        var lost = 0
        var repeated = 0
        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "in order", arrivals: [1, 2, 3], order: [1, 2, 3]),
        Row(when: "two are swapped", arrivals: [1, 3, 2, 4], order: [1, 2, 3, 4]),
        Row(when: "one comes twice", arrivals: [1, 2, 2, 3], order: [1, 2, 3], repeated: 1),
        Row(when: "the number wraps", arrivals: [65_534, 65_535, 0, 1], order: [65_534, 65_535, 0, 1]),
        Row(when: "one is missing, for 200 ms", arrivals: [1] + (3...40), order: [1] + (3...40), lost: 1),
        Row(when: "another stream begins", arrivals: [1, 2, 30_000, 30_001], order: [1, 2, 30_000, 30_001]),
        Row(
            when: "one comes after it was given up", arrivals: [1] + (3...40) + [2], order: [1] + (3...40), lost: 1,
            repeated: 1),
    ]

    private static func packet(_ number: UInt16) -> [UInt8] {
        let head: [UInt8] =
            [0x80, 33, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] + [UInt8](repeating: 0, count: 8)
        return head + [0x47, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    @Test(arguments: rows) func order(_ row: Row) {
        var order = DatagramOrder()
        var bytes: [UInt8] = []
        for (index, number) in row.arrivals.enumerated() {
            bytes += order.append(Self.packet(number), at: .milliseconds(10 * index))
        }
        let numbers = stride(from: 0, to: bytes.count, by: 3).map { UInt16(bytes[$0 + 1]) << 8 | UInt16(bytes[$0 + 2]) }
        #expect(numbers == row.order)
        #expect(order.counts.lost == row.lost && order.counts.repeated == row.repeated)
    }

    @Test func fewDatagramsWaitForOne() {
        var order = DatagramOrder()
        _ = order.append(Self.packet(1), at: .zero)
        var bytes: [UInt8] = []
        for number in 3..<UInt16(4 + DatagramOrder.limit) { bytes += order.append(Self.packet(number), at: .zero) }
        #expect(bytes.count == 3 * (DatagramOrder.limit + 1) && order.counts.lost == 1)
    }

    struct Cutting: CustomTestStringConvertible, Sendable {
        let when: String
        /// Bytes of each datagram of a stream of 48 packets.
        let byteCount: Int
        /// Packets after which the sender begins another datagram.
        var packetsAtOnce = 48
        /// Where a byte within a packet is 0x47.
        var chance: Int?
        var first = 0
        /// Indices of datagrams that do not come.
        var lost: Set<Int> = []
        var testDescription: String { when }
    }

    static let cuttings = [
        Cutting(when: "seven packets", byteCount: 1316), Cutting(when: "as ffmpeg fills them", byteCount: 1472),
        Cutting(when: "eight packets at once: the second has 32 bytes", byteCount: 1472, packetsAtOnce: 8),
        Cutting(
            when: "sixteen at once: the second begins with a byte 0x47 of a packet, the third has 64 bytes",
            byteCount: 1472, packetsAtOnce: 16, chance: 1472),
        Cutting(when: "joined within a packet", byteCount: 1472, first: 1),
        Cutting(when: "one is lost", byteCount: 1472, lost: [1]),
    ]

    @Test(arguments: cuttings) func packetsMayEndInAnyDatagram(_ row: Cutting) {
        let packets = (0..<48).map { [0x47, 0x80, UInt8($0)] + [UInt8](repeating: 0x80, count: 185) }
        let sent = stride(from: 0, to: packets.count, by: row.packetsAtOnce).flatMap { first in
            var bytes = packets[first..<first + row.packetsAtOnce].flatMap(\.self)
            if let chance = row.chance { bytes[chance] = 0x47 }
            return stride(from: 0, to: bytes.count, by: row.byteCount).map {
                Array(bytes[$0..<min($0 + row.byteCount, bytes.count)])
            }
        }
        let datagrams = sent.indices.filter { $0 >= row.first && !row.lost.contains($0) }.map { sent[$0] }
        var order = DatagramOrder()
        var bytes: [UInt8] = []
        for datagram in datagrams {
            bytes += order.append(datagram, at: .zero)
            #expect(order.append(Array("hello, this is no stream".utf8), at: .zero).isEmpty)
        }
        #expect(bytes == datagrams.flatMap(\.self) && order.counts.foreign == datagrams.count)
    }

    @Test func headersOfRTPAreRemovedAndOthersRefused() {
        var order = DatagramOrder()
        #expect(order.append([0x47, 1, 2], at: .zero) == [0x47, 1, 2])
        let extended: [UInt8] =
            [0xB1, 33, 0, 1] + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 9] + [0, 0, 0, 1, 7, 7, 7, 7]
        #expect(order.append(extended + [0x47, 5, 0, 0, 3], at: .zero) == [0x47, 5])
        #expect(order.append(Array("hello, this is no stream".utf8), at: .zero).isEmpty)
        #expect(order.append([0x80, 33, 0, 1], at: .zero).isEmpty)
        #expect(order.counts.foreign == 2)
    }

    @Test(arguments: [
        ("udp://@239.1.1.1:1234", "239.1.1.1", 1234 as UInt16, nil as String?, true),
        ("udp://239.1.1.1:1234?pkt_size=1316", "239.1.1.1", 1234, nil, true),
        ("rtp://192.0.2.9@232.1.1.1:5000", "232.1.1.1", 5000, "192.0.2.9", true),
        ("rtp://[2001:db8::1]@[ff3e::1]:5000", "ff3e::1", 5000, "2001:db8::1", true),
        ("udp://127.0.0.1:9", "127.0.0.1", 9, nil, false),
    ])
    func addresses(_ url: String, _ address: String, _ port: UInt16, _ source: String?, _ isMulticast: Bool) throws {
        let read = try DatagramURL(url)
        #expect(read.address == IPAddress(address) && read.port == port && read.isMulticast == isMulticast)
        #expect(read.sources == [source].compactMap { $0.flatMap { IPAddress($0) } })
    }

    @Test(arguments: [
        "udp://239.1.1.1", "udp://example.com:1234", "rtp://x@239.1.1.1:1", "udp://:1", "http://239.1.1.1:1",
        "rtp://192.0.2.9@[ff3e::1]:5000", "rtp://[2001:db8::1]@232.1.1.1:5000", "udp://[ff02::1%25eth0]:1",
        "udp://[ff3e::1]", "udp://[ff3e::1]:0", "udp://[ff3e::1]:65536", "udp://239.1.1.1:1?localaddr=eth0",
        "udp://239.1.1.1:1?localport=0", "udp://239.1.1.1:1?sources=a", "udp://239.1.1.1:1?sources=ff3e::1",
        "udp://239.1.1.1:1?iface=",
    ])
    func addressesThatAreNone(_ url: String) { #expect(throws: FetchError.self) { _ = try DatagramURL(url) } }

    @Test func parametersOfAnAddress() throws {
        let url = try DatagramURL(
            "udp://@239.1.1.1:1234?localaddr=192.0.2.1&pkt_size=1316&sources=192.0.2.9,192.0.2.8&localport=77&fec=prompeg&x"
        )
        #expect(url.interface == IPAddress("192.0.2.1").map { .address($0) } && url.port == 77)
        #expect(url.sources == ["192.0.2.9", "192.0.2.8"].compactMap { IPAddress($0) } && url.blocked.isEmpty)
        #expect(url.unknownParameters == ["fec", "x"])
        let other = try DatagramURL("rtp://[ff3e::1]:5000?multicast-iface=eth0&block=2001:db8::1")
        #expect(other.interface == .name("eth0") && other.port == 5000 && other.unknownParameters.isEmpty)
        #expect(other.sources.isEmpty && other.blocked == [IPAddress("2001:db8::1")])
        #expect(GroupRequest.all(of: url, interface: 1).map(\.option) == [46, 46])
        #expect(GroupRequest.all(of: other, interface: 1).map(\.option) == [42, 43])
    }

    @Test func aGroupThatSendsNothingIsNamed() async {
        var request = FetchRequest(.multivariantPlaylist, url: "udp://239.255.77.77:45677")
        request.acceptsStream = true
        var configuration = CurlConfiguration()
        configuration.multicastInterface = "lo"
        let outcome = await DatagramFetcher(configuration: configuration).fetch(request) { _ in }
        guard case .failure(let error) = outcome else { return }
        #expect(error.reason == .nothingReceived)
    }
}

/// Groups are joined with the bytes that the kernel reads, and what is sent to them arrives.
@Suite struct MulticastTests {
    struct Request: CustomTestStringConvertible, Sendable {
        let url: String
        let level: Int
        let option: Int32
        let allGroupsOption: Int32
        /// Where a group and a sender begin in the value, and the first bytes there.
        let addresses: [(offset: Int, bytes: [UInt8])]
        let byteCount: Int
        var testDescription: String { url }
    }

    private static let tail6 = [UInt8](repeating: 0, count: 14)

    static let requests = [
        Request(
            url: "udp://@239.1.2.3:5000", level: 0, option: 42, allGroupsOption: 49,
            addresses: [(8, [2, 0, 0, 0, 239, 1, 2, 3])], byteCount: 136),
        Request(
            url: "rtp://192.0.2.9@232.1.2.3:5000", level: 0, option: 46, allGroupsOption: 49,
            addresses: [(8, [2, 0, 0, 0, 232, 1, 2, 3]), (136, [2, 0, 0, 0, 192, 0, 2, 9])], byteCount: 264),
        Request(
            url: "udp://[ff15::7]:5000", level: 41, option: 42, allGroupsOption: 29,
            addresses: [(8, [10, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0x15] + tail6.dropLast() + [7, 3, 0, 0, 0])],
            byteCount: 136),
        Request(
            url: "rtp://[2001:db8::9]@[ff3e::7]:5000", level: 41, option: 46, allGroupsOption: 29,
            addresses: [
                (8, [10, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0x3E] + tail6.dropLast() + [7, 3, 0, 0, 0]),
                (136, [10, 0, 0, 0, 0, 0, 0, 0, 0x20, 0x01, 0x0D, 0xB8]),
            ], byteCount: 264),
    ]

    @Test(arguments: requests) func joinRequest(_ row: Request) throws {
        let request = try #require(GroupRequest.all(of: DatagramURL(row.url), interface: 3).first)
        #expect(request.level == row.level && request.option == row.option)
        #expect(request.allGroupsOption == row.allGroupsOption && request.value.count == row.byteCount)
        #expect(request.value.prefix(8) == [3, 0, 0, 0, 0, 0, 0, 0])
        for (offset, bytes) in row.addresses {
            #expect(Array(request.value[offset..<offset + bytes.count]) == bytes, "at \(offset)")
        }
    }

    @Test(arguments: ["udp://[ff02::7]:5000", "udp://[ff01::7]:5000"])
    func groupOfOneLinkNeedsAnInterface(_ url: String) throws {
        func fetcher(_ configuration: CurlConfiguration) throws(FetchError) -> SourceFetcher {
            try SourceFetcher(upstream: url, configuration: configuration, backups: [], backupConfigurations: [])
        }
        var configuration = CurlConfiguration()
        let error = #expect(throws: FetchError.self) { _ = try fetcher(configuration) }
        #expect(error?.message.contains("--multicast-interface") == true)
        configuration.multicastInterface = "eth0"
        _ = try fetcher(configuration)
    }

    /// A datagram from a loopback address to the socket of a URL whose port is left out.
    private static func arrives(
        _ url: String, from sender: String, at interface: String? = "lo", _ parameters: String = ""
    ) throws -> Bool {
        let address = try #require(IPAddress(sender))
        guard let sending = LoopbackSender(address), let port = LoopbackSender(address)?.port else {
            Issue.record("no socket at \(sender)")
            return false
        }
        let destination = try DatagramURL("\(url):\(port)\(parameters)")
        let socket = try DatagramSocket(destination, interface: interface)
        #expect(sending.send([0x47, 1, 2], to: destination.address, port: port))
        return socket.receive(within: 100) == [[0x47, 1, 2]]
    }

    static let explained: [(error: FetchError, words: String)] = [
        (FetchError(.other, url: "udp://a", message: "no IP address"), "no IP address"),
        (FetchError(.other, url: "udp://a", code: 19, message: "no interface x"), "no interface x"),
        (FetchError(.other, url: "http://h/", code: 3, message: "of libcurl"), ""),
        (FetchError(.nothingReceived, url: "udp://a", message: "x"), ""),
    ]

    @Test(arguments: explained.indices) func addressThatCannotBeRequestedIsExplained(_ index: Int) {
        let row = Self.explained[index]
        #expect(TrackerError(row.error, url: row.error.url).words == row.words)
    }

    static let deliveries: [(when: String, url: String, sender: String, arrives: Bool)] = [
        ("to an address of IPv4", "udp://127.0.0.1", "127.0.0.1", true),
        ("to an address of IPv6", "udp://[::1]", "::1", true),
        ("to a group", "udp://@239.255.77.7", "127.0.0.1", true),
        ("to a group, from the wanted sender", "rtp://127.0.0.1@232.255.77.7", "127.0.0.1", true),
        ("to a group, from another sender", "rtp://127.0.0.2@232.255.77.7", "127.0.0.1", false),
    ]

    @Test(arguments: deliveries.indices) func datagram(_ index: Int) throws {
        let row = Self.deliveries[index]
        #expect(try Self.arrives(row.url, from: row.sender) == row.arrives, "\(row.when)")
    }

    /// A machine may have no route for groups, and what its configuration names may be another interface.
    @Test(arguments: [
        ("?localaddr=127.0.0.1", nil as String?, true), ("?localaddr=127.0.0.1", "no such interface", true),
        ("?iface=lo", nil, true), ("?localaddr=127.0.0.1&block=127.0.0.1", nil, false),
        ("?localaddr=127.0.0.1&sources=127.0.0.2,127.0.0.1", nil, true),
        ("?localaddr=127.0.0.1&sources=127.0.0.2,127.0.0.3", nil, false),
    ])
    func interfaceOfAnAddress(_ parameters: String, _ interface: String?, _ arrives: Bool) throws {
        #expect(try Self.arrives("udp://@239.255.77.8", from: "127.0.0.1", at: interface, parameters) == arrives)
    }

    @Test func anAddressOfNoInterfaceIsNamed() throws {
        let url = try DatagramURL("udp://@239.255.77.8:45678?localaddr=192.0.2.77")
        let error = #expect(throws: FetchError.self) { _ = try DatagramSocket(url, interface: "lo") }
        #expect(error?.message.contains("no interface has 192.0.2.77") == true)
    }

    static let deliveries6: [(when: String, url: String, arrives: Bool)] = [
        ("to a group of the link", "udp://[ff02::7:7]", true),
        ("to a group, from the wanted sender", "rtp://[::1]@[ff3e::7:7]", true),
        ("to a group, from another sender", "rtp://[::2]@[ff3e::7:7]", false),
    ]

    @Test(
        .enabled(if: LoopbackSender.hasGroups6, "the loopback interface has no IPv6 multicast"),
        arguments: deliveries6.indices)
    func datagramOfIPv6(_ index: Int) throws {
        let row = Self.deliveries6[index]
        #expect(try Self.arrives(row.url, from: "::1") == row.arrives, "\(row.when)")
    }
}

/// A socket that sends datagrams at the loopback interface.
private final class LoopbackSender {
    private let descriptor: Int32
    private let level: Int32

    /// Whether a datagram to a group of IPv6 can be sent there.
    static var hasGroups6: Bool {
        guard let address = IPAddress("::1"), let group = IPAddress("ff02::7:7"), let sender = LoopbackSender(address)
        else { return false }
        return sender.send([0], to: group, port: 9)
    }

    init?(_ address: IPAddress) {
        let isIPv4 = address.bytes.count == 4
        descriptor = socket(isIPv4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
        level = Int32(isIPv4 ? IPPROTO_IP : IPPROTO_IPV6)
        // IP_MULTICAST_IF takes an address, IPV6_MULTICAST_IF an index.
        let index = unsafe if_nametoindex("lo")
        let interface = isIPv4 ? address.bytes : unsafe withUnsafeBytes(of: index) { unsafe Array($0) }
        let option: Int32 = isIPv4 ? 32 : 17
        let name = SocketAddress.bytes(address, port: 0, scope: 0)
        let isBound = unsafe name.withUnsafeBytes { bytes in
            unsafe bytes.withMemoryRebound(to: sockaddr.self) {
                unsafe bind(descriptor, $0.baseAddress, socklen_t(name.count)) == 0
            }
        }
        guard isBound, unsafe setsockopt(descriptor, level, option, interface, 4) == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// The port that the system chose, which is free once the sender is gone.
    var port: UInt16 {
        var name = [UInt8](repeating: 0, count: 128)
        var count = socklen_t(name.count)
        _ = unsafe name.withUnsafeMutableBytes { bytes in
            unsafe bytes.withMemoryRebound(to: sockaddr.self) {
                unsafe getsockname(descriptor, $0.baseAddress, &count)
            }
        }
        return UInt16(name[2]) << 8 | UInt16(name[3])
    }

    func send(_ bytes: [UInt8], to address: IPAddress, port: UInt16) -> Bool {
        let name = SocketAddress.bytes(address, port: port, scope: unsafe if_nametoindex("lo"))
        return unsafe name.withUnsafeBytes { destination in
            unsafe destination.withMemoryRebound(to: sockaddr.self) {
                unsafe sendto(descriptor, bytes, bytes.count, 0, $0.baseAddress, socklen_t(name.count)) == bytes.count
            }
        }
    }
}

/// The buffer between the thread that receives a stream and the task that passes it on.
@Suite struct StreamBufferTests {
    @Test func aFullBufferPausesTheTransfer() async {
        let buffer = StreamBuffer()
        let (resumed, resume) = AsyncStream<Void>.makeStream()
        buffer.onRoom { resume.yield() }
        buffer.begin([1], from: "http://h/")
        let part = [UInt8](repeating: 7, count: 1 << 20)
        var accepted = 0
        while buffer.append(part) { accepted += 1 }
        #expect(accepted == StreamBuffer.limit >> 20)
        let forwarding = Task {
            var bytes = 0
            await buffer.forward { part in
                #expect(part.finalURL == "http://h/" && part.bytes.count <= StreamBuffer.limit + 1 << 20)
            }
            bytes += 1
            return bytes
        }
        var signals = resumed.makeAsyncIterator()
        await signals.next()
        #expect(buffer.append(part))
        buffer.finish()
        #expect(await forwarding.value == 1)
    }

    @Test(arguments: [
        ("#EXTM3U\n", false), ("<html>", false), ("{\"error\": 1}", false), ("", false),
    ])
    func textIsNoStream(_ text: String, _ isStream: Bool) {
        #expect(
            StreamPart.isStream(Array(text.utf8) + [UInt8](repeating: 0x47, count: 2000)) == isStream || text.isEmpty)
    }
}
