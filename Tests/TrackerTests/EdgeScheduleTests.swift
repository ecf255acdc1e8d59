import TestSupport
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

typealias EdgeRow = (when: String, loads: [(at: Double, found: Int)], next: Double)

/// Target duration and segments of 4 s; the first load, at 0, lists three segments. Answers come after 50 ms.
let edgeRows: [EdgeRow] = [
    ("joined: the middle of the first interval", [(0, 3)], 2),
    ("found at the middle: the lower half", [(0, 3), (2, 1)], 5),
    ("nothing at the middle: a quarter of a segment later", [(0, 3), (2, 0)], 3),
    ("nothing twice: the standard's schedule", [(0, 3), (2, 0), (3, 0)], 5),
    ("found after one load without news: between them", [(0, 3), (2, 0), (3, 1)], 6.5),
    ("found after two: the upper part remains", [(0, 3), (2, 0), (3, 0), (5, 1)], 7.5),
    ("no segment was ever listed: the standard's schedule", [(0, 0)], 2),
    ("two segments at once: no later than a segment and a quarter", [(0, 3), (2, 2)], 5),
]

@Test(arguments: edgeRows)
func edgeReloads(when: String, loads: [(at: Double, found: Int)], next: Double) {
    var schedule = EdgeSchedule()
    let times = loads.map { schedule.next(after: load(at: $0.at, found: $0.found)) }
    #expect(times.last == .seconds(next), "\(when)")
}

private func load(
    at time: Double, found: Int, freshness: CacheFreshness = CacheFreshness(), datedEnd: Double? = nil
) -> EdgeSchedule.Load {
    EdgeSchedule.Load(
        began: .seconds(time), ended: .seconds(time + 0.05),
        newSegments: Array(repeating: .seconds(4), count: found), targetDuration: .seconds(4), freshness: freshness,
        datedEnd: datedEnd.map { .seconds($0) }, standard: .seconds(time + (found > 0 ? 4 : 2)))
}

/// A schedule that holds, with the time of its next load. Segments of 4 s are listed 1.5 s after multiples of 4 s.
private func held(finds: Int = 12) -> (schedule: EdgeSchedule, next: Double) {
    var schedule = EdgeSchedule()
    var (time, listed, found) = (3.0, 0, 0)
    while !schedule.isHolding || found < finds {
        let now = Int((time - 1.5) / 4) + 3
        time = schedule.next(after: load(at: time, found: now - listed)).inSeconds
        found += now > listed ? 1 : 0
        listed = now
    }
    return (schedule, time)
}

/// A schedule whose next load is a scout, with the times of the last find and of the scout.
private func heldBeforeAScout() -> (schedule: EdgeSchedule, last: Double, next: Double) {
    var (schedule, next) = held(finds: 12)
    var last = next
    for _ in 0..<12 {
        (last, next) = (next, schedule.next(after: load(at: next, found: 1)).inSeconds)
        if next - last < 3.5 { break }
    }
    return (schedule, last, next)
}

@Suite struct EdgeScheduleTests {
    @Test func holdsJustAfterThePublication() {
        let late = (held().next - 1.5).truncatingRemainder(dividingBy: 4)
        #expect(late > 0 && late < 0.08)
    }

    @Test func missMovesTheOffsetByAStep() {
        var (schedule, next) = held()
        #expect(abs(schedule.next(after: load(at: next, found: 0)).inSeconds - next - 0.25) < 1e-6)
        // The step is a hundredth of a segment, doubled because the miss came soon.
        let after = schedule.next(after: load(at: next + 0.25, found: 1)).inSeconds
        #expect(after - next > 4.06 && after - next < 4.09)
    }

    @Test func stallCostsTwoLoadsMoreAndKeepsTheOffset() {
        var (schedule, next) = held()
        let starts = [0.0, 0.25, 1.25, 3.25, 5.25]
        let waits = starts.map { schedule.next(after: load(at: next + $0, found: 0)).inSeconds - next }
        #expect(zip(waits, [0.25, 1.25, 3.25, 5.25, 7.25]).allSatisfy { abs($0 - $1) < 0.001 }, "\(waits)")
        let after = schedule.next(after: load(at: next + 7.25, found: 2)).inSeconds
        #expect(abs(after - (next + 8)) < 0.3, "\(after - next)")
    }

    @Test func missAfterAScoutIsFoundSoonAndAStallCostsOneLoadMore() {
        var (schedule, _, next) = heldBeforeAScout()
        let planned = schedule.next(after: load(at: next, found: 0)).inSeconds
        #expect(abs(schedule.next(after: load(at: planned, found: 0)).inSeconds - planned - 0.25) < 0.01)
        #expect(abs(schedule.next(after: load(at: planned + 0.25, found: 0)).inSeconds - planned - 2.25) < 0.01)
    }

    @Test func secondMissAtOnceSearchesAnew() {
        var (schedule, next) = held()
        for _ in 0..<2 {
            _ = schedule.next(after: load(at: next, found: 0))
            next = schedule.next(after: load(at: next + 1, found: 1)).inSeconds
        }
        #expect(!schedule.isHolding)
    }

    @Test func exhaustedBudgetLeavesTheStandardUntilARequestIsSaved() {
        var (schedule, next) = held()
        for _ in 0..<4 where !schedule.isExhausted {
            _ = schedule.next(after: load(at: next, found: 0))
            next = schedule.next(after: load(at: next + 1, found: 1)).inSeconds
        }
        var finds = 0
        while schedule.isExhausted, finds < 100 {
            #expect(
                schedule.next(after: load(at: next, found: 0)) == .seconds(next + 2), "no load more than the standard's"
            )
            let after = schedule.next(after: load(at: next + 2, found: 1))
            if schedule.isExhausted { #expect(after == .seconds(next + 6)) }
            (next, finds) = (next + 6, finds + 1)
        }
        #expect(finds > 7 && finds < 25 && !schedule.isHolding, "\(finds)")
    }

    @Test func scoutComesAQuarterEarlierAndFindsAMove() {
        var (schedule, last, next) = heldBeforeAScout()
        #expect(abs(next - last - 3) < 0.01, "a scout")
        var quiet = schedule
        #expect(abs(quiet.next(after: load(at: next, found: 0)).inSeconds - next - 1) < 0.01, "the planned load")
        #expect(quiet.isHolding)
        _ = schedule.next(after: load(at: next, found: 1))
        #expect(!schedule.isHolding)
    }

    @Test func dateIsTriedFirst() {
        var schedule = EdgeSchedule()
        #expect(abs(schedule.next(after: load(at: 3, found: 3, datedEnd: 1)).inSeconds - 5.03) < 1e-6)
        #expect(abs(schedule.next(after: load(at: 5.03, found: 1)).inSeconds - 8.97) < 1e-6)
        var wrong = EdgeSchedule()
        #expect(wrong.next(after: load(at: 3, found: 3, datedEnd: 4000)) == .seconds(5))
    }

    @Test func noLoadWhileACacheRepeatsTheAnswer() {
        let once = CacheFreshness(maxAge: .seconds(1))
        var (schedule, next) = held()
        #expect(schedule.next(after: load(at: next, found: 0, freshness: once)) == .seconds(next + 2.05))
        let aged = CacheFreshness(age: .seconds(1), maxAge: .seconds(3))
        var cached = held().schedule
        #expect(cached.next(after: load(at: next, found: 0, freshness: aged)) == .seconds(next + 2.05))
        let long = CacheFreshness(maxAge: .seconds(30))
        var origin = held().schedule
        let retry = origin.next(after: load(at: next, found: 0, freshness: long)).inSeconds
        #expect(abs(retry - next - 0.25) < 1e-6, "no cache seen")
    }
}

// MARK: - Generated upstreams

typealias LatencyRow = (
    when: String, upstream: PollingSimulation.Upstream, median: Double, p99: Double, requests: Double
)

private func row(
    _ when: String, every duration: Double, median: Double, p99: Double, requests: Double = 1.15, drift: Double = 0,
    prepare: (inout PollingSimulation.Upstream) -> Void = { _ in }, delay: (Int) -> Double = { _ in 0 }
) -> LatencyRow {
    var upstream = PollingSimulation.Upstream(
        every: duration, count: Int(2000 / duration), drift: drift, delay: delay)
    prepare(&upstream)
    return (when, upstream, median, p99, requests)
}

private func irregular(
    _ when: String, median: Double, p99: Double, requests: Double, durations: [Double]
) -> LatencyRow {
    (when, PollingSimulation.Upstream(durations: durations), median, p99, requests)
}

/// The segments of an encoder that cuts at the first key frame after each multiple of `step`.
private func cuts(every step: Double, keyFrames: [Double]) -> [Double] {
    var (last, durations) = (0.0, [Double]())
    for keyFrame in keyFrames where keyFrame >= step && (keyFrame / step).rounded(.down) > (last / step).rounded(.down)
    {
        durations.append(keyFrame - last)
        last = keyFrame
    }
    return durations
}

private func sceneChanges(count: Int) -> [Double] {
    var (generator, time) = (SeededGenerator(seed: 3), 0.0)
    return (0..<count).map { _ in
        defer {
            time += Int.random(in: 0..<10, using: &generator) == 0 ? Double.random(in: 0.5...2, using: &generator) : 2
        }
        return time
    }
}

/// Limits of the added latency, and of the loads per segment, after 150 s.
let latencyRows: [LatencyRow] = [
    row("exact, 1 s", every: 1, median: 0.06, p99: 0.1),
    row("exact, 4 s", every: 4, median: 0.08, p99: 0.12),
    row("exact, 10 s", every: 10, median: 0.2, p99: 0.25),
    row("announced 0.1 % too short", every: 4, median: 0.15, p99: 1.1, drift: 1e-3),
    row("announced 0.1 % too long", every: 4, median: 0.6, p99: 1.2, drift: -1e-3),
    row("two at once", every: 4, median: 0.1, p99: 0.2, requests: 0.65, delay: { $0 % 2 == 0 ? 4 : 0 }),
    row("a tenth of a segment earlier after a while", every: 4, median: 0.45, p99: 0.5, delay: { $0 < 60 ? 0.4 : 0 }),
    row("half a segment earlier after a while", every: 4, median: 0.1, p99: 2.1, delay: { $0 < 60 ? 2 : 0 }),
    row("half a segment later after a while", every: 4, median: 0.1, p99: 2.1, delay: { $0 > 60 ? 2 : 0 }),
    row("a cache with max-age 1", every: 4, median: 0.1, p99: 0.2, prepare: { ($0.maxAge, $0.hasCache) = (1, true) }),
    irregular(
        "one segment in fifteen a quarter longer, the next shorter", median: 0.1, p99: 1.1, requests: 1.25,
        durations: (0..<500).map { [13: 5, 14: 3][$0 % 15] ?? 4 }),
    irregular(
        "a key frame each 1.92 s, cut at multiples of 6 s", median: 0.1, p99: 4, requests: 1.4,
        durations: cuts(every: 6, keyFrames: (0..<1500).map { Double($0) * 1.92 })),
    irregular(
        "a key frame each 2 s, one in ten moved by a scene change, cut at multiples of 6 s", median: 0.15, p99: 3.5,
        requests: 1.3, durations: cuts(every: 6, keyFrames: sceneChanges(count: 1500))),
    row("max-age 1 without a cache", every: 4, median: 0.1, p99: 0.2, prepare: { $0.maxAge = 1 }),
]

@Test(arguments: latencyRows)
func edgeLatency(
    when: String, upstream: PollingSimulation.Upstream, median: Double, p99: Double, requests: Double
) {
    let run = PollingSimulation(upstream)
    let figures = (
        run.percentile(0.5, after: 150), run.percentile(0.99, after: 150), run.requestsPerSegment(after: 150)
    )
    #expect(figures.0 <= median && figures.1 <= p99 && figures.2 <= requests, "\(when): \(figures)")
}

/// Channels that are joined at any moment, whose upstream is some milliseconds late, and says that a cache may repeat its
/// answers: a load a moment before the publication would make a segment two seconds late.
@Test(arguments: [false, true])
func fewSegmentsWaitForACache(isDated: Bool) {
    var generator = SeededGenerator(seed: 9)
    func random(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &generator) }
    var late: [Double] = []
    for _ in 0..<200 {
        let jitter = (0..<60).map { _ in random(0...0.02) }
        var upstream = PollingSimulation.Upstream(every: 4, count: 60, begin: random(0...4)) { jitter[$0] }
        (upstream.roundTrip, upstream.maxAge) = (0.004, 1)
        let join = upstream.publications[3] + random(0.01...3.9)
        let run = PollingSimulation(upstream, joinAt: join, datedEnd: isDated ? upstream.publications[3] : nil)
        late += run.latencies.filter { $0.at > join + 60 && $0.at < join + 150 }.map(\.late)
    }
    let lateCount = late.count { $0 > 1 }
    #expect(late.count > 4000 && lateCount <= 4, "\(lateCount) of \(late.count)")
}

/// A calm upstream, or one that moves and stalls, from a seed.
private struct GeneratedUpstream {
    var upstream: PollingSimulation.Upstream
    /// When the last move or stall is over.
    var calmFrom = 0.0
    let segment: Double
    /// Segments that are listed at once.
    let batch: Int

    init(seed: UInt64, isCalm: Bool) {
        var generator = SeededGenerator(seed: seed)
        func random(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &generator) }
        let segments: [Double] = [1, 2, 4, 6, 10]
        let segment: Double = segments[Int.random(in: 0...4, using: &generator)]
        self.segment = segment
        let batch = Int.random(in: 1...4, using: &generator) == 1 ? 2 : 1
        self.batch = batch
        let (jitter, drift) = (random(0...segment / 50), random(-1e-3...1e-3))
        let count = max(200, Int(900 / segment))
        var (delays, late): ([Double], Double) = ([], 0)
        for number in 0..<count {
            if number % batch == 0 { late = random(0...jitter) }
            delays.append(Double(batch - 1 - number % batch) * segment + late)
        }
        var last = 0
        if !isCalm {
            let (move, by) = (Int.random(in: 30...60, using: &generator), random(-0.9...0.9) * segment)
            for number in move..<count { delays[number] += by }
            let (stall, length) = (Int.random(in: 65...75, using: &generator), random(2...6))
            for number in stall..<min(count, stall + Int(length)) {
                let held: Double = (Double(stall) + length - Double(number)) * segment
                delays[number] = max(delays[number], held)
            }
            last = stall + 8
        }
        upstream = .init(every: segment, count: count, drift: drift, delay: { delays[$0] })
        upstream.roundTrip = random(0.01...0.3)
        if last > 0 { calmFrom = upstream.publications[last] + 60 + 20 * segment }
    }
}

@Test(arguments: 1...60 as ClosedRange<UInt64>)
func edgeKeepsItsBudgetInCalm(seed: UInt64) {
    let generated = GeneratedUpstream(seed: seed, isCalm: true)
    let run = PollingSimulation(generated.upstream)
    // Before the rhythm of two at once is known, the standard's schedule makes three requests for two segments.
    for load in run.loads where generated.batch == 1 || load.at > run.heldAt {
        let minute = load.at..<load.at + 60
        guard minute.upperBound < (run.loads.last?.at ?? 0) else { break }
        let loads = run.loads.filter { minute.contains($0.at) }
        let requests = loads.count
        // A segment may be published before the minute and found in it.
        let found = loads.map(\.found).reduce(0, +)
        let published = max(found, generated.upstream.publications.count { minute.contains($0) })
        let granted = load.at < run.heldAt ? 3.0 : 0
        #expect(Double(requests) <= 1.15 * Double(published) + 2 + granted, "from \(load.at)")
    }
}

@Test(arguments: 1...60 as ClosedRange<UInt64>, [true, false])
func edgeKeepsItsDistancesAndFollows(seed: UInt64, isCalm: Bool) {
    let generated = GeneratedUpstream(seed: seed, isCalm: isCalm)
    let run = PollingSimulation(generated.upstream)
    let shortest = max(generated.segment / 16, 0.25) - 1e-6
    for (load, next) in zip(run.loads, run.loads.dropFirst()) { #expect(next.at - load.at >= shortest) }
    for (index, load) in run.loads.enumerated().dropFirst(4).dropLast() where load.found == 0 {
        guard run.loads[index - 1].found == 0, run.loads[index - 2].found == 0 else { continue }
        #expect(run.loads[index + 1].at - load.at >= max(generated.segment / 2, 0.5) - 1e-6, "after three empty loads")
    }
    let calm = run.latencies.filter { $0.at > max(generated.calmFrom, 60 + 12 * generated.segment) }
    let late = calm.count { $0.late > generated.segment / 3 + generated.upstream.roundTrip }
    #expect(late <= calm.count / 50 + 1, "\(late) of \(calm.count) are late")
}
