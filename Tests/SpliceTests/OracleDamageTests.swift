import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Seeded damage: a fault costs what it hits, and at most one frame more.
@Suite struct OracleDamageTests {
    enum Fault: String, CaseIterable, Sendable {
        case drop, duplicate, hitSyncByte, errorIndicator, junk, flipBits, swap, cutShort, hitTable

        /// Frames whose own bytes the fault may touch.
        var hits: Int {
            switch self {
            case .duplicate, .hitSyncByte, .junk, .hitTable: 0
            case .drop, .errorIndicator, .flipBits, .cutShort: 1
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

    /// For each stream and kind of fault 15 seeds; together more than 400.
    @Test(arguments: Fault.allCases, 0..<15)
    func aFaultLosesAtMostOneIntactFrame(fault: Fault, seed: Int) throws {
        for stream in try Self.streams.get() {
            var random = SeededGenerator(seed: UInt64(seed))
            let whole = Set(Self.frames(try TransportDemuxer.all([stream])))
            let damaged = Self.apply(fault, to: stream, random: &random)
            let after = try TransportDemuxer.all([damaged])
            let lost = whole.subtracting(Self.frames(after))
            let allowed = fault.hits == 0 ? 0 : fault.hits + 1
            #expect(lost.count <= allowed, "\(lost)")
            // A flipped bit that nothing guards is a frame that differs and cannot know it.
            let made = Set(Self.frames(after)).subtracting(whole)
            #expect(made.count <= (fault == .flipBits ? 2 : 0), "\(made)")
        }
    }

    /// Faults do not add up to more than each costs. Sound between two losses in neighbouring PES packets may come
    /// without a time, never with a wrong one, unless bits of the time itself were flipped.
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
                damaged = Self.apply(fault, to: damaged, random: &random)
                allowed += fault.hits + 1
                faults.append(fault)
            }
            let after = try TransportDemuxer.all([damaged])
            let isTimeSure = !faults.contains(.flipBits)
            let untimed = Set(
                after.audio.filter { !$0.isDamaged && ($0.pts == nil || !isTimeSure) }.map { Array($0.payload) })
            let lost = whole.subtracting(Self.frames(after)).filter { !untimed.contains($0.parts[0]) }
            #expect(lost.count <= allowed, "\(faults): \(lost.map(\.description).sorted())")
            if isTimeSure { #expect(Set(Self.frames(after)).isSubset(of: whole)) }
        }
    }

    /// Frames that say of themselves that they are whole.
    private static func frames(_ segment: DemuxedSegment) -> [ComparableFrame] {
        segment.video.filter { !$0.isDamaged }.map(ComparableFrame.init)
            + segment.audio.filter { !$0.isDamaged && $0.pts != nil }.map(ComparableFrame.init)
    }

    /// Away from both ends, where what is lost has no frame behind it that could tell.
    private static func apply(_ fault: Fault, to stream: [UInt8], random: inout SeededGenerator) -> [UInt8] {
        var bytes = stream
        let offsets = offsets(in: stream)
        let candidates = offsets.dropFirst(12).dropLast(12).filter { offset in
            let packet = TransportPacket(stream, at: offset)
            let isTable = packet.pid == 0 || packet.pid == 0x1000
            return fault == .hitTable ? isTable : packet.pid == 0x100 || packet.pid == 0x101
        }
        guard let offset = candidates.randomElement(using: &random) else { return stream }
        let range = offset..<offset + 188
        switch fault {
        case .drop: bytes.removeSubrange(range)
        case .duplicate: bytes.insert(contentsOf: stream[range], at: range.upperBound)
        case .hitSyncByte: bytes[offset] = 0xB8
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
        case .cutShort: bytes.removeSubrange(offset + Int.random(in: 10..<188, using: &random)..<range.upperBound)
        case .hitTable: bytes[offset + Int.random(in: 5..<20, using: &random)] ^= 0x10
        }
        return bytes
    }

    private static func offsets(in stream: [UInt8]) -> [Int] {
        (PacketSync(stream)?.blocks ?? []).filter { !$0.hasBadSyncBytes }.flatMap { run in
            (0..<run.count).map { run[$0] }
        }
    }
}
