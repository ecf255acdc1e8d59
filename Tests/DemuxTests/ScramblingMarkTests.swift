import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// Packets that are marked as scrambled: the payload tells whether they are.
@Suite struct ScramblingMarkTests {
    typealias Builder = TransportStreamBuilder

    /// Marks the packets of some PIDs.
    /// - Parameters:
    ///   - bits: transport_scrambling_control in its place.
    ///   - isScrambled: whether their payload is scrambled too.
    static func mark(
        _ bytes: [UInt8], _ pids: Set<UInt16>, bits: UInt8 = 0x80, isScrambled: Bool = false
    ) -> [UInt8] {
        var random = SeededGenerator(seed: 3)
        var marked = bytes
        for offset in stride(from: 0, to: bytes.count, by: 188) {
            let packet = TransportPacket(bytes, at: offset)
            guard pids.contains(packet.pid) else { continue }
            marked[offset + 3] |= bits
            guard isScrambled else { continue }
            for index in packet.payload { marked[index] ^= UInt8.random(in: 1...255, using: &random) }
        }
        return marked
    }

    private static let multiplex = EndlessMultiplex(seconds: 6)
    private static let streams: Set<UInt16> = [EndlessMultiplex.videoPID, EndlessMultiplex.audioPID]

    private static func demux(_ bytes: [UInt8]) throws(MediaError) -> DemuxedSegment {
        var demuxer = TransportDemuxer()
        var whole = try demuxer.feed(bytes)
        whole.append(try demuxer.finish())
        return whole
    }

    static let clearRows: [(when: String, bits: UInt8, pids: Set<UInt16>)] = [
        ("with the even key", 0x80, streams), ("with the odd key", 0xC0, streams), ("reserved", 0x40, streams),
        ("tables too", 0x80, streams.union([0, 0x1000])), ("audio alone", 0x80, [EndlessMultiplex.audioPID]),
    ]

    @Test("Clear packets that are marked are demuxed as others are", arguments: clearRows)
    func clearPackets(when: String, bits: UInt8, pids: Set<UInt16>) throws {
        let marked = try Self.demux(Self.mark(Self.multiplex.bytes, pids, bits: bits))
        #expect(try marked == Self.demux(Self.multiplex.bytes), "\(when)")
        #expect(marked.video.count == 150 && !marked.isScrambled && marked.counts[.scrambledPackets] == 0)
    }

    @Test("Clear packets without tables that are marked")
    func clearPacketsWithoutTables() throws {
        let bytes = EndlessMultiplex(seconds: 6, tables: false).bytes
        let marked = try Self.demux(Self.mark(bytes, Self.streams))
        #expect(try marked == Self.demux(bytes))
        #expect(marked.video.count == 150)
    }

    @Test func scrambledPackets() throws {
        var demuxer = TransportDemuxer()
        let segment = try demuxer.feed(Self.mark(Self.multiplex.bytes, Self.streams, isScrambled: true))
        #expect(segment.isScrambled && segment.video.isEmpty && segment.audio.isEmpty)
        #expect(segment.counts[.scrambledPackets] > 300)
    }

    @Test("A mark that becomes right in the middle costs what is scrambled")
    func scrambledFromTheMiddleOn() throws {
        let bytes = Self.multiplex.bytes
        let middle = bytes.count / 376 * 188
        let marked =
            Self.mark(Array(bytes[..<middle]), Self.streams)
            + Self.mark(Array(bytes[middle...]), Self.streams, isScrambled: true)
        let segment = try Self.demux(marked)
        #expect((60..<90).contains(segment.video.count) && segment.counts[.scrambledPackets] > 100)
    }

    @Test("Timed ID3 whose packets are marked")
    func metadata() throws {
        var builder = Builder()
        builder.tables([.init(pid: 0x100, type: 0x1B), .init(pid: 0x200, type: 0x15)])
        builder.pes(pid: 0x100, pts: 900_000, ElementarySamples.idr(1))
        builder.pes(pid: 0x200, streamID: 0xBD, pts: 900_000, isBounded: true, MetadataSegmentTests.tag)
        let bytes = builder.cut()
        for isScrambled in [false, true] {
            let segment = try Self.demux(Self.mark(bytes, [0x200], isScrambled: isScrambled))
            #expect(segment.metadata.count == (isScrambled ? 0 : 1))
            #expect(segment.counts[.scrambledPackets] == (isScrambled ? 1 : 0))
        }
    }

    // MARK: - Streams

    private static func cut(_ bytes: [UInt8]) -> (cutter: StreamCutter, segments: [[UInt8]], delivered: [Int]) {
        var cutter = StreamCutter()
        var (segments, delivered) = ([[UInt8]](), [Int]())
        for start in stride(from: 0, to: bytes.count, by: 1880) {
            for case .segment(let segment) in cutter.append(Array(bytes[start..<min(start + 1880, bytes.count)])) {
                segments.append(segment.bytes)
                delivered.append(start)
            }
        }
        for case .segment(let segment) in cutter.endConnection() + cutter.flush() { segments.append(segment.bytes) }
        return (cutter, segments, delivered)
    }

    @Test("A stream whose packets are marked is cut as another is, and the mark is gone")
    func markedStream() {
        let marked = Self.cut(Self.mark(Self.multiplex.bytes, Self.streams))
        #expect(marked.segments == Self.cut(Self.multiplex.bytes).segments)
        #expect(marked.cutter.counts.scrambledPackets == 0)
    }

    @Test("A scrambled stream says so after a second, and again after five")
    func scrambledStream() throws {
        let multiplex = EndlessMultiplex(seconds: 20)
        let run = Self.cut(Self.mark(multiplex.bytes, Self.streams, isScrambled: true))
        #expect(run.cutter.obstacle == .scrambled && run.cutter.counts.frames == 0)
        let seconds = run.delivered.map { Double($0) * 20 / Double(multiplex.bytes.count) }
        #expect(
            seconds.count == 4 && zip(seconds, [1.0, 5.8, 10.6, 15.4]).allSatisfy { abs($0 - $1) < 0.3 }, "\(seconds)")
        for bytes in run.segments.prefix(seconds.count) {
            var demuxer = TransportDemuxer()
            #expect(try demuxer.feed(bytes).isScrambled)
        }
    }

    @Test("A stream that is scrambled from the middle on says so after its frames")
    func streamThatBecomesScrambled() throws {
        let multiplex = EndlessMultiplex(seconds: 20)
        let middle = multiplex.part(0, 8).upperBound / 188 * 188
        let bytes =
            multiplex.bytes[..<middle]
            + Self.mark(Array(multiplex.bytes[middle...]), Self.streams, isScrambled: true)
        let run = Self.cut(Array(bytes))
        var (demuxer, video, scrambled) = (TransportDemuxer(), 0, 0)
        for segment in run.segments {
            let output = try demuxer.feed(segment)
            video += output.video.count
            scrambled += output.isScrambled ? 1 : 0
        }
        #expect(video >= 199 && (1...2).contains(scrambled), "\(video) \(scrambled)")
    }
}
