import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Seeded damage: a fault costs the frames that it hits, and at most one more.
@Suite struct OracleDamageTests {
    enum Fault: String, CaseIterable, Sendable {
        case drop, duplicate, damageSyncByte, errorIndicator, junk, flipBits, swap, truncate, damageTable

        /// Number of frames whose own bytes the fault may change.
        var hits: Int {
            switch self {
            case .duplicate, .damageSyncByte, .junk, .damageTable: 0
            case .drop, .errorIndicator, .flipBits, .truncate: 1
            case .swap: 2
            }
        }
    }

    private static let streams = Result {
        try [
            OracleRecutTests.Material(name: "H.264 and AAC"),
            OracleRecutTests.Material(name: "HEVC and AC-3", video: OracleRecutTests.hevc, audio: ["-c:a", "ac3"]),
            OracleRecutTests.Material(
                name: "H.264 and LATM in bounded PES",
                output: ["-omit_video_pes_length", "0", "-mpegts_flags", "latm"]),
        ].map { try $0.stream() }
    }

    /// 15 seeds for each stream and kind of fault, more than 400 together.
    @Test(arguments: Fault.allCases, 0..<15)
    func oneFaultLosesAtMostOneIntactFrame(fault: Fault, seed: Int) throws {
        for stream in try Self.streams.get() {
            var random = SeededGenerator(seed: UInt64(seed))
            let whole = Set(Self.frames(try TransportDemuxer.all([stream])))
            let damaged = try Self.apply(fault, to: stream, random: &random)
            let after = try TransportDemuxer.all([damaged])
            let lost = whole.subtracting(Self.frames(after))
            let allowed = fault.hits == 0 ? 0 : fault.hits + 1
            #expect(lost.count <= allowed, "\(lost)")
            // An undetectable flipped bit yields a changed frame that is not marked as damaged.
            let changed = Set(Self.frames(after)).subtracting(whole)
            #expect(changed.count <= (fault == .flipBits ? 2 : 0), "\(changed)")
        }
    }

    /// Several faults cost no more than the sum of each. Audio between two losses in adjacent PES packets may have no
    /// timestamp, but never a wrong one, unless bits of the timestamp were flipped.
    @Test(arguments: 0..<40)
    func manyFaultsCostNoMoreThanEach(seed: Int) throws {
        for stream in try Self.streams.get().prefix(2) {
            var random = SeededGenerator(seed: UInt64(seed) + 1000)
            let whole = Set(Self.frames(try TransportDemuxer.all([stream])))
            var damaged = stream
            var allowed = 0
            var faults: [Fault] = []
            for _ in 0..<Int.random(in: 2...6, using: &random) {
                let fault = Fault.allCases.randomElement(using: &random) ?? .drop
                damaged = try Self.apply(fault, to: damaged, random: &random)
                allowed += fault.hits + 1
                faults.append(fault)
            }
            let after = try TransportDemuxer.all([damaged])
            let hasReliableTimes = !faults.contains(.flipBits)
            let untimed = Set(
                after.audio.filter { !$0.isDamaged && ($0.pts == nil || !hasReliableTimes) }.map { Array($0.payload) })
            let lost = whole.subtracting(Self.frames(after)).filter { !untimed.contains($0.parts[0]) }
            #expect(lost.count <= allowed, "\(faults): \(lost.map(\.description).sorted())")
            if hasReliableTimes { #expect(Set(Self.frames(after)).isSubset(of: whole)) }
        }
    }

    /// Frames that are not marked as damaged.
    private static func frames(_ segment: DemuxedSegment) -> [ComparableFrame] {
        segment.video.filter { !$0.isDamaged }.map(ComparableFrame.init)
            + segment.audio.filter { !$0.isDamaged && $0.pts != nil }.map(ComparableFrame.init)
    }

    /// Damages packets away from both ends, because at the end no later frame reveals a loss.
    private static func apply(
        _ fault: Fault, to stream: [UInt8], random: inout SeededGenerator
    ) throws -> [UInt8] {
        var bytes = stream
        let offsets = try offsets(in: stream)
        let candidates = offsets.dropFirst(12).dropLast(12).filter { offset in
            let packet = TransportPacket(stream, at: offset)
            let isTable = packet.pid == 0 || packet.pid == 0x1000
            return fault == .damageTable ? isTable : packet.pid == 0x100 || packet.pid == 0x101
        }
        guard let offset = candidates.randomElement(using: &random) else { return stream }
        let range = offset..<offset + 188
        switch fault {
        case .drop: bytes.removeSubrange(range)
        case .duplicate: bytes.insert(contentsOf: stream[range], at: range.upperBound)
        case .damageSyncByte: bytes[offset] = 0xB8
        case .errorIndicator: bytes[offset + 1] |= 0x80
        case .junk:
            let junk = (0..<Int.random(in: 1...400, using: &random)).map { _ in
                UInt8.random(in: 0...0x46, using: &random)
            }
            bytes.insert(contentsOf: junk, at: range.upperBound)
        case .flipBits:
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[offset + Int.random(in: 4..<188, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        case .swap:
            let next = Array(bytes[range.upperBound..<range.upperBound + 188])
            bytes.replaceSubrange(range.upperBound..<range.upperBound + 188, with: Array(bytes[range]))
            bytes.replaceSubrange(range, with: next)
        case .truncate: bytes.removeSubrange(offset + Int.random(in: 10..<188, using: &random)..<range.upperBound)
        case .damageTable: bytes[offset + Int.random(in: 5..<20, using: &random)] ^= 0x10
        }
        return bytes
    }

    private static func offsets(in stream: [UInt8]) throws -> [Int] {
        (try PacketSync(stream)?.blocks ?? []).filter { !$0.hasBadSyncBytes }.flatMap { block in
            (0..<block.count).map { block[$0] }
        }
    }
}
