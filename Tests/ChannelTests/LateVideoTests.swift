import Foundation
import LiveRing
import Media
import Testing

@testable import Channel
@testable import Mux
@testable import Splice

/// Late video of a further variant that the ring does not list.
struct LateVideoTests {
    private static let late = [1, 1, 0].map { track in
        LateVideo(
            track: track, sequenceNumber: 7,
            media: SplicedVideoTrack(
                initSection: InitSection(bytes: [1]),
                format: .init(
                    codec: "avc1.64001f", width: 640, height: 360, frameRate: "25.000", videoRange: .standard),
                fragment: Fragment(header: [2], payloads: [])))
    }

    @Test(arguments: [
        (when: "no such segment is listed", isWritable: true, failures: 0),
        ("the spool cannot be written", false, 1),
    ])
    func isCountedAndReported(when: String, isWritable: Bool, failures: Int) async throws {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let ring = try DVRRing(
            directory: spool.path, policy: RetentionPolicy(rewind: .seconds(60), freeReserve: 0), targetDuration: 4)
        if !isWritable {
            try FileManager.default.removeItem(at: spool)
            try Data().write(to: spool)
        }
        var publisher = ChannelPublisher(in: ring, from: .beginning, captionsToWebVTT: false, isLive: true)
        let events = await publisher.publish(Self.late)
        #expect(publisher.unwrittenVideo == [0: 1, 1: 2], "\(when)")
        let reported = events.count { if case .publishFailed = $0 { true } else { false } }
        #expect(reported == failures && events.count == failures, "\(when): only the first disk error")
    }
}
