import TestSupport
import Testing

@testable import Conformance

/// What a stream is made of, and what the checker says of it.
struct PlantedRow: CustomTestStringConvertible, Sendable {
    typealias Stream = ScheduledStream

    struct Expected: Equatable, CustomStringConvertible {
        let indicator: TransportIndicator
        let pid: UInt16?
        var description: String { "\(indicator.rawValue) \(pid.map(hex) ?? "-")" }
    }

    let when: String
    let expected: [Expected]
    private let make: @Sendable () -> [UInt8]

    /// - Parameter faults: indicator and PID of each fault, in order.
    init(
        _ when: String, _ faults: [(TransportIndicator, UInt16?)] = [],
        options: Stream.Options = Stream.Options(),
        _ plant: @escaping @Sendable (inout Stream) -> Void = { _ in }
    ) {
        self.init(
            when, faults,
            bytes: {
                var stream = Stream(options)
                plant(&stream)
                return stream.bytes
            })
    }

    init(_ when: String, _ faults: [(TransportIndicator, UInt16?)], bytes: @escaping @Sendable () -> [UInt8]) {
        self.when = when
        expected = faults.map { Expected(indicator: $0.0, pid: $0.1) }
        make = bytes
    }

    var bytes: [UInt8] { make() }
    var testDescription: String { when }
}

extension [TransportFault] {
    var summary: [PlantedRow.Expected] { map { .init(indicator: $0.indicator, pid: $0.pid) } }
}

/// The faults of a stream that comes in parts of one size.
func faults(
    in bytes: [UInt8], partSize: Int = 1 << 16, limits: TransportLimits = TransportLimits()
) -> (faults: [TransportFault], report: TransportReport) {
    var checker = TransportChecker(limits: limits)
    var faults: [TransportFault] = []
    for start in stride(from: 0, to: bytes.count, by: partSize) {
        faults += checker.check(Array(bytes[start..<min(start + partSize, bytes.count)]))
    }
    faults += checker.finish()
    return (faults, checker.report)
}

@Suite struct TransportCheckerTests {
    @Test(arguments: syncRows + tableRows + packetRows + clockRows + timeRows + bufferRows)
    func situation(_ row: PlantedRow) {
        let (faults, report) = faults(in: row.bytes)
        #expect(faults.summary == row.expected, "\(faults.map { "\($0.packet): \($0.message)" })")
        #expect(report.faults == row.expected.count)
    }

    @Test func cleanStreamIsMeasured() {
        let report = faults(in: ScheduledStream(.init(slots: 100)).bytes).report
        #expect(report.packets == 5000 && report.bytes == 940_000 && report.programs == 1)
        #expect(report.clockPID == ScheduledStream.videoPID && report.duration == .milliseconds(3960))
        #expect(report.faults == 0 && report.unjudged == 0)
    }

    @Test func faultSaysWhereItIs() throws {
        var stream = ScheduledStream()
        let index = stream.video(20) + 5
        stream.packets[index] = ScheduledStream.null
        let fault = try #require(faults(in: stream.bytes).faults.first)
        #expect(fault.packet == index + 1 && fault.offset == (index + 1) * 188 && fault.pid == 0x100)
        #expect(fault.message == "counter 14 instead of 13")
    }

    @Test func faultsBeyondTheLimitAreCounted() {
        var stream = ScheduledStream()
        for index in stream.indexes(of: ScheduledStream.audioPID) { stream.packets[index][1] |= 0x80 }
        var limits = TransportLimits()
        limits.faultsKept = 3
        let (kept, report) = faults(in: stream.bytes, limits: limits)
        #expect(kept.filter { $0.indicator == .transport }.count == 3)
        #expect(report.counts[.transport] == 50)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func partsDoNotMatter(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var stream = ScheduledStream(.init(slots: 20))
        for _ in 0..<30 {
            let index = Int.random(in: stream.packets.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: stream.packets[index] = []
            case 1: stream.packets[index] = Array(stream.packets[index].prefix(Int.random(in: 1..<188, using: &random)))
            case 2: stream.packets.swapAt(index, Int.random(in: stream.packets.indices, using: &random))
            default:
                guard !stream.packets[index].isEmpty else { continue }
                let byte = Int.random(in: stream.packets[index].indices, using: &random)
                stream.packets[index][byte] = UInt8.random(in: 0...255, using: &random)
            }
        }
        let whole = faults(in: stream.bytes, partSize: stream.bytes.count + 1)
        for size in [1, 187, 188, 1000] {
            let parts = faults(in: stream.bytes, partSize: size)
            #expect(parts.faults == whole.faults && parts.report == whole.report)
        }
    }

    /// Bytes before the first packet are one fault at the beginning, however they come.
    @Test(arguments: [1, 75, 188, 5000]) func bytesBeforeTheFirstPacketAreAFaultOfTheBeginning(partSize: Int) {
        let bytes = [UInt8](repeating: 0, count: 700) + ScheduledStream(.init(slots: 20)).bytes
        let fault = faults(in: bytes, partSize: partSize).faults.first
        #expect(fault?.indicator == .syncLoss && fault?.offset == 0 && fault?.packet == 0)
    }

    @Test(arguments: 0..<10 as Range<UInt64>) func anyPacketsAreJudged(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let packets = (0..<4000).map { _ in
            [0x47, UInt8.random(in: 0...3, using: &random) << 5]
                + (0..<186).map { _ in UInt8.random(in: 0...255, using: &random) & 0x73 }
        }
        let (kept, report) = faults(in: Array(packets.joined()))
        #expect(report.packets == 4000 && kept.count <= 100 * TransportIndicator.allCases.count)
    }
}
