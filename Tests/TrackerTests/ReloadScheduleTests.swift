@testable import Fetch
@testable import Support
import Testing

@testable import Tracker

typealias ReloadRow = (when: String, loads: [(ReloadSchedule.Load, took: Duration)], waits: [Duration?])

/// Target duration 6 s; each load begins when the one before asked for it. Waits count from the start of the load.
let reloadRows: [ReloadRow] = [
    ("grew: the last segment's duration", [(.grew(lastSegment: .seconds(4)), .seconds(1))], [.seconds(4)]),
    ("unchanged: half a target duration", [(.unchanged(longestSegment: .seconds(6)), .seconds(1))], [.seconds(3)]),
    (
        "unchanged, target duration longer than the segments: half of the longest segment",
        [(.unchanged(longestSegment: .seconds(2)), .zero)], [.seconds(1)]
    ),
    (
        "unchanged, a segment longer than the target duration", [(.unchanged(longestSegment: .seconds(30)), .zero)],
        [.seconds(3)]
    ),
    ("grew, but the answer took longer", [(.grew(lastSegment: .seconds(4)), .seconds(5))], [.seconds(5)]),
    ("grew by a segment longer than the target duration", [(.grew(lastSegment: .seconds(30)), .zero)], [.seconds(6)]),
    ("grew by a very short segment", [(.grew(lastSegment: .milliseconds(40)), .zero)], [.milliseconds(500)]),
    ("ENDLIST", [(.complete, .zero)], [nil]),
    (
        "failures: doubling waits, up to a target duration", Array(repeating: (.failed, .zero), count: 6),
        [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(6), .seconds(6)]
    ),
    (
        "failures with a success in between",
        [(.failed, .zero), (.failed, .zero), (.unchanged(longestSegment: nil), .zero), (.failed, .zero)],
        [.milliseconds(500), .seconds(1), .seconds(3), .milliseconds(500)]
    ),
]

@Test(arguments: reloadRows)
func reloadWaits(when: String, loads: [(ReloadSchedule.Load, took: Duration)], waits: [Duration?]) {
    var schedule = ReloadSchedule()
    var began = Duration.seconds(100)
    for ((load, took), wait) in zip(loads, waits) {
        schedule.began(at: began)
        let next = schedule.next(after: load, targetDuration: .seconds(6), at: began + took)
        #expect(next == wait.map { began + $0 }, "\(when)")
        began = next ?? began
    }
}

@Test func targetDurationOfZeroWaitsTheShortestWait() {
    var schedule = ReloadSchedule()
    schedule.began(at: .zero)
    #expect(
        schedule.next(after: .unchanged(longestSegment: nil), targetDuration: .zero, at: .zero)
            == ReloadSchedule.shortestWait)
    for _ in 0..<3 {
        #expect(schedule.next(after: .failed, targetDuration: .zero, at: .zero) == ReloadSchedule.shortestWait)
    }
}
