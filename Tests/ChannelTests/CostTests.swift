#if DEBUG
    import Capture
    import ChannelTestSupport
    import Support
    import TestSupport
    import Testing

    /// The steps of a fixed capture through the whole pipeline, against those of the version that was measured last.
    @Suite struct CostTests {
        struct Row: Sendable, CustomTestStringConvertible {
            let when: String
            /// Lower it with a change that saves steps, and raise it only with a reason.
            let steps: Int
            let capture: @Sendable () throws -> CaptureDirectory

            var testDescription: String { when }
        }

        static let rows = [
            Row(when: "a minute of a live channel with ads", steps: 1_857_274) {
                try CaptureDirectory(CaptureFixture.ssaiTagged.directory)
            },
            Row(when: "the same as a finished playlist", steps: 2_151_945) { try finishedCapture(.ssaiTagged) },
        ]

        @Test(arguments: rows)
        func costsAsBefore(row: Row) async throws {
            let counter = StepCounter()
            let capture = try row.capture()
            _ = try await StepCounter.$current.withValue(counter) { try await republish(capture, isChecked: false) }
            #expect(counter.steps * 10 <= row.steps * 11, "more than a tenth above \(row.steps)")
            #expect(counter.steps * 10 >= row.steps * 9, "a tenth below \(row.steps): write down the new number")
        }
    }
#endif
