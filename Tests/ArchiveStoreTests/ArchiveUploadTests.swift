import StoreTestSupport
import Testing

@testable import ArchiveStore
@testable import LiveRing
@testable import Support

/// Drives an upload whose store does what a row says.
private struct Session {
    var upload = ArchiveUpload(writer: "w")
    var now = Duration.zero
    /// The steps that were begun, in words.
    var steps: [String] = []
    var step: ArchiveUpload.Step?
    var indexes: [IndexKey: ArchiveIndex] = [:]

    init(_ policy: ArchiveUpload.Policy = .init()) {
        upload = ArchiveUpload(policy, writer: "w")
        send(.tick)
        send(.foundNothing)
    }

    mutating func send(_ input: ArchiveUpload.Input) {
        step = upload.handle(input, at: now)
        if let step { steps.append(step.words) }
    }

    /// Carries out all steps.
    mutating func succeed() {
        while let step {
            if case .putIndex(let key, let index) = step { indexes[key] = index }
            if case .putObject(let files, _) = step {
                send(.done(object: "o\(files[0].byteCount)"))
            } else {
                send(.done())
            }
        }
    }

    mutating func publish(_ entries: RingEntry...) {
        send(.published(entries, like: head))
        succeed()
    }

    /// Waits until the step that failed is repeated, and returns how long that took.
    mutating func pause() -> Duration {
        let start = now
        repeat {
            now += .milliseconds(500)
            send(.tick)
        } while step == nil && now - start < .seconds(1000)
        return now - start
    }

    mutating func wait(_ seconds: Int64) {
        now += .seconds(seconds)
        send(.tick)
        succeed()
    }
}

extension ArchiveUpload.Step {
    fileprivate var words: String {
        switch self {
        case .findEnd: "find"
        case .takeName(let change): "name: \(change)"
        case .putShared(let file): file.name
        case .putObject(let files, let key):
            "object \(files.map { "\($0.byteCount - 100)" }.joined(separator: "+")) in \(key.text)"
        case .putIndex(let key, let index): "index \(key.text) of \(index.entries.count)"
        }
    }
}

private let first = "index/2026-01-02T12/w-0.m3u8"

@Suite struct ArchiveUploadTests {
    @Test func joinsSegmentsAndPutsTheIndexOnceInAMinute() {
        var session = Session()
        for n in 0..<6 { session.publish(.numbered(n)) }
        #expect(session.steps == ["find", "init-a.mp4", "object 0+1+2 in \(first)", "object 3+4+5 in \(first)"])
        session.wait(59)
        #expect(session.steps.count == 4)
        session.wait(1)
        #expect(session.steps.last == "index \(first) of 6")
        #expect(session.upload.isFinished && session.upload.counts.storedSegments == 6)
        #expect(session.indexes.values.first?.objects.map(\.name) == ["o100", "o103"])
    }

    @Test func doesNotWaitForeverForTheRestOfAnObject() {
        var session = Session()
        session.publish(.numbered(0))
        session.wait(29)
        #expect(session.steps == ["find"])
        session.wait(1)
        #expect(session.steps.last == "object 0 in \(first)")
    }

    @Test func closingPutsWhatIsThere() {
        var session = Session()
        session.publish(.numbered(0))
        session.send(.closing)
        session.succeed()
        #expect(session.steps.suffix(2) == ["object 0 in \(first)", "index \(first) of 1"])
        #expect(session.upload.isFinished)
    }

    @Test func aNewHourHasAnIndexOfItsOwn() {
        var session = Session()
        for n in 898..<903 { session.publish(.numbered(n)) }
        let (old, new) = ("index/2026-01-02T12/w-898.m3u8", "index/2026-01-02T13/w-900.m3u8")
        #expect(
            session.steps
                == [
                    "find", "init-a.mp4", "object 898+899 in \(old)", "index \(old) of 2",
                    "object 900+901+902 in \(new)",
                ])
    }

    @Test func aDateThatGoesBackBeginsAnIndexToo() {
        var session = Session()
        session.publish(.numbered(0, at: noon), .numbered(1, at: noon.advanced(byMilliseconds: -10_000)))
        session.send(.closing)
        session.succeed()
        #expect(session.indexes.keys.map(\.text).sorted() == ["index/2026-01-02T11/w-1.m3u8", first])
    }

    @Test func anIndexHasALimit() {
        var policy = ArchiveUpload.Policy()
        policy.indexLimit = 4
        var session = Session(policy)
        for n in 0..<7 { session.publish(.numbered(n)) }
        session.send(.closing)
        session.succeed()
        #expect(
            session.indexes.map { "\($0.text) \($1.entries.count)" }.sorted() == [
                "\(first) 4", "index/2026-01-02T12/w-4.m3u8 3",
            ])
    }

    @Test func failuresPauseAndNothingIsLostWhileTheWindowHoldsIt() {
        var session = Session()
        session.send(.published((0..<3).map { .numbered($0) }, like: head))
        var pauses: [Duration] = []
        for _ in 0..<7 {
            session.send(.failed(retryAfter: nil))
            #expect(session.step == nil)
            pauses.append(session.pause())
            #expect(session.steps.last == "init-a.mp4")
        }
        #expect(pauses == [500, 1000, 2000, 4000, 8000, 8000, 8000].map(Duration.milliseconds(_:)))
        session.succeed()
        #expect(session.upload.counts.lostSegments == 0 && session.upload.counts.storedSegments == 3)
    }

    @Test func aStoreSaysHowLongToWaitWithinReason() {
        var session = Session()
        session.send(.published((0..<3).map { .numbered($0) }, like: head))
        session.send(.failed(retryAfter: .seconds(30)))
        #expect(session.pause() == .seconds(30))
        session.send(.failed(retryAfter: .seconds(86_400)))
        #expect(session.pause() == .seconds(120))
    }

    @Test func whatLeavesTheSpoolIsLostAtThatMoment() {
        var session = Session()
        session.send(.published((0..<5).map { .numbered($0) }, like: head))
        session.send(.failed(retryAfter: nil))
        session.send(.evicted(before: 2))
        #expect(session.upload.counts.lostSegments == 2 && session.upload.pendingSegments == 3)
        #expect(session.upload.loss?.isOver == false)
        session.wait(1)
        session.send(.closing)
        session.succeed()
        #expect(session.upload.counts.lostSegments == 2 && session.upload.counts.storedSegments == 3)
        #expect(session.indexes.values.first?.entries.map(\.mediaSequence) == [2, 3, 4])
        let loss = session.upload.loss
        #expect(loss?.isOver == true && loss?.segments == 2 && loss?.first == 0 && loss?.last == 1)
        #expect(loss?.start == noon && loss?.end == noon.advanced(byMilliseconds: 8000))
    }

    /// Two hours of an outage behind a window of a minute.
    @Test func anOutageTakesNoMoreMemoryThanTheWindowAndIsOneLoss() {
        var session = Session()
        session.publish(.numbered(0), .numbered(1), .numbered(2))
        var longest = 0
        for n in 3..<1800 {
            session.now += .seconds(4)
            for input: ArchiveUpload.Input in [
                .evicted(before: UInt64(max(0, n - 15))), .published([.numbered(n)], like: head), .tick,
            ] {
                session.send(input)
                if session.step != nil { session.send(.failed(retryAfter: nil)) }
            }
            longest = max(longest, session.upload.pendingSegments)
        }
        #expect(longest == 16 && session.upload.counts.lostSegments == 1784 - 3)
        #expect(session.upload.loss?.number == 1 && session.upload.loss?.isOver == false)
        session.wait(8)
        session.send(.closing)
        session.succeed()
        let loss = session.upload.loss
        #expect(loss?.number == 1 && loss?.isOver == true && loss?.first == 3 && loss?.last == 1783)
        #expect(session.upload.isFinished && session.upload.counts.storedSegments == 19)
    }

    @Test func aStoreThatIsTooSlowIsOneLossUntilItHasCaughtUp() {
        var session = Session()
        session.send(.published((0..<9).map { .numbered($0) }, like: head))
        session.send(.done())
        session.send(.failed(retryAfter: nil))
        session.send(.evicted(before: 3))
        session.now += .seconds(1)
        session.send(.tick)
        session.send(.done(object: "o103"))
        session.send(.failed(retryAfter: nil))
        session.send(.evicted(before: 7))
        #expect(session.upload.loss?.isOver == false && session.upload.loss?.segments == 4)
        session.wait(1)
        #expect(session.upload.loss?.number == 1 && session.upload.loss?.isOver == true)
    }

    @Test func aFileThatCannotBeReadCostsItsObject() {
        var session = Session()
        session.send(.published((0..<3).map { .numbered($0) }, like: head))
        session.send(.done())
        #expect(session.steps.last == "object 0+1+2 in \(first)")
        session.send(.lost)
        session.succeed()
        #expect(session.upload.counts.lostSegments == 3 && session.upload.pendingSegments == 0)
    }

    @Test func gapsNeedNoObject() {
        var session = Session()
        session.publish(.numbered(0, isGap: true), .numbered(1, isGap: true), .numbered(2, isGap: true))
        session.send(.closing)
        session.succeed()
        #expect(session.steps == ["find", "index \(first) of 3"] && session.upload.counts.lostSegments == 0)
    }

    @Test func largeSegmentsAreNotJoined() {
        var policy = ArchiveUpload.Policy()
        policy.objectBytes = 210
        var session = Session(policy)
        for n in 0..<5 { session.publish(.numbered(n)) }
        #expect(session.steps.suffix(2) == ["object 0+1 in \(first)", "object 2+3 in \(first)"])
    }

    @Test func redirectsNeedAnObjectForEachFile() {
        var policy = ArchiveUpload.Policy()
        policy.objectDuration = .zero
        var session = Session(policy)
        session.publish(.numbered(0), .numbered(1))
        #expect(session.steps.suffix(2) == ["object 0 in \(first)", "object 1 in \(first)"])
    }

    @Test func aRestartContinuesAfterTheLastIndex() {
        var upload = ArchiveUpload(writer: "w")
        #expect(upload.handle(.tick, at: .zero) == .findEnd(writer: "w"))
        #expect(upload.handle(.published((0..<6).map { .numbered($0) }, like: head), at: .zero) == nil)
        var index = head
        for n in 0..<3 { index.append(.numbered(n), isLost: false) }
        let key = IndexKey(hour: IndexKey.hour(of: noon), writer: "w", firstMediaSequence: 0)
        #expect(upload.handle(.foundEnd(key, index, next: 6), at: .zero)?.words == "init-a.mp4")
        #expect(upload.handle(.done(), at: .zero)?.words == "object 3+4+5 in \(first)")
        #expect(upload.loss == nil)
    }

    /// What the spool has, what leaves it before the store answers, what the store has, and what is lost.
    private static let restarts:
        [(when: String, spool: Range<Int>, evicted: UInt64, stored: Int?, lost: ClosedRange<UInt64>?)] = [
            ("the store has all that left", 2..<6, 3, 3, nil),
            ("segments left while the process was down", 5..<9, 0, 3, 3...4),
            ("segments left while the store did not answer", 2..<9, 6, 3, 3...5),
            ("the store has nothing of the first ones", 2..<9, 4, nil, 2...3),
            ("the spool has nothing new", 0..<3, 0, 3, nil),
        ]

    @Test(arguments: restarts)
    func aRestartCountsWhatLeftTheSpoolBefore(
        when: String, spool: Range<Int>, evicted: UInt64, stored: Int?, lost: ClosedRange<UInt64>?
    ) {
        var upload = ArchiveUpload(writer: "w")
        _ = upload.handle(.tick, at: .zero)
        _ = upload.handle(.published(spool.map { .numbered($0) }, like: head), at: .zero)
        _ = upload.handle(.evicted(before: evicted), at: .zero)
        #expect(upload.counts.lostSegments == 0, "\(when)")
        var index = head
        for n in 0..<(stored ?? 0) { index.append(.numbered(n), isLost: false) }
        let key = IndexKey(hour: IndexKey.hour(of: noon), writer: "w", firstMediaSequence: 0)
        _ = upload.handle(
            stored == nil ? .foundNothing : .foundEnd(key, index, next: UInt64(spool.upperBound)), at: .zero)
        #expect(upload.loss.map { $0.first...$0.last } == lost, "\(when)")
        #expect(upload.counts.lostSegments == lost?.count ?? 0, "\(when)")
    }

    @Test func aSpoolThatCountsAnewGetsAnotherName() {
        var upload = ArchiveUpload(writer: "w")
        _ = upload.handle(.tick, at: .zero)
        _ = upload.handle(.published((0..<6).map { .numbered($0) }, like: head), at: .zero)
        var index = head
        for n in 100..<103 { index.append(.numbered(n), isLost: false) }
        let key = IndexKey(hour: IndexKey.hour(of: noon), writer: "w", firstMediaSequence: 100)
        #expect(upload.handle(.foundEnd(key, index, next: 6), at: .zero) == .takeName(.countsAnew))
        #expect(upload.handle(.named("x"), at: .zero)?.words == "init-a.mp4")
        #expect(upload.handle(.done(), at: .zero)?.words == "object 0+1+2 in index/2026-01-02T12/x-0.m3u8")
        #expect(upload.loss == nil)
    }

    @Test func aNameThatAnotherProcessTookIsGivenUpWithItsIndex() {
        var session = Session()
        for n in 0..<6 { session.publish(.numbered(n)) }
        session.now += .seconds(60)
        session.send(.tick)
        #expect(session.steps.last == "index \(first) of 6")
        session.send(.taken)
        #expect(session.steps.last == "name: taken")
        session.send(.named("x"))
        session.succeed()
        session.publish(.numbered(6), .numbered(7), .numbered(8))
        session.wait(60)
        #expect(session.steps.last == "index index/2026-01-02T12/x-0.m3u8 of 9")
    }

    /// An hour of segments of 1 s whose index is put each minute.
    @Test func indexesOfAnHourTakeTenMegabytes() {
        var (session, bytes, puts) = (Session(), 0, 0)
        for n in 0..<3600 {
            session.now += .seconds(1)
            for input in [ArchiveUpload.Input.published([.numbered(n, lasting: 1)], like: head), .tick] {
                session.send(input)
                while let step = session.step {
                    if case .putIndex(_, let index) = step { (bytes, puts) = (bytes + index.text.count, puts + 1) }
                    session.send(.done(object: String(repeating: "0a", count: 32) + ".m4s"))
                }
            }
        }
        #expect(bytes <= 10_000_000 && puts >= 50, "\(bytes) bytes in \(puts) requests")
    }
}
