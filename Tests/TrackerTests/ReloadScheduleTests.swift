import Testing

@testable import Tracker

typealias ReloadRow = (when: String, loads: [(ReloadSchedule.Load, took: Duration)], waits: [Duration?])

/// Target duration 6 s; each load begins when the one before asked for it. Waits count from the start of the load.
let reloadRows: [ReloadRow] = [
    ("grew: the last segment's duration", [(.grew(lastSegment: .seconds(4)), .seconds(1))], [.seconds(4)]),
    ("unchanged: half a target duration", [(.unchanged(longestSegment: .seconds(6)), .seconds(1))], [.seconds(3)]),
    (
        "unchanged, and the tag is padded: half of the longest segment",
        [(.unchanged(longestSegment: .seconds(2)), .zero)], [.seconds(1)]
    ),
    (
        "unchanged, and a segment is longer than announced", [(.unchanged(longestSegment: .seconds(30)), .zero)],
        [.seconds(3)]
    ),
    ("grew, but the answer took longer", [(.grew(lastSegment: .seconds(4)), .seconds(5))], [.seconds(5)]),
    ("a segment longer than announced", [(.grew(lastSegment: .seconds(30)), .zero)], [.seconds(6)]),
    ("a sliver of a segment", [(.grew(lastSegment: .milliseconds(40)), .zero)], [.milliseconds(500)]),
    ("ENDLIST", [(.complete, .zero)], [nil]),
    (
        "failures: less often, but once in a target duration", Array(repeating: (.failed, .zero), count: 6),
        [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(6), .seconds(6)]
    ),
    (
        "a success in between",
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

@Test func aTargetDurationOfZeroDoesNotHammer() {
    var schedule = ReloadSchedule()
    schedule.began(at: .zero)
    #expect(
        schedule.next(after: .unchanged(longestSegment: nil), targetDuration: .zero, at: .zero)
            == ReloadSchedule.shortestWait)
    for _ in 0..<3 {
        #expect(schedule.next(after: .failed, targetDuration: .zero, at: .zero) == ReloadSchedule.shortestWait)
    }
}
