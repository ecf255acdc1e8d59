import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// The same stream complete, cut at any packet, and damaged.
@Suite struct OracleCutTests {
    /// H.264 with B-frames and AAC, 50 frames.
    private static let stream = Result {
        try OracleMedia.make(video: OracleMedia.h264, audio: ["-c:a", "aac"], seconds: 2)
    }
    private static let bounded = Result {
        try OracleMedia.make(
            video: OracleMedia.h264, audio: ["-c:a", "aac"], seconds: 2, output: ["-omit_video_pes_length", "0"])
    }

    @Test(arguments: 0..<60)
    func cutsAtPacketBoundariesChangeNothing(seed: Int) throws {
        let stream = try (seed.isMultiple(of: 2) ? Self.stream : Self.bounded).get()
        var random = SeededGenerator(seed: UInt64(seed))
        let whole = try TransportDemuxer.all([stream])
        // The first cut is inside the first frame, which shows that boundaries are unaligned before they are trusted.
        let first = (VideoCuts.keyFrames(stream, pid: 0x100).first ?? 0) + 188
        var segments = [Array(stream[..<first])]
        var rest = stream[first...]
        while !rest.isEmpty {
            let packets = Int.random(in: 8...400, using: &random)
            segments.append(Array(rest.prefix(packets * 188)))
            rest = rest.dropFirst(packets * 188)
        }
        let cut = try TransportDemuxer.all(segments)
        #expect(cut.audio == whole.audio)
        #expect(cut.video.map(ComparableFrame.init) == whole.video.map(ComparableFrame.init))
        #expect(cut.video.filter(\.isDamaged).isEmpty)
    }

    /// Parts of a file, the first of which begin where frames do: that says nothing about the later ones.
    @Test(arguments: 0..<20) func partsOfAFileEndAnywhere(seed: Int) throws {
        let stream = try (seed.isMultiple(of: 2) ? Self.stream : Self.bounded).get()
        var random = SeededGenerator(seed: UInt64(seed))
        let whole = try TransportDemuxer.all([stream])
        var (demuxer, cut, start) = (TransportDemuxer(), [VideoPacket](), 0)
        var ends = [VideoCuts.keyFrames(stream, pid: 0x100)[1]]
        while let last = ends.last, last < stream.count {
            ends.append(min(stream.count, last + Int.random(in: 8...100, using: &random) * 188))
        }
        for end in ends {
            cut += try demuxer.feed(Array(stream[start..<end]), of: [UInt64(start)..<UInt64(end)]).video
            start = end
        }
        cut += try demuxer.finish().video
        #expect(cut.map(ComparableFrame.init) == whole.video.map(ComparableFrame.init))
    }

    /// Cuts before each key frame, like a packager's: no frame is held for the next segment.
    @Test func cutsAtKeyFramesHoldNothing() throws {
        let stream = try Self.stream.get()
        let cuts = VideoCuts.keyFrames(stream, pid: 0x100)
        try #require(cuts.count == 2)
        var demuxer = TransportDemuxer()
        let first = try demuxer.feed(Array(stream[..<cuts[1]]))
        let second = try demuxer.feed(Array(stream[cuts[1]...]))
        #expect(first.video.count == 25)
        #expect(second.video.count == 25)
        #expect(second.video.first?.randomAccess == .instantaneousRefresh)
        #expect(try demuxer.finish() == DemuxedSegment())
    }

    enum Fault: CaseIterable, Sendable { case drop, duplicate, damageSyncByte, errorIndicator, junk }

    /// A fault costs the frame that it hits and at most one more; all others are unchanged.
    @Test(arguments: Fault.allCases, 0..<24)
    func oneFaultLosesAtMostOneIntactFrame(fault: Fault, seed: Int) throws {
        let stream = try Self.stream.get()
        var random = SeededGenerator(seed: UInt64(seed))
        let packet = Int.random(in: 12..<(stream.count / 188 - 1), using: &random)
        let pid = UInt16(stream[packet * 188 + 1] & 0x1F) << 8 | UInt16(stream[packet * 188 + 2])
        let whole = try TransportDemuxer.all([stream])
        let damaged = try TransportDemuxer.all([Self.apply(fault, to: stream, packet: packet)])
        let before = Set(Self.frames(whole))
        let after = Set(Self.frames(damaged))
        let hit =
            fault == .duplicate || fault == .damageSyncByte || fault == .junk || pid < 0x100 || pid >= 0x1000 ? 0 : 1
        #expect(before.subtracting(after).count <= hit + (hit == 0 ? 0 : 1))
        #expect(after.subtracting(before).isEmpty, "no new frames")
        if hit == 1 { #expect(damaged.counts[.transportErrors] > 0) }
        if fault == .duplicate, pid == 0x100 { #expect(damaged.counts[.duplicatePackets] == 1) }
    }

    /// Frames that are not marked as damaged.
    private static func frames(_ segment: DemuxedSegment) -> [ComparableFrame] {
        let whole = segment.video.filter { !$0.isDamaged }.map(ComparableFrame.init)
        return whole + segment.audio.filter { !$0.isDamaged && $0.pts != nil }.map(ComparableFrame.init)
    }

    private static func apply(_ fault: Fault, to stream: [UInt8], packet: Int) -> [UInt8] {
        var bytes = stream
        let range = packet * 188..<(packet + 1) * 188
        switch fault {
        case .drop: bytes.removeSubrange(range)
        case .duplicate: bytes.insert(contentsOf: stream[range], at: range.upperBound)
        case .damageSyncByte: bytes[range.lowerBound] = 0xB8
        case .errorIndicator: bytes[range.lowerBound + 1] |= 0x80
        case .junk: bytes.insert(contentsOf: [UInt8](repeating: 0x55, count: 61), at: range.upperBound)
        }
        return bytes
    }
}

enum VideoCuts {
    /// Offsets of the packets in which a PES packet with an IDR begins; the preceding tables belong to it.
    static func keyFrames(_ stream: [UInt8], pid: UInt16) -> [Int] {
        stride(from: 0, to: stream.count, by: 188).filter { offset in
            let packet = TransportPacket(stream, at: offset)
            guard packet.pid == pid, packet.startsUnit else { return false }
            return ComparableFrame.startCodePrefixed(Array(stream[packet.payload])).contains { $0[0] & 0x1F == 7 }
        }
    }
}
