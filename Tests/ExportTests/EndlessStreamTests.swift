import Playlist
import TestSupport
import Testing

@testable import Channel
@testable import Export
@testable import LiveRing
@testable import Media
@testable import Mux
@testable import Support

/// What one client of an endless stream is sent, on a virtual clock.
@Suite struct EndlessStreamTests {
    /// A ring of segments of 6 s in chunks of 2 s, and one client.
    private struct Scene {
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(60), freeReserve: 0), targetDuration: 6)
        var hasEnded = false
        var stream: EndlessStream
        var now = Duration.zero
        /// The chunks sent, by segment and number, with their times.
        var sent: [(time: Duration, segment: UInt64, chunk: Int)] = []
        /// How often chunks were sent, one or several.
        var parts = 0
        /// The times of the client at which the chunks begin, and what is between them.
        var clock: [(start: Ticks, pause: Ticks)] = []
        var unreadable: Set<UInt64> = []
        var lastLoad: UInt64?

        init(_ policy: EndlessStream.Policy, segments: Int) {
            stream = EndlessStream(policy)
            for _ in 0..<segments { publish() }
        }

        mutating func publish(isGap: Bool = false) {
            let number = index.nextMediaSequence
            let resumePoint = ResumePoint(
                videoDecodeTime: 0, audioDecodeTime: 0, fragmentSequenceNumber: 0,
                presentationEnd: Int64(number + 1) * 540_000, compositionOffset: 18_000)
            if isGap, let newest = index.newest {
                gaps.insert(number)
                _ = index.publish(index.gap(after: newest, lasting: 540_000, resumePoint: resumePoint))
                return
            }
            let segment = NewSegment(
                initialization: InitializationFile(name: "init-a.mp4", bytes: []), header: [], payload: [],
                duration: 540_000, isDiscontinuous: false,
                programDateTime: ProgramDateTime(millisecondsSince1970: Int64(number) * 6000), resumePoint: resumePoint,
                format: SegmentFormat(videoCodec: "avc1.640028"),
                transportStream: TransportStreamPoint(
                    parameters: "", discontinuitySequence: 0, isDiscontinuous: false))
            _ = index.publish(index.entry(for: segment, afterInterruption: false))
        }

        private func transportStream(of number: UInt64) -> TransportSegment {
            let chunks = (0..<3).map { part in
                TransportSegment.Chunk(
                    bytes: part * 188..<(part + 1) * 188, start: .seconds(Int64(number) * 6 + Int64(part) * 2),
                    duration: .seconds(2), isEntryPoint: true, randomAccessPoints: 1)
            }
            return TransportSegment(bytes: [], chunks: chunks)
        }

        /// Performs steps until the client waits or the stream ends; a chunk takes `time` to write.
        /// - Returns: the last step.
        @discardableResult
        mutating func run(writing time: Duration = .zero, limit: Int = 1000) -> EndlessStream.Step {
            for _ in 0..<limit {
                let step = stream.next(index, hasEnded: hasEnded, at: now)
                switch step {
                case .load(let number):
                    lastLoad = number
                    stream.load(
                        unreadable.contains(number) ? nil : transportStream(of: number), lasting: .seconds(6))
                case .send(let number, let bytes, let placement):
                    parts += 1
                    for part in bytes.lowerBound / 188..<bytes.upperBound / 188 {
                        let isFirst = part == bytes.lowerBound / 188
                        sent.append((now, number, part))
                        let start = Ticks.seconds(Int64(number) * 6 + Int64(part) * 2) - placement.shift
                        clock.append((start, isFirst ? start - placement.pause.lowerBound : .zero))
                    }
                    now += time
                case .wait, .end: return step
                }
            }
            return .end
        }

        /// Lets time pass in steps of 100 ms; a segment is published every 6 s.
        mutating func pass(_ duration: Duration, publishing: Bool = true, writing time: Duration = .zero) {
            let end = now + duration
            while now < end {
                run(writing: time, limit: 10)
                now += .milliseconds(100)
                if publishing, now >= .seconds(6) * (published + 1) {
                    published += 1
                    publish()
                }
            }
        }

        /// Media between the first chunk sent and the last that was not sent. Gaps are not listed here for long enough
        /// to be told from evicted segments, so they are remembered.
        var missing: Ticks {
            guard let first = sent.first else { return .zero }
            let numbers = Set(sent.map { $0.segment * 3 + UInt64($0.chunk) })
            let range = (first.segment * 3 + UInt64(first.chunk))...(numbers.max() ?? 0)
            return .seconds(Int64(range.count { !numbers.contains($0) && !gaps.contains($0 / 3) }) * 2)
        }

        private var gaps: Set<UInt64> = []
        private var published = 0
        static func date(of number: Int64) -> ProgramDateTime {
            ProgramDateTime(millisecondsSince1970: number * 6000)
        }

        var chunks: [String] { sent.map { "\($0.segment).\($0.chunk)" } }
    }

    @Test func liveClientBeginsWithBurstAndReserve() {
        var scene = Scene(.init(), segments: 10)
        // 6 s of burst and 6 s of reserve: from the third chunk before the newest segment.
        #expect(scene.run() == .wait(until: .seconds(2)))
        #expect(scene.chunks == ["8.0", "8.1", "8.2", "9.0"])
    }

    @Test func clientJoinsInsideASegment() {
        var scene = Scene(.init(burst: .seconds(2)), segments: 10)
        scene.run()
        #expect(scene.chunks == ["8.2", "9.0"])
    }

    @Test func shortRingIsSentFromItsBeginning() {
        var scene = Scene(.init(), segments: 1)
        #expect(scene.run() == .wait(until: nil))
        #expect(scene.chunks == ["0.0", "0.1", "0.2"])
    }

    @Test func nothingIsSentBeforeTheFirstSegment() {
        var scene = Scene(.init(), segments: 0)
        #expect(scene.run() == .wait(until: nil) && scene.sent.isEmpty)
        scene.hasEnded = true
        #expect(scene.run() == .end)
    }

    @Test func everyChunkIsSentOnceInRealTime() {
        var scene = Scene(.init(), segments: 10)
        scene.pass(.seconds(120))
        let numbers = scene.sent.map { $0.segment * 3 + UInt64($0.chunk) }
        #expect(numbers == Array(numbers[0]..<numbers[0] + UInt64(numbers.count)))
        #expect(abs(scene.sent.count - 63) <= 1)
        #expect(scene.stream.dropped == .init())
        // 2 s of media every 2 s, after the burst.
        let times = scene.sent.dropFirst(4).map(\.time)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs(($1 - $0 - .seconds(2)).components.seconds) == 0 })
    }

    @Test func clientThatStopsLosesWholeChunksAndJoinsAnew() {
        var scene = Scene(.init(), segments: 10)
        scene.pass(.seconds(20))
        let before = scene.sent.count
        // The client stops for a minute: the chunk under way takes as long.
        scene.run(writing: .seconds(60), limit: 1)
        for _ in 0..<10 { scene.publish() }
        scene.now += .seconds(60)
        scene.run()
        #expect(scene.stream.dropped.jumps == 1)
        #expect(scene.stream.dropped.duration == scene.missing && scene.missing > .seconds(20))
        #expect(scene.sent.count > before)
        #expect(scene.sent.last.map { scene.index.nextMediaSequence - $0.segment <= 2 } == true)
    }

    @Test func outageIsNoFaultOfTheClient() {
        var scene = Scene(.init(), segments: 10)
        scene.pass(.seconds(12))
        scene.pass(.seconds(100), publishing: false)
        #expect(scene.run() == .wait(until: nil))
        scene.pass(.seconds(30))
        #expect(scene.stream.dropped == .init())
        let numbers = scene.sent.map { $0.segment * 3 + UInt64($0.chunk) }
        #expect(numbers == Array(numbers[0]..<numbers[0] + UInt64(numbers.count)))
    }

    @Test func gapsAndUnreadableSegmentsAreSkipped() {
        var scene = Scene(.init(pace: .none, burst: .seconds(100)), segments: 3)
        scene.publish(isGap: true)
        scene.publish()
        scene.unreadable = [1]
        #expect(scene.run() == .wait(until: nil))
        #expect(scene.chunks == ["0.0", "0.1", "0.2", "2.0", "2.1", "2.2", "4.0", "4.1", "4.2"])
        #expect(scene.stream.dropped.unreadableSegments == 1)
        #expect(scene.stream.dropped.duration == .seconds(6))
    }

    @Test func chunksThatContinueEachOtherAreSentAtOnceWithoutAPace() {
        var scene = Scene(.init(pace: .none, burst: .seconds(100)), segments: 3)
        scene.run()
        #expect(scene.sent.count == 9 && scene.parts == 3)
    }

    @Test func clockRunsOnWhereMediaIsMissing() {
        var scene = Scene(.init(pace: .none, burst: .seconds(100)), segments: 3)
        for _ in 0..<4 { scene.publish(isGap: true) }
        scene.publish()
        scene.publish()
        scene.unreadable = [1]
        scene.run()
        #expect(scene.chunks == ["0.0", "0.1", "0.2", "2.0", "2.1", "2.2", "7.0", "7.1", "7.2", "8.0", "8.1", "8.2"])
        let expected = (0..<12).map { Ticks.seconds(2 * $0) + Ticks.milliseconds(200 * ($0 / 3 - ($0 >= 9 ? 1 : 0))) }
        #expect(scene.clock.map(\.start) == expected)
        #expect(scene.clock.indices.filter { scene.clock[$0].pause > .zero } == [3, 6])
    }

    @Test func clockRunsOnAfterAJump() {
        var scene = Scene(.init(), segments: 10)
        scene.pass(.seconds(20))
        scene.run(writing: .seconds(60), limit: 1)
        for _ in 0..<10 { scene.publish() }
        scene.run()
        #expect(scene.stream.dropped.jumps == 1 && scene.clock.count { $0.pause == .milliseconds(200) } == 1)
        #expect(zip(scene.clock, scene.clock.dropFirst()).allSatisfy { $1.start - $0.start == .seconds(2) + $1.pause })
    }

    /// What is sent is the media before the outage, and then at once what comes after it.
    @Test func clientThatJoinsInAnOutageGetsTheMediaBeforeIt() {
        var scene = Scene(.init(), segments: 10)
        for _ in 0..<5 { scene.publish(isGap: true) }
        #expect(scene.run() == .wait(until: .seconds(2)))
        #expect(scene.chunks == ["8.0", "8.1", "8.2", "9.0"])
        scene.now = .seconds(20)
        #expect(scene.run() == .wait(until: nil) && scene.chunks.last == "9.2")
        scene.publish()
        scene.run()
        #expect(scene.chunks.last == "15.0" && scene.sent.last?.time == .seconds(20))
        #expect(scene.stream.dropped == .init())
    }

    @Test func gapInTheRewindTakesNoTime() {
        var scene = Scene(.init(start: .segment(0, offset: .zero), longestLag: nil), segments: 2)
        for _ in 0..<3 { scene.publish(isGap: true) }
        for _ in 0..<5 { scene.publish() }
        scene.pass(.seconds(30), publishing: false)
        // 12 s of media and the burst, then the media after the gap.
        #expect(scene.sent.first { $0.segment == 5 }.map { $0.time <= .seconds(7) } == true)
    }

    @Test func rewindWhoseEndIsToComeRunsUpToIt() {
        var scene = Scene(
            .init(start: .segment(8, offset: .zero), longestLag: nil, end: Scene.date(of: 13)), segments: 10)
        scene.pass(.seconds(30))
        #expect(scene.sent.last?.segment == 12 && scene.sent.last?.chunk == 2)
        // The last chunk is not sent before its time.
        #expect(scene.sent.last.map { $0.time >= .seconds(22) } == true)
        #expect(scene.run() == .end)
    }

    /// The end is between two segments: nothing has to come after the last of the range.
    @Test func rangeEndsWithItsLastSegment() {
        var scene = Scene(
            .init(start: .segment(8, offset: .zero), pace: .none, longestLag: nil, end: Scene.date(of: 10)),
            segments: 10)
        #expect(scene.run() == .end && scene.sent.count == 6)
    }

    @Test func streamMayBeginWithWhatAProcessPublishes() {
        var scene = Scene(.init(start: .published(from: 10), pace: .none), segments: 10)
        #expect(scene.run() == .wait(until: nil) && scene.sent.isEmpty)
        scene.publish()
        scene.publish()
        scene.run()
        #expect(scene.sent.map(\.segment) == [10, 10, 10, 11, 11, 11])
    }

    @Test func rewindIsSentUpToItsEnd() {
        var scene = Scene(
            .init(start: .segment(2, offset: .seconds(3)), pace: .none, longestLag: nil, end: Scene.date(of: 4)),
            segments: 10)
        #expect(scene.run() == .end)
        #expect(scene.chunks == ["2.1", "2.2", "3.0", "3.1", "3.2"])
    }

    @Test func rewindRunsAtItsSpeed() {
        var scene = Scene(
            .init(start: .segment(0, offset: .zero), pace: .realTime(percent: 200), longestLag: nil), segments: 10)
        #expect(scene.run() == .wait(until: .seconds(1)))
        scene.pass(.seconds(10), publishing: false)
        #expect(scene.sent.count == 13)
    }

    @Test func clientWhoseSegmentWasEvictedJoinsAnew() {
        var scene = Scene(.init(longestLag: nil), segments: 10)
        scene.run()
        for _ in 0..<40 { scene.publish() }
        scene.now += .seconds(1)
        scene.run()
        #expect(scene.stream.dropped.jumps == 1)
        #expect(scene.stream.dropped.duration == scene.missing && scene.missing > .seconds(100))
        #expect(scene.sent.last.map { scene.index.nextMediaSequence - $0.segment <= 2 } == true)
    }

    @Test func endOfTheChannelIsTheEndOfTheStream() {
        var scene = Scene(.init(pace: .none), segments: 3)
        scene.hasEnded = true
        #expect(scene.run() == .end)
        #expect(scene.chunks.last == "2.2")
    }

    /// Whatever the client and the upstream do, what is sent rises, and is whole.
    @Test(arguments: 1...50) func chunksRise(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var scene = Scene(
            .init(longestLag: Bool.random(using: &random) ? .seconds(20) : nil),
            segments: Int.random(in: 0...12, using: &random))
        for _ in 0..<300 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: scene.publish()
            case 1: scene.publish(isGap: true)
            case 2: scene.unreadable.insert(scene.index.nextMediaSequence)
            case 3: scene.now += .milliseconds(.random(in: 0...20_000, using: &random))
            default: scene.run(writing: .milliseconds(.random(in: 0...9000, using: &random)), limit: 5)
            }
        }
        let numbers = scene.sent.map { $0.segment * 3 + UInt64($0.chunk) }
        // A rejoin may be at a chunk that was sent, if nothing newer has come.
        let backSteps = zip(numbers, numbers.dropFirst()).count { $0.0 >= $0.1 }
        #expect(backSteps == 0, "\(numbers)")
        // What is missing is counted, to the tick, when something is sent after it.
        if scene.sent.count > 1, scene.sent.last?.segment == scene.index.nextMediaSequence - 1 {
            #expect(scene.stream.dropped.duration == scene.missing)
        }
    }
}
