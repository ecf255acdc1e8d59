import Testing

@testable import Media
@testable import Splice

/// For how long the leading track waits for another one.
@Suite struct TrackPatienceTests {
    /// A part of a second of the leading track, that goes on with the track or without it.
    enum Part: Sendable {
        case complete
        /// Without the track, whose newest media ends so many seconds before the part; nil: nobody knows.
        case missing(lag: Int64?)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let parts: [Part]
        /// Whether the track is awaited after each part.
        let isAwaited: [Bool]

        var testDescription: String { when }
    }

    /// The patience is 3 s.
    static let rows = [
        Row(when: "it is on time", parts: [.complete, .complete], isAwaited: [true, true]),
        Row(
            when: "two parts are missing", parts: [.complete, .missing(lag: 0), .missing(lag: 1), .complete],
            isAwaited: [true, true, true, true]),
        Row(
            when: "it has stopped", parts: (0..<6).map { .missing(lag: $0) },
            isAwaited: [true, true, true, false, false, false]),
        Row(
            when: "it has never come", parts: Array(repeating: .missing(lag: nil), count: 5),
            isAwaited: [true, true, true, false, false]),
        Row(
            when: "it comes again, 2 s late", parts: (0..<5).map { .missing(lag: $0) } + [.missing(lag: 2), .complete],
            isAwaited: [true, true, true, false, false, true, true]),
        Row(
            when: "it comes again, later than the patience",
            parts: (0..<5).map { .missing(lag: $0) } + Array(repeating: .missing(lag: 3), count: 3),
            isAwaited: [true, true, true, false, false, false, false, false]),
        Row(
            when: "it comes again on time", parts: (0..<5).map { .missing(lag: $0) } + [.complete, .missing(lag: 0)],
            isAwaited: [true, true, true, false, false, true, true]),
    ]

    @Test(arguments: rows) func awaits(_ row: Row) {
        var patience = TrackPatience(.seconds(3))
        var isAwaited: [Bool] = []
        for (index, part) in row.parts.enumerated() {
            let start = Ticks.seconds(Int64(index))
            let span = AudioVideoMatcher.VideoSpan(
                start: start, end: start + .seconds(1), discontinuitySequence: 0, beginsPeriod: false)
            switch part {
            case .complete: patience.record(span, isComplete: true, lag: nil)
            case .missing(let lag): patience.record(span, isComplete: false, lag: lag.map { .seconds($0) })
            }
            isAwaited.append(patience.isAwaited)
        }
        #expect(isAwaited == row.isAwaited)
    }
}
