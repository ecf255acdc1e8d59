import Support
import Testing

@testable import Fetch

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
        #expect(read.source == source.flatMap { IPAddress($0) })
    }

    @Test(arguments: [
        "udp://239.1.1.1", "udp://example.com:1234", "rtp://x@239.1.1.1:1", "udp://:1", "http://239.1.1.1:1",
    ])
    func addressesThatAreNone(_ url: String) { #expect(throws: FetchError.self) { _ = try DatagramURL(url) } }

    @Test func aGroupThatSendsNothingIsNamed() async {
        var request = FetchRequest(.multivariantPlaylist, url: "udp://239.255.77.77:45677")
        request.acceptsStream = true
        let outcome = await DatagramFetcher(interface: "lo").fetch(request) { _ in }
        guard case .failure(let error) = outcome else { return }
        #expect(error.reason == .nothingReceived)
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
