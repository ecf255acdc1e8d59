import TestSupport
import Testing

@testable import Channel
@testable import Export
@testable import Media
@testable import Mux

/// Where a chunk is on the clock of a client, after a chunk from 10 s to 12 s.
@Suite struct ClientClockTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let situation: String
        /// Milliseconds after the end of the chunk before.
        let step: Int64
        let pause: Int64
        let shift: Int64

        init(_ situation: String, step: Int64, pause: Int64, shift: Int64) {
            (self.situation, self.step, self.pause, self.shift) = (situation, step, pause, shift)
        }

        var testDescription: String { situation }
    }

    static let rows = [
        Row("it follows", step: 0, pause: 0, shift: 0),
        Row("a frame is missing", step: 40, pause: 0, shift: 0),
        Row("it overlaps by less than a frame", step: -20, pause: 0, shift: 0),
        Row("some frames are missing", step: 300, pause: 300, shift: 0),
        Row("as much is missing as PTS allows", step: 400, pause: 400, shift: 0),
        Row("more is missing", step: 401, pause: 200, shift: 201),
        Row("the channel had an outage", step: 60_000, pause: 200, shift: 59_800),
        Row("it is earlier than the chunk before", step: -2000, pause: 200, shift: -2200),
    ]

    @Test(arguments: rows) func placement(_ row: Row) {
        var clock = ClientClock()
        _ = clock.append(from: .seconds(10), lasting: .seconds(2))
        let end = Ticks.seconds(12)
        let placement = clock.append(from: end + .milliseconds(row.step), lasting: .seconds(2))
        #expect(placement.pause == end..<end + .milliseconds(row.pause))
        #expect(placement.shift == .milliseconds(row.shift))
        // What follows it is on the same clock.
        let next = clock.append(from: end + .milliseconds(row.step + 2000), lasting: .seconds(2))
        #expect(next.shift == placement.shift && next.pause.isEmpty)
    }

    /// All times of every capture's transport stream move, and nothing else does.
    @Test(arguments: CaptureRow.all, [3, 0x1_2345_6789] as [Int64])
    func timesMoveTogether(_ row: CaptureRow, _ shift: Int64) async throws {
        for segment in try await TransportStreamCaptureTests.output(of: row).segments.prefix(4) {
            let bytes = segment.transport.bytes
            let moved = TransportTimeShift.packets(bytes[...], earlierBy: Ticks(shift))
            #expect(TransportTimeShift.packets(moved[...], earlierBy: Ticks(-shift)) == bytes)
            let (before, after) = try (#require(TransportStreamScan(bytes)), #require(TransportStreamScan(moved)))
            let wire = { (time: Int64) in Ticks(time - shift).wire.count }
            #expect(after.packets.map(\.counter) == before.packets.map(\.counter))
            #expect(
                after.packets.map { $0.clock.map { $0 / 300 } }
                    == before.packets.map { $0.clock.map { wire($0 / 300) } })
            for pid in [0x100, 0x101, 0x102] {
                let (old, new) = (before.packetizedElements(of: pid), after.packetizedElements(of: pid))
                #expect(new.map(\.pts) == old.map { wire($0.pts) })
                #expect(new.map(\.dts) == old.map { wire($0.dts) })
                #expect(new.map(\.payload) == old.map(\.payload))
            }
        }
    }
}
