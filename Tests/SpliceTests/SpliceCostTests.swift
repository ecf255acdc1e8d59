import Support

#if DEBUG
    import Metering
    import TestSupport
    import Testing

    @testable import MediaTestSupport
    @testable import Demux
    @testable import Media
    @testable import Mux
    @testable import Splice
    @testable import Transcode

    /// The splice takes steps in proportion to its input, however often clocks and configurations change in it.
    @Suite struct SpliceCostTests {
        typealias Builder = TransportStreamBuilder
        typealias Sample = ElementarySamples

        struct Row: Sendable, CustomTestStringConvertible {
            let when: String
            /// Appends unit `n` of a segment.
            let append: @Sendable (inout Builder, _ n: Int64) -> Void

            var testDescription: String { when }
        }

        /// Steps that do not depend on the size of the input.
        private static let base = 20_000

        static let rows = [
            Row(when: "frames of one period") { builder, n in
                builder.pes(pid: 0x100, pts: n * 3600, n % 25 == 0 ? Sample.idr(1) : Sample.plain(1))
                builder.pes(pid: 0x101, streamID: 0xC0, pts: n * 3600, Sample.adts(1) + Sample.adts(2))
            },
            Row(when: "a clock that jumps with each frame") { builder, n in
                builder.pes(pid: 0x100, pts: n * 10_000_000 % (1 << 33), Sample.idr(1))
                builder.pes(pid: 0x101, streamID: 0xC0, pts: n * 10_000_000 % (1 << 33), Sample.adts(1))
            },
            Row(when: "an audio clock that jumps with each frame") { builder, n in
                builder.pes(pid: 0x100, pts: n * 3600, Sample.idr(1))
                builder.pes(pid: 0x101, streamID: 0xC0, pts: n * 10_000_000 % (1 << 33), Sample.adts(1))
            },
            Row(when: "another audio configuration with each frame") { builder, n in
                builder.pes(pid: 0x100, pts: n * 3600, Sample.idr(1))
                builder.pes(
                    pid: 0x101, streamID: 0xC0, pts: n * 3600,
                    Sample.adts(1, channels: n % 2 == 0 ? 1 : 2) + Sample.adts(2, channels: n % 2 == 0 ? 1 : 2))
            },
            Row(when: "another video configuration with each frame") { builder, n in
                let sets = Sample.sequence(0, fill: UInt8(n % 200)) + Sample.picture(0)
                builder.pes(pid: 0x100, pts: n * 3600, sets + Sample.stream([Sample.slice(1, isIDR: true)]))
                builder.pes(pid: 0x101, streamID: 0xC0, pts: n * 3600, Sample.adts(1))
            },
        ]

        @Test(arguments: rows)
        func twiceAsMuchTakesTwiceAsManySteps(row: Row) throws {
            let steps = try [200, 400, 800].map { count in try StepCounter.steps { _ = try splice(row, count: count) } }
            for (few, many) in zip(steps, steps.dropFirst()) {
                #expect(many <= few * 2 + few / 8 + Self.base, "\(steps)")
            }
        }

        /// Steps between two looks at whether the task was canceled, however long the segment is.
        private static let longestWork = 1_000_000

        @Test(arguments: rows)
        func cancellationIsLookedAtInBetween(row: Row) throws {
            let steps = try [200, 800, 3200].map { count in
                try StepCounter.counter { _ = try splice(row, count: count) }.stepsBetweenLooks
            }
            #expect(steps.allSatisfy { $0 <= Self.longestWork }, "\(steps)")
        }

        /// A task that is canceled at any look ends there, and what it spliced before is what every task splices.
        @Test(arguments: rows)
        func canceledTaskSplicesTheSameUpToThere(row: Row) async throws {
            let counter = StepCounter()
            var whole: [SplicedSegment] = []
            try StepCounter.counter(counter) { whole = try splice(row, count: 50) }
            for look in stride(from: 1, through: counter.looks, by: max(1, counter.looks / 40)) {
                let canceling = StepCounter { number in
                    if number == look { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                }
                let task = Task {
                    var spliced: [SplicedSegment] = []
                    #expect(throws: MediaError(.canceled, section: "none")) {
                        try StepCounter.counter(canceling) { try splice(row, count: 50, into: &spliced) }
                    }
                    return spliced
                }
                let spliced = await task.value.map(\.fragment)
                #expect(canceling.looks == look && whole.map(\.fragment).starts(with: spliced), "look \(look)")
            }
        }

        private func splice(_ row: Row, count: Int64) throws -> [SplicedSegment] {
            var spliced: [SplicedSegment] = []
            try splice(row, count: count, into: &spliced)
            return spliced
        }

        private func splice(_ row: Row, count: Int64, into spliced: inout [SplicedSegment]) throws {
            var engine = SpliceEngine(
                SpliceConfiguration(hasAudioRendition: false, longestSegment: Ticks.seconds(10), wallClock: 1_000_000))
            var builder = Builder()
            for segment in 0..<2 {
                builder.tables([.init(pid: 0x100, type: 0x1B), .init(pid: 0x101, type: 0x0F)])
                for n in 0..<count { row.append(&builder, Int64(segment) * count + n) }
                let input = SegmentInput(rendition: .main, mediaSequence: UInt64(segment), bytes: builder.cut())
                do throws(MediaError) { spliced += try engine.handle(.segment(input)) } catch {
                    if error.reason == .canceled { throw error }
                }
            }
            spliced += try engine.handle(.ended(.main))
        }
    }
#endif
