import Demux
import Foundation
import Service
import TestSupport
import Testing

/// The buffers of a segment are used again for the next one. Page faults are counted: a fault costs more than copying its
/// 4 KiB.
struct HeapSettingsTests {
    /// One for each 4 KiB of the body, of the elementary stream and of the samples would be 1536. Other threads use the
    /// same heap.
    private static let faultsPerSegment = 256
    private static let segmentBytes = 2 << 20

    @Test func segmentIsDemuxedInTheMemoryOfTheOneBefore() throws {
        HeapSettings.apply()
        let part = try CaptureFixture.ssaiTagged.bytes("body/main-31.ts")
        var demuxer = TransportDemuxer()
        func demux(segments: Int) throws {
            for _ in 0..<segments {
                var body: [UInt8] = []
                body.reserveCapacity(Self.segmentBytes)
                while body.count + part.count <= Self.segmentBytes { body += part }
                #expect(!(try demuxer.feed(body).video.isEmpty))
            }
        }
        try demux(segments: 3)
        let before = try Self.minorFaults()
        try demux(segments: 3)
        #expect(try Self.minorFaults() - before <= 3 * Self.faultsPerSegment)
    }

    /// Minor page faults of this thread: the tenth field of its `stat` (proc(5)).
    private static func minorFaults() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        return try #require(Int(fields[8]))
    }
}
