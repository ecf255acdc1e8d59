import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// What connections had of an endless stream comes out once, in order.
@Suite struct StreamCutterTests {
    typealias Builder = TransportStreamBuilder

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Seconds of the multiplex that each connection has.
        let connections: [(from: Double, to: Double)]
        var base: Int64 = 900_000
        var packetSize = 188
        /// Frames that come out.
        let frames: [Range<Int>]
        /// Frames that are missing in each gap, with those before the next random access point.
        var gaps: [Int64] = []

        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "one connection from its beginning", connections: [(0, 20)], frames: [0..<500]),
        Row(when: "joined inside a group of pictures", connections: [(3.4, 20)], frames: [100..<500]),
        Row(when: "overlap of 10 s", connections: [(0, 12.3), (2.3, 20)], frames: [0..<500]),
        Row(when: "overlap of 3 s", connections: [(0, 12.3), (9.3, 20)], frames: [0..<500]),
        Row(when: "overlap of 1 s", connections: [(0, 12.3), (11.3, 20)], frames: [0..<500]),
        Row(when: "overlap of three frames", connections: [(0, 12.3), (12.18, 20)], frames: [0..<500]),
        Row(
            when: "a connection that has nothing new", connections: [(0, 12.3), (5, 8), (9.3, 20)], frames: [0..<500]),
        Row(
            when: "many connections", connections: (0..<18).map { (Double($0), Double($0) + 2.5) } + [(17, 20)],
            frames: [0..<500]),
        Row(when: "the clock wraps", connections: [(0, 20)], base: (1 << 33) - 900_000, frames: [0..<500]),
        Row(
            when: "the clock wraps in what is repeated", connections: [(0, 12.3), (8.3, 20)],
            base: (1 << 33) - 900_000, frames: [0..<500]),
        Row(
            when: "a hole of 2 s: what follows begins at a key frame", connections: [(0, 8.3), (10.3, 20)],
            frames: [0..<206, 275..<500], gaps: [69]),
        Row(
            when: "a hole, and a connection that ends before its key frame",
            connections: [(0, 8.3), (10.3, 10.8), (10.6, 20)],
            frames: [0..<206, 275..<500], gaps: [69]),
        Row(
            when: "a hole that the connection after the next one fills",
            connections: [(0, 8.3), (10.3, 10.8), (6.3, 20)], frames: [0..<500]),
        Row(
            when: "back into a hole, after what followed it", connections: [(0, 8.3), (10.3, 12.4), (8.8, 20)],
            frames: [0..<206, 275..<500], gaps: [69]),
        Row(
            when: "a hole whose end the connection after the next one fills",
            connections: [(0, 8.3), (10.3, 10.8), (8.8, 20)], frames: [0..<206, 225..<500], gaps: [19]),
        Row(
            when: "packets of 192 bytes", connections: [(0, 12.3), (9.3, 20)], packetSize: 192, frames: [0..<500]),
        Row(
            when: "packets of 204 bytes", connections: [(1.2, 12.3), (9.3, 20)], packetSize: 204, frames: [50..<500]),
    ]

    @Test(arguments: rows) func everyFrameOnce(_ row: Row) {
        let multiplex = EndlessMultiplex(seconds: 20, base: row.base, packetSize: row.packetSize)
        let run = CutterRun(row.connections.map { Array(multiplex.bytes[multiplex.part($0.from, $0.to)]) })
        #expect(run.frames(of: multiplex) == row.frames.flatMap { Array($0) })
        #expect(run.gaps == row.gaps.map { Ticks($0 * EndlessMultiplex.frameTicks) })
        #expect(run.audio(of: multiplex) == run.audio(of: multiplex).sorted(), "audio in order, none twice")
        #expect(Set(run.audio(of: multiplex)).count == run.audio(of: multiplex).count)
        #expect(
            run.segments.dropLast().allSatisfy {
                $0.duration >= .milliseconds(1800) || row.connections.count > 2 || !row.gaps.isEmpty
            })
        #expect(run.segments.allSatisfy { $0.duration <= .seconds(6) })
    }

    @Test func segmentsBeginWithTablesAndKeyFrames() throws {
        let multiplex = EndlessMultiplex(seconds: 20)
        let run = CutterRun([multiplex.bytes])
        for segment in run.segments {
            #expect(segment.bytes[0] == 0x47 && segment.bytes[1] & 0x1F == 0 && segment.bytes[2] == 0)
            #expect(multiplex.frameNumbers(in: segment.bytes).first.map { $0.isMultiple(of: 25) } == true)
        }
        var demuxer = TransportDemuxer()
        var video = 0
        for segment in run.segments {
            let output = try demuxer.feed(segment.bytes)
            video += output.video.count
            #expect(output.counts[.transportErrors] == 0)
        }
        video += try demuxer.finish().video.count
        #expect(video == 500)
    }

    @Test func demuxerFindsNoJointBetweenConnections() throws {
        let multiplex = EndlessMultiplex(seconds: 20)
        let run = CutterRun([(0, 7.7), (5.1, 13.3), (12.9, 20)].map { Array(multiplex.bytes[multiplex.part($0, $1)]) })
        var demuxer = TransportDemuxer()
        var damaged = 0
        for segment in run.segments {
            let output = try demuxer.feed(segment.bytes)
            damaged += output.video.count(where: \.isDamaged) + output.counts[.transportErrors]
        }
        #expect(damaged == 0)
    }

    @Test func otherProgramsAreLeftOut() {
        let multiplex = EndlessMultiplex(seconds: 10, radio: true)
        let run = CutterRun([multiplex.bytes])
        #expect(run.frames(of: multiplex) == Array(0..<250))
        #expect(run.packets(of: 0x301) == 0)
        var policy = StreamCutter.Policy()
        policy.program = 2
        let radio = CutterRun([multiplex.bytes], policy)
        #expect(radio.packets(of: 0x301) > 200 && radio.packets(of: 0x100) == 0)
    }

    @Test func aWrongLengthOfVideoCutsNothingOff() throws {
        var builder = Builder()
        let frame = ElementarySamples.idr(1, size: 2000)
        for index in 0..<100 {
            if index.isMultiple(of: 10) { builder.tables(EndlessMultiplex.streams) }
            var packet = Builder.pesPacket(pts: 900_000 + Int64(index) * 3600, isBounded: true, frame)
            (packet[4], packet[5]) = (0, 90)
            builder.packets(pid: 0x100, packet)
        }
        let run = CutterRun([builder.bytes])
        #expect(run.packets(of: 0x100) == 100 * ((frame.count + 14 + 183) / 184))
    }

    @Test func junkBetweenPacketsIsSkipped() {
        let multiplex = EndlessMultiplex(seconds: 10)
        let whole = multiplex.bytes
        let middle = 400 * 188
        let bytes =
            [UInt8](repeating: 0x20, count: 61) + whole[..<middle] + [UInt8](repeating: 9, count: 40) + whole[middle...]
        let run = CutterRun([bytes])
        #expect(run.frames(of: multiplex) == Array(0..<250))
        #expect(run.cutter.counts.bytesOutOfSync == 101)
    }

    @Test func packetsMayHaveAnotherSizeFromTheMiddleOn() {
        let multiplex = EndlessMultiplex(seconds: 10)
        let middle = 400 * 188
        let (first, second) = (Array(multiplex.bytes[..<middle]), Array(multiplex.bytes[middle...]))
        for (before, after) in [(188, 204), (204, 188), (188, 192), (192, 188)] {
            let bytes =
                EndlessMultiplex.packets(first, size: before) + EndlessMultiplex.packets(second, size: after)
            let run = CutterRun([bytes])
            #expect(run.frames(of: multiplex) == Array(0..<250), "\(before), \(after)")
            #expect(run.cutter.counts.bytesOutOfSync <= 20, "\(before), \(after)")
        }
    }

    @Test func anotherClockIsAnotherPeriod() {
        let (first, second) = (EndlessMultiplex(seconds: 8), EndlessMultiplex(seconds: 8, base: 90_000_000, seed: 77))
        let run = CutterRun([first.bytes, second.bytes])
        #expect(run.gaps == [.zero])
        #expect(run.segments.reduce(0) { $0 + first.frameNumbers(in: $1.bytes).count } == 400)
    }

    @Test func aCardThatBeginsAgainAndAgainComesOutOnce() {
        let card = EndlessMultiplex(seconds: 6)
        let run = CutterRun(Array(repeating: card.bytes, count: 5))
        #expect(run.frames(of: card) == Array(0..<150))
    }

    @Test func longGroupsOfPicturesAreCutAfterSixSeconds() {
        let multiplex = EndlessMultiplex(seconds: 30, keyInterval: 250)
        let run = CutterRun([multiplex.bytes])
        #expect(run.segments.allSatisfy { $0.duration <= .seconds(6) })
        #expect(run.cutter.counts.forcedCuts == 3)
        #expect(run.frames(of: multiplex) == Array(0..<750))
    }

    @Test func withoutKeyFramesMediaBeginsAfterAWhile() {
        let multiplex = EndlessMultiplex(seconds: 40, keyInterval: 5000)
        let run = CutterRun([Array(multiplex.bytes[multiplex.part(0.5, 40)])])
        #expect(run.cutter.counts.droppedFrames == StreamCutter.longestWait)
        #expect(!run.segments.isEmpty)
    }

    @Test func whatHasNoTablesIsPassedOnAsItIs() {
        let multiplex = EndlessMultiplex(seconds: 250, tables: false)
        let run = CutterRun([multiplex.bytes])
        #expect(run.segments.count >= 1 && run.cutter.counts.frames == 0)
        #expect(run.cutter.obstacle == .noTables)
    }

    @Test(arguments: 0..<60 as Range<UInt64>) func anyCutsAndRepetitions(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let base: Int64 = seed.isMultiple(of: 3) ? (1 << 33) - 1_000_000 : 900_000
        let multiplex = EndlessMultiplex(seconds: 40, base: base, keyInterval: [25, 12, 50, 75][Int(seed % 4)])
        var connections: [Range<Int>] = []
        var (start, end) = (0, 0)
        while end < multiplex.bytes.count {
            end = min(multiplex.bytes.count, end + Int.random(in: 3000...multiplex.bytes.count / 4, using: &random))
            connections.append(start..<end)
            start = max(0, end - Int.random(in: 4000...multiplex.bytes.count / 4, using: &random))
        }
        var cutter = StreamCutter()
        var outputs: [StreamCutter.Output] = []
        for connection in connections {
            var rest = multiplex.bytes[connection]
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 1...60_000, using: &random))
                outputs += cutter.append(Array(part))
                rest = rest.dropFirst(part.count)
            }
            outputs += cutter.endConnection()
        }
        outputs += cutter.flush()
        let frames = outputs.flatMap { multiplex.frameNumbers(in: $0.bytes) }
        #expect(frames == Array(0..<1000), "seed \(seed)")
        let audio = outputs.flatMap { EndlessMultiplex.audioNumbers(in: $0.bytes, base: base) }
        #expect(audio == audio.sorted() && Set(audio).count == audio.count, "seed \(seed)")
    }

    @Test func costIsLinear() throws {
        let steps = try [1, 2, 4].map { factor in
            let multiplex = EndlessMultiplex(seconds: 20 * factor)
            let connections = (0..<10 * factor).map {
                Array(multiplex.bytes[multiplex.part(Double($0), Double($0) + 4)])
            }
            return try StepCounter.steps { () throws(MediaError) in _ = CutterRun(connections) }
        }
        #expect(steps[1] < steps[0] * 5 / 2 && steps[2] < steps[0] * 5)
    }

    @Test func bytesWithoutSyncAreNotKept() throws {
        let steps = [1, 2, 4].map { factor in
            var framing = PacketFraming()
            return StepCounter.steps {
                for _ in 0..<20 * factor {
                    _ = framing.append([UInt8](repeating: 0x47, count: 3) + [UInt8](repeating: 1, count: 50_000))
                }
            }
        }
        #expect(steps[1] < steps[0] * 5 / 2 && steps[2] < steps[0] * 5)
    }
}

/// Connections that repeat media from before a splice: what they had comes out once, each unit under its own tables.
@Suite struct SplicedConnectionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var programs = SplicedConnectionTests.break8
        /// Seconds of the multiplex that each connection has.
        let connections: [(from: Double, to: Double)]
        /// The seconds that come out.
        var seconds: [(from: Double, to: Double)] = [(0, 30)]
        var gaps: [Ticks] = []

        var testDescription: String { when }
    }

    typealias Program = SplicedMultiplex.Program

    /// An ad of 8 s whose clock begins anew, in streams of its own.
    static let break8 = [
        Program(seconds: 10, base: 10), Program(seconds: 8, base: 2, hasOwnStreams: true, seed: 5),
        Program(seconds: 12, base: 20),
    ]

    /// The same, with the PIDs of the program, and a clock that is far away.
    private static let sameStreams = [
        Program(seconds: 10, base: 40_000), Program(seconds: 8, base: 2, seed: 5), Program(seconds: 12, base: 40_010),
    ]
    private static let twoAds = [
        Program(seconds: 10, base: 10), Program(seconds: 3, base: 2, hasOwnStreams: true, seed: 5),
        Program(seconds: 3, base: 2, seed: 9), Program(seconds: 14, base: 20),
    ]
    private static let nearClocks = [
        Program(seconds: 10, base: 10), Program(seconds: 8, base: 2, seed: 5), Program(seconds: 12, base: 20),
    ]

    static let rows = [
        Row(when: "the programs on one connection", connections: [(0, 30)]),
        Row(when: "cut inside the ad, back into the program", connections: [(0, 12.3), (8.3, 30)]),
        Row(when: "cut after the ad, back into it", connections: [(0, 19.2), (14.2, 30)]),
        Row(when: "both", connections: [(0, 12.3), (8.3, 19.2), (14.2, 30)]),
        Row(when: "cut after the ad, back to before it", connections: [(0, 19.2), (8.2, 30)]),
        Row(when: "cut at the beginning of the ad", connections: [(0, 10), (8.3, 30)]),
        Row(when: "cut at the end of the ad", connections: [(0, 18), (8.3, 30)]),
        Row(
            when: "in the same streams", programs: sameStreams,
            connections: [(0, 12.3), (8.3, 19.2), (14.2, 19.6), (7, 30)]),
        Row(
            when: "in the same streams, on clocks near each other", programs: nearClocks,
            connections: [(0, 12.3), (8.3, 30)]),
        Row(
            when: "cut shortly before a splice to a clock that is behind", programs: sameStreams,
            connections: [(0, 9.97), (9.85, 30)]),
        Row(when: "back over two splices", programs: twoAds, connections: [(0, 14.5), (8.3, 17.1), (9.1, 30)]),
        Row(
            when: "back to before the first frame received, over a splice", connections: [(9.2, 12.3), (7.4, 30)],
            seconds: [(10, 30)]),
        Row(
            when: "the same on a clock that is far away", programs: sameStreams,
            connections: [(8.2, 12.3), (3.4, 30)], seconds: [(9, 30)]),
        Row(
            when: "the end of the ad is missing", connections: [(0, 14.2), (18.4, 30)],
            seconds: [(0, 14.2), (19, 30)], gaps: [Ticks(10 * 3600)]),
        Row(
            when: "back into what was dropped before a key frame",
            programs: [Program(seconds: 30, base: 10)], connections: [(0, 8.3), (10.3, 13), (10.6, 30)],
            seconds: [(0, 8.32), (11, 30)], gaps: [Ticks(67 * 3600)]),
    ]

    @Test(arguments: rows) func everyUnitOnce(_ row: Row) {
        let multiplex = SplicedMultiplex(row.programs)
        let run = CutterRun(row.connections.map { multiplex.part($0.from, $0.to) })
        let times = SplicedMultiplex.times(in: run.segments.map(\.bytes))
        let whole = SplicedMultiplex.times(in: [multiplex.bytes])
        let expected = row.programs.reduce(into: (start: 0.0, video: [Int64]())) { result, program in
            for frame in 0..<program.seconds * 25 {
                let time = result.start + Double(frame) / 25
                guard row.seconds.contains(where: { $0.from - 0.001 <= time && time < $0.to - 0.001 }) else { continue }
                result.video.append(program.base * 90_000 + Int64(frame) * 3600)
            }
            result.start += Double(program.seconds)
        }.video
        #expect((times[0] + times[2]).sorted() == expected.sorted(), "each frame once")
        #expect(run.gaps == row.gaps)
        for (pid, (found, all)) in zip(SplicedMultiplex.pids, zip(times, whole)) {
            #expect(found.isSubsequence(of: all), "\(pid) in order")
        }
        if row.seconds.count == 1, row.seconds[0].from == 0 {
            let uncut = CutterRun([multiplex.bytes])
            #expect(times == SplicedMultiplex.times(in: uncut.segments.map(\.bytes)), "as on one connection")
            #expect(run.changes == uncut.changes, "tables change where the programs do")
        }
    }
}

extension [Int64] {
    fileprivate func isSubsequence(of all: [Int64]) -> Bool {
        var rest = all[...]
        for element in self {
            guard let index = rest.firstIndex(of: element) else { return false }
            rest = rest[(index + 1)...]
        }
        return true
    }
}

extension StreamCutter.Output {
    fileprivate var bytes: [UInt8] { if case .segment(let segment) = self { segment.bytes } else { [] } }
}

/// A cutter that was given connections.
private struct CutterRun {
    private(set) var cutter: StreamCutter
    private(set) var outputs: [StreamCutter.Output] = []

    init(_ connections: [[UInt8]], _ policy: StreamCutter.Policy = .init()) {
        cutter = StreamCutter(policy)
        for connection in connections {
            for start in stride(from: 0, to: connection.count, by: 10_000) {
                outputs += cutter.append(Array(connection[start..<min(start + 10_000, connection.count)]))
            }
            outputs += cutter.endConnection()
        }
        outputs += cutter.flush()
    }

    var segments: [StreamCutter.Segment] {
        outputs.compactMap { if case .segment(let segment) = $0 { segment } else { nil } }
    }

    var gaps: [Ticks] {
        outputs.compactMap { if case .gap(let duration) = $0 { duration } else { nil } }
    }

    func frames(of multiplex: EndlessMultiplex) -> [Int] { segments.flatMap { multiplex.frameNumbers(in: $0.bytes) } }

    func audio(of multiplex: EndlessMultiplex) -> [Int] {
        segments.flatMap { EndlessMultiplex.audioNumbers(in: $0.bytes, base: multiplex.base) }
    }

    /// The PIDs of the PMT in the order in which they are declared, without repetitions.
    var changes: [UInt16] {
        segments.flatMap { segment in
            stride(from: 0, to: segment.bytes.count, by: 188).compactMap { offset in
                let pid = UInt16(segment.bytes[offset + 1] & 0x1F) << 8 | UInt16(segment.bytes[offset + 2])
                return [0x1000, 0x1E0].contains(pid) ? pid : nil
            }
        }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    func packets(of pid: UInt16) -> Int {
        segments.reduce(0) { count, segment in
            count
                + stride(from: 0, to: segment.bytes.count, by: 188).count {
                    UInt16(segment.bytes[$0 + 1] & 0x1F) << 8 | UInt16(segment.bytes[$0 + 2]) == pid
                }
        }
    }
}
