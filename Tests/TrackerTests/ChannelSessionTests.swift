import Playlist
import Testing

@testable import Tracker

/// A channel with backups: each source is an origin of its own, told by the host in its addresses.
private struct Sources {
    static let home = "http://home.example/main.m3u8"
    static let backups = ["http://one.example/main.m3u8", "http://two.example/main.m3u8"]

    var home = SessionOrigin()
    var one = SessionOrigin()
    var two = SessionOrigin()

    func answer(_ request: FetchRequest, at now: Duration) -> (FetchOutcome, Duration) {
        if request.url.hasPrefix("http://one.") { return one.answer(request, at: now) }
        if request.url.hasPrefix("http://two.") { return two.answer(request, at: now) }
        return home.answer(request, at: now)
    }
}

/// What came out: segment numbers after the letter of their source (h, a, b), `|` before one after a seam, `-` for a
/// target duration that is missing, `.` at the end.
private struct ChannelRun {
    var trace = ""
    var events: [(event: UpstreamEvent, at: Duration)] = []
    var requests: [(request: FetchRequest, at: Duration)] = []
    var end: SessionEnd?
    var status: UpstreamStatus?

    init(
        _ sources: Sources, seconds: Int, backups: Int = 2, giveUp: Duration? = nil,
        fillsAfter: OutageGapTimer.Tolerance? = nil, resuming: JoinPoint? = nil,
        becomes: @Sendable (Delivery, Duration) -> DeliveryOutcome = { _, _ in .published }
    ) async throws {
        var policy = ChannelSession.Policy(
            session: .init(variant: .highest, giveUp: giveUp), backups: Array(Sources.backups.prefix(backups)),
            gapTolerance: fillsAfter)
        if let resuming { (policy.joinPoint, policy.resumedTargetDuration) = (resuming, .seconds(6)) }
        let session = ChannelSession(upstream: Sources.home, policy: policy)
        var driver = ReplayDriver(session: session)
        var outputs: [(DriverOutput, Duration)] = []
        var made: [(FetchRequest, Duration)] = []
        end = try await driver.run(until: .seconds(seconds)) { request, now in
            made.append((request, now))
            return sources.answer(request, at: now)
        } perform: { output, now in
            outputs.append((output, now))
            switch output {
            case .delivery(let delivery), .probe(let delivery): return becomes(delivery, now)
            case .event, .status: return .held
            }
        }
        requests = made.map { ($0.0, $0.1) }
        var words: [String] = []
        for (output, now) in outputs {
            switch output {
            case .event(let event): events.append((event, now))
            case .status(let status): self.status = status
            case .delivery(let delivery): words.append(Self.word(delivery))
            case .probe: break
            }
        }
        trace = words.joined(separator: " ")
    }

    private static func word(_ delivery: Delivery) -> String {
        let source = ["h", "a", "b"][delivery.source]
        switch delivery.content {
        case .segment(let tracked):
            return (tracked.isAfterDiscontinuity ? "|" : "") + "\(source)\(tracked.segment.mediaSequence)"
        case .lost(let loss): return "x\(loss.mediaSequences.count)"
        case .outageGap: return "-"
        case .ended: return "."
        }
    }

    func times(_ matches: (UpstreamEvent) -> Bool) -> [Duration] { events.filter { matches($0.event) }.map(\.at) }

    var switches: [Int] {
        events.compactMap { if case .sourceSwitched(let source, _) = $0.event { source } else { nil } }
    }
}

private func isAmong(_ times: [Range<Int>], _ now: Duration) -> Bool {
    times.contains { $0.contains(Int(now.components.seconds)) }
}

/// The list goes on, and nothing of it is given.
private func withoutMedia(_ times: Range<Int>..., status: Int = 404)
    -> @Sendable (FetchRequest, Duration) ->
    FetchOutcome?
{
    { $0.purpose == .segment && isAmong(times, $1) ? refused(status, $0) : nil }
}

/// What a source gives then cannot be used.
private func unusable(
    _ times: Range<Int>..., of source: Int = 0, _ why: UnpublishedReason = .undecryptable
) -> @Sendable (Delivery, Duration) -> DeliveryOutcome {
    { $0.source == source && isAmong(times, $1) ? .refused(why) : .published }
}

private func down(_ times: Range<Int>...) -> @Sendable (FetchRequest, Duration) -> FetchOutcome? {
    { request, now in
        isAmong(times, now) ? failed(.refused, request) : nil
    }
}

/// EXT-X-PROGRAM-DATE-TIME before every segment, or every few; numbers of all sources are of the same time.
private func dated(ahead seconds: Int = 0, every count: UInt64 = 1) -> @Sendable (UInt64) -> String {
    { number in
        guard number % count == 0 else { return "" }
        let date = ProgramDateTime(millisecondsSince1970: Int64(1_800_000_000 + 6 * Int(number) + seconds) * 1000)
        return "#EXT-X-PROGRAM-DATE-TIME:\(date.text)\n"
    }
}

private struct ChannelRow: Sendable, CustomTestStringConvertible {
    let when: String
    var sources = Sources()
    var seconds = 60
    var backups = 2
    var giveUp: Duration?
    var fillsAfter: OutageGapTimer.Tolerance?
    var becomes: @Sendable (Delivery, Duration) -> DeliveryOutcome = { _, _ in .published }
    let delivers: String
    var end: SessionEnd?

    var testDescription: String { when }
}

extension Sources {
    fileprivate func with(_ change: (inout Sources) -> Void) -> Sources {
        var sources = self
        change(&sources)
        return sources
    }
}

/// Target duration 6 s. An outage is told after 21 s of silence; a backup is alive once it lists one segment more.
private let channelRows: [ChannelRow] = [
    ChannelRow(when: "the upstream is well", seconds: 30, delivers: "h104 h105 h106 h107 h108 h109"),
    ChannelRow(
        when: "the upstream dies: the first backup takes over where it stands",
        sources: Sources().with { $0.home.instead = down(14..<900) }, seconds: 60,
        delivers: "h104 h105 h106 h107 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "by dates the backup goes on where the upstream stopped",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.home.tags = dated()
            $0.one.tags = dated(every: 3)
        }, seconds: 60, delivers: "h104 h105 h106 h107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "by dates the backup goes on where the upstream stopped, cut elsewhere",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.home.tags = dated()
            $0.one.tags = dated(ahead: 2)
        }, seconds: 60, delivers: "h104 h105 h106 h107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "the window of the backup begins behind what was published: with all that is left of it",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.home.tags = dated()
            $0.one.tags = dated()
            $0.one.windowLength = 2
        }, seconds: 60, delivers: "h104 h105 h106 h107 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "the backup lags: what was published is not published again",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.home.tags = dated()
            $0.one.tags = dated()
            $0.one.edge = 103
        }, seconds: 60, delivers: "h104 h105 h106 h107 a108 a109 a110 a111"),
    ChannelRow(
        when: "the backup's clock is wrong by an hour: joined at its edge",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.home.tags = dated()
            $0.one.tags = dated(ahead: 3600)
        }, seconds: 60, delivers: "h104 h105 h106 h107 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "the first backup cannot be reached: the second takes over",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.one.instead = down(0..<900)
        }, seconds: 60,
        delivers: "h104 h105 h106 h107 b110 b111 b112 b113 b114"),
    ChannelRow(
        when: "the first backup still serves an old list: it is not taken for alive",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.one.stopsAt = .zero
        }, seconds: 90,
        delivers: "h104 h105 h106 h107 b114 b115 b116 b117 b118 b119"),
    ChannelRow(
        when: "the upstream is back before a backup is alive",
        sources: Sources().with {
            $0.home.instead = down(14..<36)
            $0.one.latency = { _ in .seconds(9) }
        }, seconds: 50,
        delivers: "h104 h105 h106 h107 h108 h109 h110 h111 h112 h113"),
    ChannelRow(
        when: "the upstream cannot be opened at all",
        sources: Sources().with { $0.home.instead = down(0..<900) }, seconds: 30,
        delivers: "a104 a105 a106 a107 a108 a109"),
    ChannelRow(
        when: "no source can be opened",
        sources: Sources().with {
            $0.home.instead = down(0..<900)
            $0.one.instead = down(0..<900)
            $0.two.instead = down(0..<900)
        }, seconds: 300, delivers: "",
        end: .failed(TrackerError(.unreachable(.refused), url: Sources.home))),
    ChannelRow(
        when: "everybody is silent for longer than is put up with",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.one.instead = down(0..<900)
            $0.two.instead = down(0..<900)
        }, seconds: 300, giveUp: .seconds(60),
        delivers: "h104 h105 h106 h107",
        end: .gaveUp(TrackerError(.silent(for: .seconds(60)), url: Sources.home))),
    ChannelRow(
        when: "an outage without a backup, given out as missing",
        sources: Sources().with { $0.home.instead = down(14..<60) },
        seconds: 75, backups: 0, fillsAfter: .init(.halves(7)),
        delivers: "h104 h105 h106 h107 - - - - - x2 |h110 h111 h112 h113 h114 h115 h116 h117"),
    ChannelRow(
        when: "an outage filled soon, for there is a slate",
        sources: Sources().with { $0.home.instead = down(14..<30) },
        seconds: 40, backups: 0, fillsAfter: .init(.halves(3)),
        delivers: "h104 h105 h106 h107 - - h108 h109 h110 h111"),
    ChannelRow(
        when: "what comes three at a time is late only as long as all that is known is the two it was joined with",
        sources: Sources().with { sources in
            let steady = SessionOrigin()
            sources.home.instead = { request, now in
                guard request.purpose != .segment else { return nil }
                return text(steady.playlist(at: .seconds(now.components.seconds / 18 * 18)), request)
            }
        }, seconds: 80, backups: 0, fillsAfter: .init(.halves(3)),
        delivers: "h104 h105 - h106 h107 h108 h109 h110 h111 h112 h113 h114 h115 h116 h117"),
    ChannelRow(
        when: "a finished programme is never missing anything",
        sources: Sources().with {
            $0.home.stopsAt = .zero
            $0.home.endsWithList = true
            $0.home.latency = { .seconds($0.url.contains("seg102") ? 9 : 0) }
            $0.home.instead = { request, now in
                request.url.contains("seg102") && now < .seconds(50) ? failed(.timedOut, request) : nil
            }
        }, seconds: 99, backups: 0, fillsAfter: .init(.halves(3)), delivers: "h100 h101 x1 |h103 h104 h105 .",
        end: .drained),
    ChannelRow(
        when: "ENDLIST of the upstream ends the channel",
        sources: Sources().with {
            $0.home.stopsAt = .seconds(12)
            $0.home.endsWithList = true
        }, seconds: 40, delivers: "h104 h105 h106 h107 .", end: .drained),
    ChannelRow(
        when: "the list goes on and every segment of it is refused: the backup takes over where the upstream stopped",
        sources: Sources().with {
            $0.home.instead = withoutMedia(14..<900)
            $0.home.tags = dated()
            $0.one.tags = dated()
        }, seconds: 60, delivers: "h104 h105 h106 h107 x1 x1 x1 x1 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "from one on every segment hangs",
        sources: Sources().with {
            $0.home.latency = { request in
                let hangs = request.purpose == .segment && !["104", "105", "106"].contains { request.url.contains($0) }
                return hangs ? .seconds(99) : .milliseconds(50)
            }
        }, seconds: 60, delivers: "h104 h105 h106 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "the upstream's key is another one for a while",
        sources: Sources().with {
            $0.home.tags = dated()
            $0.one.tags = dated()
        }, seconds: 60, becomes: unusable(14..<900),
        delivers: "h104 h105 h106 h107 h108 h109 h110 h111 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "neither can what the first backup has be used: the second takes over",
        sources: Sources().with { $0.home.instead = withoutMedia(14..<900) }, seconds: 90,
        becomes: unusable(0..<900, of: 1, .unreadable),
        delivers: "h104 h105 h106 h107 x1 x1 x1 x1 x1 b110 b111 b112 b113 b114 b115 b116 b117 b118 b119"),
    ChannelRow(
        when: "no segment was ever to be had",
        sources: Sources().with { $0.home.instead = withoutMedia(0..<900) }, seconds: 60,
        delivers: "x1 x1 x1 x1 x1 a106 a107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "one segment is lost, and then one cannot be used: no outage",
        sources: Sources().with { $0.home.instead = withoutMedia(14..<20) }, seconds: 60, fillsAfter: .init(.halves(7)),
        becomes: unusable(30..<36),
        delivers: "h104 h105 h106 h107 x1 |h109 h110 h111 h112 h113 h114"),
    ChannelRow(
        when: "no segment for a while, and nobody to stand in",
        sources: Sources().with { $0.home.instead = withoutMedia(14..<60) }, seconds: 80, backups: 0,
        fillsAfter: .init(.halves(7)),
        delivers: "h104 h105 h106 h107 x1 x1 x1 - x1 - x1 - x1 - x1 - |h115 h116 h117 h118"),
    ChannelRow(
        when: "no segment for longer than is put up with",
        sources: Sources().with { $0.home.instead = withoutMedia(14..<900, status: 403) }, seconds: 200, backups: 0,
        giveUp: .seconds(60), delivers: "h104 h105 h106 h107 x1 x1 x1 x1 x1 x1 x1 x1 x1 x1",
        end: .gaveUp(
            TrackerError(
                .nothingUsable(for: .milliseconds(65950), .lost(.unavailable(status: 403))), url: Sources.home))),
    ChannelRow(
        when: "no segment of any source for longer than is put up with",
        sources: Sources().with {
            $0.home.instead = withoutMedia(14..<900)
            $0.one.instead = withoutMedia(0..<900)
            $0.two.instead = down(0..<900)
        }, seconds: 200, giveUp: .seconds(60), delivers: "h104 h105 h106 h107 x1 x1 x1 x1 x1 x1 x1 x1 x1",
        end: .gaveUp(
            TrackerError(
                .nothingUsable(for: .seconds(60), .lost(.unavailable(status: 404))), url: Sources.home))),
    ChannelRow(
        when: "the backup ends while the upstream is away: its list is not published again",
        sources: Sources().with {
            $0.home.instead = down(14..<900)
            $0.one.stopsAt = .seconds(48)
            $0.one.endsWithList = true
        }, seconds: 120, backups: 1, fillsAfter: .init(.halves(7)),
        delivers: "h104 h105 h106 h107 - - a109 a110 a111 a112 a113 . - - - - - - - -"),
]

@Test(arguments: channelRows)
private func aChannelDelivers(row: ChannelRow) async throws {
    let run = try await ChannelRun(
        row.sources, seconds: row.seconds, backups: row.backups, giveUp: row.giveUp, fillsAfter: row.fillsAfter,
        becomes: row.becomes)
    #expect(run.trace == row.delivers)
    #expect(run.end == row.end)
}

/// Channels that an earlier process published up to segment 105, and whose upstream is not there at first.
private let resumedRows:
    [(when: String, home: Range<Int>, backups: Int, giveUp: Duration?, seconds: Int, trace: String, end: SessionEnd?)] =
        [
            ("it is there", 0..<0, 0, nil, 8, "h105 h106", nil),
            (
                "it is away for a minute", 0..<60, 0, nil, 68, "- - - - - - - - - - x4 |h110 h111 h112 h113 h114 h115",
                nil
            ),
            (
                "it stays away until nobody waits any longer", 0..<900, 0, .seconds(40), 90, "- - - - - -",
                .failed(TrackerError(.unreachable(.refused), url: Sources.home))
            ),
            ("it stays away, and there is a backup", 0..<900, 1, nil, 12, "- a104 a105 a106", nil),
        ]

@Test(arguments: resumedRows.indices) func aChannelThatIsResumedIsThereBeforeItsUpstream(_ index: Int) async throws {
    let row = resumedRows[index]
    let run = try await ChannelRun(
        Sources().with { $0.home.instead = down(row.home) }, seconds: row.seconds, backups: row.backups,
        giveUp: row.giveUp, fillsAfter: .init(.halves(3)), resuming: JoinPoint(mediaSequence: 105))
    #expect(run.trace == row.trace, "\(row.when)")
    #expect(run.end == row.end, "\(row.when)")
}

@Test func theUpstreamIsTakenBackWhenItWasHealthyForAMinute() async throws {
    let sources = Sources().with { $0.home.instead = down(14..<80, 100..<110) }
    let run = try await ChannelRun(sources, seconds: 260)
    #expect(run.switches == [1, 0])
    let home = try #require(run.times { $0 == .sourceSwitched(to: 0, url: Sources.home) }.first)
    // It was late once more at 100 s, so the minute is counted from when it was on again after that.
    #expect(home > .seconds(170) && home < .seconds(190), "\(home)")
    let words = run.trace.split(separator: " ")
    #expect(words.filter { $0.hasPrefix("h") }.count == Set(words.filter { $0.hasPrefix("h") }).count, "none twice")
    #expect(words.last?.hasPrefix("h") == true)
    #expect(run.status?.failover?.source == 0 && run.status?.failover?.switches == 2)
}

/// Its list is well all the while, and would be returned to every minute.
@Test func theUpstreamIsNotTakenBackWhileItsMediaCannotBeUsed() async throws {
    let run = try await ChannelRun(Sources(), seconds: 400, becomes: unusable(14..<250))
    #expect(run.switches == [1, 0])
    let home = try #require(run.times { $0 == .sourceSwitched(to: 0, url: Sources.home) }.first)
    #expect(home > .seconds(250), "\(home)")
    let useless = run.times { if case .sourceFailed(0, _) = $0 { true } else { false } }
    #expect(useless.count > 0, "told")
}

@Test func byDatesNothingIsLostOrRepeatedOnTheWayThereAndBack() async throws {
    let sources = Sources().with {
        $0.home.instead = down(14..<80)
        $0.home.tags = dated()
        $0.one.tags = dated()
    }
    let run = try await ChannelRun(sources, seconds: 260)
    #expect(run.switches == [1, 0])
    let numbers = run.trace.split(separator: " ").compactMap { Int($0.drop { !$0.isNumber }) }
    #expect(numbers.count > 40 && zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(run.trace)")
}

/// Upstream and backup end while the upstream cannot be reached; when it is back nothing of it is owed.
@Test func aChannelEndsWithItsUpstreamAlsoWhenABackupPublishedTheEnd() async throws {
    let sources = Sources().with {
        for origin in [\Sources.home, \.one] {
            $0[keyPath: origin].tags = dated()
            $0[keyPath: origin].stopsAt = .seconds(48)
            $0[keyPath: origin].endsWithList = true
        }
        $0.home.instead = down(14..<90)
    }
    let run = try await ChannelRun(sources, seconds: 260, backups: 1)
    #expect(run.end == .drained)
    let numbers = run.trace.split(separator: " ").compactMap { Int($0.drop { !$0.isNumber }) }
    #expect(numbers.last == 113 && zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(run.trace)")
    #expect(run.trace.hasSuffix("."), "\(run.trace)")
}

/// The backup dies, and the upstream that is taken back has one segment more and an ENDLIST by then.
@Test func nothingIsAskedForOnceTheChannelHasEnded() async throws {
    let sources = Sources().with {
        $0.home.instead = down(14..<100)
        $0.home.windowLength = 1
        $0.home.stopsAt = .seconds(90)
        $0.home.endsWithList = true
        $0.one.instead = down(60..<900)
    }
    let run = try await ChannelRun(sources, seconds: 400, backups: 1)
    #expect(run.switches == [1, 0] && run.end == .drained, "\(run.trace)")
    let ended = try #require(run.events.last?.at)
    #expect(run.requests.allSatisfy { $0.at < ended })
}

/// A person who looks at the counts an hour later has to find the fault that was.
@Test func whatWasCountedOfASourceStaysWhenAnotherTakesOver() async throws {
    let sources = Sources().with { $0.home.instead = down(14..<80) }
    let run = try await ChannelRun(sources, seconds: 260)
    #expect(run.switches == [1, 0])
    let status = try #require(run.status)
    let main = try #require(status.renditions.first)
    let delivered = run.trace.split(separator: " ").count { $0 != "-" && $0 != "." }
    #expect(main.counts.delivered == delivered && main.counts.failedLoads > 3)
    #expect(status.faults.values.reduce(0, +) >= main.counts.failedLoads)
}

@Test func whileABackupIsPublishedTheUpstreamsMediaAreNotFetched() async throws {
    let sources = Sources().with { $0.home.instead = down(14..<50) }
    let run = try await ChannelRun(sources, seconds: 100)
    let watched = run.requests.filter { $0.at > .seconds(50) && $0.request.url.hasPrefix("http://home.") }
    #expect(watched.count > 5)
    #expect(watched.allSatisfy { $0.request.purpose != .segment })
}

@Test func backupsAreNotAskedWhileTheUpstreamIsWell() async throws {
    let run = try await ChannelRun(Sources(), seconds: 100)
    #expect(run.requests.allSatisfy { $0.request.url.hasPrefix("http://home.") })
}

@Test func deadSourcesAreTriedEverLessOften() async throws {
    let sources = Sources().with {
        $0.home.instead = down(14..<9000)
        $0.one.instead = down(0..<9000)
        $0.two.instead = down(0..<9000)
    }
    let run = try await ChannelRun(sources, seconds: 1000)
    let tries = run.requests.count { $0.request.purpose == .multivariantPlaylist }
    #expect(tries > 150 && tries < 400, "\(tries)")
    let told = run.times { if case .trialStarted = $0 { true } else { false } }
    #expect(told.count == 2, "each once")
    #expect(run.requests.count < 700, "\(run.requests.count)")
}

/// Every answer takes 0.7 s; what is cancelled is over at once.
@Test func sourcesOnOneHostShareItsConnections() {
    let home = SessionOrigin().with { $0.instead = down(14..<80) }
    var session = ChannelSession(
        upstream: "http://portal.example/1/main.m3u8",
        policy: .init(
            session: .init(variant: .highest, maxConnections: 1), backups: ["http://portal.example/2/main.m3u8"]))
    var inFlight: [FetchID: (request: FetchRequest, at: Duration)] = [:]
    var (mostInFlight, asked, switches): (Int, Int, [Int]) = (0, 0, [])
    var (now, wake): (Duration, Duration?) = (.zero, nil)
    var input = UpstreamSession.Input.start
    while now < .seconds(260) {
        var effects = session.handle(input, at: now)
        for case .deliver(let delivery) in effects {
            effects += session.handle(.delivered(delivery, .published), at: now)
        }
        for case .probe(let delivery) in effects {
            effects += session.handle(.probed(delivery, .published), at: now)
        }
        for effect in effects {
            switch effect {
            case .fetch(let id, let request):
                inFlight[id] = (request, now)
                asked += 1
                mostInFlight = max(mostInFlight, inFlight.count)
            case .cancel(let id): inFlight[id] = nil
            case .wake(let time): wake = time
            case .report(.sourceSwitched(let source, _)): switches.append(source)
            case .report, .deliver, .probe, .end: break
            }
        }
        let next = inFlight.min { $0.value.at < $1.value.at }
        let answerAt = next.map { $0.value.at + .milliseconds(700) } ?? .seconds(1 << 20)
        if let due = wake, due < answerAt {
            (now, wake, input) = (max(now, due), nil, .wake)
        } else if let (id, (request, at)) = next {
            inFlight[id] = nil
            let origin = request.url.contains("/1/") ? home : SessionOrigin()
            (now, input) = (max(now, answerAt), .answered(id, origin.answer(request, at: at).0))
        } else {
            break
        }
    }
    #expect(switches == [1, 0], "there and back")
    #expect(asked > 100 && mostInFlight == 1)
}
