import Foundation
import LiveRing
import Synchronization
import Testing
import WebTestSupport

@testable import Channel
@testable import Export
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

/// Playlists that players wait for (draft-pantos-hls-rfc8216bis §6.2.5.2).
@Suite struct BlockingReloadTests {
    private let state: ChannelState
    private let ring: DVRRing
    private let responder: ChannelResponder

    init() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        ring = try DVRRing(
            directory: directory.path, policy: RetentionPolicy(rewind: .seconds(7200), freeReserve: 0),
            targetDuration: 6)
        state = ChannelState(upstream: "http://127.0.0.1/") { .zero }
        state.setRing(ring)
        responder = ChannelResponder(state)
    }

    private func publish(_ count: Int) async throws {
        for _ in 0..<count { try await ring.publish(Self.segment(Int64(ring.snapshot.index.nextMediaSequence))) }
        state.publications.signal()
    }

    private static func segment(_ n: Int64) -> NewSegment {
        NewSegment(
            initialization: InitializationFile(name: "init-a.mp4", bytes: [0]), header: Array("\(n)".utf8),
            payload: [[1]], duration: 540_000, isDiscontinuous: false,
            programDateTime: ProgramDateTime(millisecondsSince1970: 6000 * n),
            resumePoint: ResumePoint(
                videoDecodeTime: 0, audioDecodeTime: 0, fragmentSequenceNumber: 0,
                presentationEnd: 540_000 * (n + 1), compositionOffset: 0),
            format: SegmentFormat(videoCodec: "avc1.640028"))
    }

    private func answer(_ path: String, _ method: RequestTarget.Method = .get) throws -> Answer {
        let target = try RequestTarget(method: method, uri: path)
        guard case .channel(_, let resource) = Route(target, in: .channel) else { throw CancellationError() }
        return responder.answer(to: resource, target)
    }

    private static func text(_ response: Response) -> String {
        guard case .bytes(let bytes, _) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func playerGetsTheSegmentThatItWaitsFor() async throws {
        try await publish(8)
        for path in ["/live.m3u8", "/dvr.m3u8", "/dvr.m3u8?last=60"] {
            let next = ring.snapshot.index.nextMediaSequence
            let separator = path.contains("?") ? "&" : "?"
            let asked = try answer("\(path)\(separator)_HLS_msn=\(next)")
            guard case .waiting = asked else {
                Issue.record("\(path) does not wait")
                continue
            }
            async let response = asked.response()
            while state.publications.waiterCount == 0 { await Task.yield() }
            // Another change is not the one that is waited for.
            state.publications.signal()
            while state.publications.waiterCount == 0 { await Task.yield() }
            try await publish(1)
            let text = Self.text(await response)
            #expect(text.contains("seg-\(next)-") && text.contains("CAN-BLOCK-RELOAD=YES"), "\(path)")
            #expect(await response.cacheControl == .maxAge(seconds: 36))
        }
    }

    /// The first viewer of a variant on demand waits for its media, wherever the playlist reaches the live edge.
    @Test(arguments: [
        "/video-1.m3u8", "/dvr-video-1.m3u8", "/dvr-video-1.m3u8?last=60",
        "/dvr-video-1.m3u8?start=1970-01-01T00:00:06Z",
    ])
    func playlistOfAVariantWaitsForItsMedia(path: String) async throws {
        for n in 0..<3 { try await publish(.gap, in: n) }
        let past = "/dvr-video-1.m3u8?start=1970-01-01T00:00:00Z&end=1970-01-01T00:00:06Z"
        #expect(try answer(past).now?.status == .notFound, "it has none of the variant, and never will")
        let asked = try answer(path)
        guard case .waiting = asked else {
            Issue.record("\(path) does not wait")
            return
        }
        async let response = asked.response()
        while state.publications.waiterCount == 0 { await Task.yield() }
        try await publish(.own(Self.lowVideo), in: 3)
        #expect(Self.text(await response).contains("video-0-3-"), "\(path)")
    }

    @Test(arguments: [(RequestTarget.Method.get, 1), (.head, 0)])
    func headStartsNoVariant(method: RequestTarget.Method, demands: Int) async throws {
        for n in 0..<3 { try await publish(.gap, in: n) }
        let demanded = Mutex(0)
        state.setDemand { _ in demanded.withLock { $0 += 1 } }
        let answer = try answer("/video-1.m3u8", method)
        #expect(demanded.withLock { $0 } == demands)
        if method == .head { #expect(answer.now?.status == .ok && answer.now?.contentType == .playlist) }
    }

    private func publish(_ media: VariantMedia<NewTrack>, in n: Int) async throws {
        var segment = Self.segment(Int64(n))
        segment.resumePoint.videoTracks = ["480.1000000"]
        segment.videoTracks = [media]
        try await ring.publish(segment)
        state.publications.signal()
    }

    private static let lowVideo = NewTrack(
        initialization: InitializationFile(name: "init-b.mp4", bytes: [1]),
        format: SegmentFormat(videoCodec: "avc1.64001f"), header: [2], payload: [[3]])

    static let rows: [(query: String, status: Int)] = [
        ("", 200), ("?_HLS_msn=7", 200), ("?_HLS_msn=0", 200), ("?_HLS_msn=7&_HLS_part=3", 200),
        ("?_HLS_msn=10", 400), ("?_HLS_msn=99999999999999999999", 400), ("?_HLS_msn=x", 400), ("?_HLS_part=1", 400),
        ("?_HLS_skip=NO", 200), ("?_HLS_skip=YES", 200),
    ]

    @Test(arguments: rows) func answersThatDoNotWait(query: String, status: Int) async throws {
        try await publish(8)
        let response = try #require(try answer("/dvr.m3u8\(query)").now, "\(query) waits")
        #expect(response.status.rawValue == status, "\(query)")
    }

    @Test func deltaIsAnsweredToWhomAsksForIt() async throws {
        try await publish(20)
        let whole = try #require(try answer("/dvr.m3u8").now)
        let delta = try #require(try answer("/dvr.m3u8?_HLS_skip=YES").now)
        #expect(Self.text(whole).contains("#EXT-X-VERSION:6\n") && !Self.text(whole).contains("EXT-X-SKIP"))
        #expect(Self.text(delta).contains("#EXT-X-VERSION:9\n"))
        #expect(Self.text(delta).contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=14\n"))
        // The live playlist has nothing to skip.
        #expect(!Self.text(try #require(try answer("/live.m3u8?_HLS_skip=YES").now)).contains("EXT-X-SKIP"))
    }

    @Test func waitsEndWithTheChannel() async throws {
        try await publish(8)
        let asked = try answer("/live.m3u8?_HLS_msn=8")
        guard case .waiting = asked else { throw CancellationError() }
        async let response = asked.response()
        while state.publications.waiterCount == 0 { await Task.yield() }
        await ring.end()
        state.publications.signal()
        #expect(Self.text(await response).hasSuffix("#EXT-X-ENDLIST\n"))
        // After that, nothing is waited for.
        #expect(try answer("/live.m3u8?_HLS_msn=99").now?.status == .ok)
    }

    @Test func waitOfAChannelThatFailedIsRefused() async throws {
        try await publish(8)
        let asked = try answer("/live.m3u8?_HLS_msn=9")
        guard case .waiting = asked else { throw CancellationError() }
        async let response = asked.response()
        while state.publications.waiterCount == 0 { await Task.yield() }
        state.setState(.failed, reason: nil)
        #expect(await response.status == .serviceUnavailable)
    }

    @Test func playerThatLeavesIsForgotten() async throws {
        try await publish(8)
        let asked = try answer("/live.m3u8?_HLS_msn=8")
        guard case .waiting = asked else { throw CancellationError() }
        let task = Task { await asked.response() }
        while state.publications.waiterCount == 0 { await Task.yield() }
        task.cancel()
        _ = await task.value
        #expect(state.publications.waiterCount == 0)
    }

    @Test func waitEndsAtItsDeadline() async {
        let signal = ChangeSignal()
        await signal.wait(after: signal.changes, until: .now + .milliseconds(1))
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask { await signal.wait(after: 0, until: .now + .milliseconds(number % 7)) }
            }
        }
        #expect(signal.waiterCount == 0)
        signal.signal()
        await signal.wait(after: 0, until: .now + .seconds(3600))
    }

    @Test func waitEndsWhenItIsCanceled() async {
        let signal = ChangeSignal()
        for isEarly in [true, false] {
            let wait = ChangeSignal.Wait()
            if isEarly { wait.cancel() }
            await withCheckedContinuation { continuation in
                signal.wait(wait, after: 0, until: .now + .seconds(3600)) { continuation.resume() }
                wait.cancel()
            }
            #expect(signal.waiterCount == 0)
        }
    }
}
