import Playlist
import Testing

@testable import Demux
@testable import Fetch
@testable import Media
@testable import MediaTestSupport
@testable import Support
@testable import Tracker

/// A session whose upstream turns out to be an endless transport stream.
@Suite struct StreamSessionTests {
    private static let page = FetchOutcome.success(
        FetchAnswer(status: 200, finalURL: StreamOrigin.url, body: Array("<!DOCTYPE html><html>offline</html>".utf8)))

    private static func refusal(_ status: Int) -> FetchOutcome {
        .success(FetchAnswer(status: status, finalURL: StreamOrigin.url, body: Array("no".utf8)))
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let origin: StreamOrigin
        var seconds = 60
        /// Requests, at least and at most.
        let requests: ClosedRange<Int>
        /// Frames that come out, at least.
        var frames = 1300
        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "one connection", origin: .init(answers: [.stream(back: 0, lasting: 120)]), requests: 1...1),
        Row(
            when: "ended every 8 s, 4 s repeated", origin: .init(answers: [.stream(back: 4, lasting: 8)]),
            requests: 7...8),
        Row(
            when: "reset every 8 s, 10 s repeated",
            origin: .init(answers: [.stream(back: 10, lasting: 8, ending: .reset)]), requests: 7...8),
        Row(
            when: "bursts of 6 s", origin: .init(answers: [.stream(back: 0, lasting: 120)], burst: 6),
            requests: 1...1),
        Row(
            when: "bursts of 10 s", origin: .init(answers: [.stream(back: 0, lasting: 120)], burst: 10),
            requests: 1...1, frames: 1200),
        Row(
            when: "silent after 30 s: another connection after 3 s",
            origin: .init(answers: [.stream(back: 1, lasting: 30, ending: .silent), .stream(back: 1, lasting: 120)]),
            requests: 2...2),
        Row(
            when: "refused with 403 for some seconds",
            origin: .init(answers: [
                .stream(back: 0, lasting: 20), .outcome(refusal(403)), .outcome(refusal(403)),
                .stream(back: 5, lasting: 120),
            ]), requests: 4...4),
        Row(
            when: "a page for some seconds",
            origin: .init(answers: [
                .stream(back: 0, lasting: 20), .outcome(page), .outcome(page), .outcome(page),
                .stream(back: 5, lasting: 120),
            ]), requests: 5...5),
    ]

    @Test(arguments: rows) func everyFrameOnce(_ row: Row) async throws {
        let run = try await StreamRun(row.origin, seconds: row.seconds)
        #expect(run.isContinuous && run.losses.isEmpty)
        #expect(run.frames.count >= row.frames)
        #expect(row.requests.contains(run.requests.count), "\(run.requests)")
        #expect(run.segments.map(\.segment.mediaSequence) == Array(0..<UInt64(run.segments.count)))
        #expect(run.status?.renditions.first?.targetDuration == .seconds(3))
    }

    @Test func reconnectsAtOnceAndReportsIt() async throws {
        let run = try await StreamRun(StreamOrigin(answers: [.stream(back: 4, lasting: 20)]), seconds: 50)
        #expect(run.requests.dropFirst().first.map { $0 < .milliseconds(20_200) } == true)
        let reports = run.events.compactMap { event in
            if case .reconnected(let cause, _, let repeated) = event { (cause, repeated) } else { nil }
        }
        #expect(reports.count == 2 && reports.allSatisfy { $0.0 == .ended && (80...110).contains($0.1) })
        #expect(run.status?.stream?.connections == 3)
    }

    @Test func failedConnectionsAreMadeLessAndLessOften() async throws {
        let run = try await StreamRun(
            StreamOrigin(answers: [.stream(back: 0, lasting: 10), .outcome(Self.refusal(503))]), seconds: 120)
        #expect(run.requests.count < 16)
        #expect(run.end.map { if case .gaveUp(let error) = $0 { error.isSilent } else { false } } == true)
        #expect(run.events.count { if case .playlistFailed = $0 { true } else { false } } == 1)
    }

    @Test func connectionsThatEndAtOnceAreNotMadeInALoop() async throws {
        let run = try await StreamRun(StreamOrigin(answers: [.stream(back: 2, lasting: 0.5)]), seconds: 60)
        #expect(run.requests.count < 14)
    }

    @Test func theOldConnectionIsClosedBeforeTheNewOneIsMade() {
        var session = UpstreamSession(upstream: StreamOrigin.url, policy: .init(variant: .highest))
        var open: Set<FetchID> = []
        var most = 0
        func perform(_ input: UpstreamSession.Input, at now: Duration) {
            for effect in session.handle(input, at: now) {
                if case .fetch(let id, _) = effect { open.insert(id) }
                if case .cancel(let id) = effect { open.remove(id) }
                most = max(most, open.count)
            }
        }
        perform(.start, at: .zero)
        for second in 1...60 {
            let bytes = SharedMultiplex.standard.bytes[
                SharedMultiplex.standard.part(Double(second), Double(second) + 1)]
            // Each connection falls silent after 10 s.
            if second % 20 < 10, let id = open.first {
                perform(.received(id, StreamPart(finalURL: "", bytes: Array(bytes))), at: .seconds(second))
            } else {
                perform(.wake, at: .seconds(second))
            }
        }
        #expect(most == 1 && session.status.stream.map { $0.connections > 2 } == true)
    }

    @Test func mediaThatNoConnectionHadIsAGap() async throws {
        let run = try await StreamRun(
            StreamOrigin(answers: [.stream(back: -3, lasting: 20)]), seconds: 50)
        #expect(run.losses.count == 2 && run.losses.allSatisfy { $0.reason == .neverSent })
        let lost = run.losses.reduce(Duration.zero) { $0 + $1.duration }
        #expect(lost > .seconds(6) && lost == run.status?.renditions.first?.counts.lostDurations[.gap])
        #expect(run.segments.count(where: \.isAfterDiscontinuity) == 2)
        #expect(Set(run.frames).count == run.frames.count)
    }

    static let uncut: [(when: String, bytes: [UInt8], reason: UnpublishedReason)] = [
        ("no key frames", EndlessMultiplexSamples.repeating(frame: 7), .noRandomAccess),
        ("a clock that stands still", EndlessMultiplexSamples.repeating(frame: 0), .frozenClock),
        ("no tables", EndlessMultiplexSamples.repeating(frame: 0, tables: false), .noTables),
    ]

    @Test(arguments: uncut.indices) func bytesThatCannotBeCutEndTheSession(_ index: Int) async throws {
        let (when, bytes, expected) = Self.uncut[index]
        var driver = ReplayDriver(
            session: UpstreamSession(upstream: StreamOrigin.url, policy: .init(variant: .highest)))
        let end = try await driver.run(
            until: .seconds(60),
            respond: { _, _ in
                .init(
                    parts: (0..<40).map { second -> ReplayDriver.Response.Part in
                        (.seconds(second), { StreamPart(finalURL: "", bytes: bytes) })
                    }, end: nil)
            }, perform: { _, _ in .published })
        guard case .failed(let error) = end, case .nothingUsable(_, let reason) = error.reason else {
            Issue.record("\(String(describing: end))")
            return
        }
        #expect(reason == expected, "\(when)")
    }

    @Test func aPageInPlaceOfTheStreamIsNamed() async throws {
        let run = try await StreamRun(StreamOrigin(answers: [.outcome(Self.page)]), seconds: 60)
        guard case .failed(let error) = run.end, case .notAPlaylist(let kind, _) = error.reason else {
            Issue.record("\(String(describing: run.end))")
            return
        }
        #expect(kind == .webPage)
    }
}

extension TrackerError {
    fileprivate var isSilent: Bool { if case .silent = reason { true } else { false } }
}

private enum EndlessMultiplexSamples {
    /// One frame, to be sent again and again: the clock never advances.
    static func repeating(frame: Int, tables: Bool = true) -> [UInt8] {
        let multiplex = SharedMultiplex.standard
        return Array(multiplex.bytes[0..<(tables ? 188 * 2 : 0)] + multiplex.bytes[multiplex.frames[frame]])
    }
}

/// Segments are held back for a while.
@Suite struct StreamHoldTests {
    private static func segment(_ bytes: Int = 10) -> StreamCutter.Output {
        .segment(StreamCutter.Segment(bytes: [UInt8](repeating: 0, count: bytes), duration: .seconds(2)))
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// When segments of 2 s arrive, in seconds.
        let arrivals: [Double]
        let releases: [Double]
        var hold = 3.0
        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "no hold", arrivals: [2, 4, 6], releases: [2, 4, 6], hold: 0),
        Row(when: "all on time", arrivals: [2, 4, 6], releases: [5, 7, 9]),
        Row(when: "one is late by less than the hold", arrivals: [2, 4, 8.5, 8.5], releases: [5, 7, 9, 11]),
        Row(when: "one is late by more", arrivals: [2, 4, 11, 11.1], releases: [5, 7, 11, 11.1]),
        Row(when: "a burst", arrivals: [6, 6, 6, 12, 12, 12], releases: [9, 9, 9, 12, 13, 15]),
    ]

    @Test(arguments: rows) func released(_ row: Row) {
        var hold = StreamHold(.milliseconds(Int(row.hold * 1000)), byteLimit: 1000)
        var releases: [Double] = []
        var arrivals = row.arrivals[...]
        for step in 0..<400 {
            let now = Double(step) / 20
            while let next = arrivals.first, next <= now {
                hold.append(Self.segment(), at: .milliseconds(Int(now * 1000)))
                arrivals.removeFirst()
            }
            for _ in hold.dequeue(at: .milliseconds(Int(now * 1000))) { releases.append(now) }
        }
        #expect(
            zip(releases, row.releases).allSatisfy { abs($0 - $1) < 0.11 } && releases.count == row.releases.count,
            "\(releases)")
    }

    @Test func fewBytesAreHeld() {
        var hold = StreamHold(.seconds(30), byteLimit: 1000)
        var released = 0
        for second in 0..<20 {
            hold.append(Self.segment(100), at: .seconds(second))
            released += hold.dequeue(at: .seconds(second)).count
        }
        #expect(hold.byteCount <= 1000 && released == 10)
    }
}
