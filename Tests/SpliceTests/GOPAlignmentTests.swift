import Testing

@testable import MediaTestSupport
@testable import Splice

/// Segment starts (`S` with a sync sample, `m` in the middle of a GOP; `o`: the frames so far have an open tail), and what
/// is held back after them.
private let rows: [(when: String, starts: String, state: GOPAlignment.State, holdback: GOPAlignment.Holdback)] = [
    ("no boundary yet", "", .unknown, .segment),
    ("one aligned boundary", "S", .aligned(needed: 1), .nothing),
    ("the first boundary is in the middle of a GOP", "m", .midGOP(needed: 1, seen: 0), .lastGOP),
    ("aligned after that", "mS", .aligned(needed: 1), .nothing),
    ("broken once", "Sm", .midGOP(needed: 2, seen: 0), .lastGOP),
    ("broken once, half of the aligned boundaries needed", "SmS", .midGOP(needed: 2, seen: 1), .lastGOP),
    ("broken once, then aligned again", "SmSS", .aligned(needed: 2), .nothing),
    ("broken again before that", "SmSm", .midGOP(needed: 2, seen: 0), .lastGOP),
    ("broken twice", "SmSSm", .midGOP(needed: 4, seen: 0), .lastGOP),
    ("an open tail", "So", .aligned(needed: 1), .segment),
    ("three false alarms", "SoSoSoSo", .aligned(needed: 1), .nothing),
    ("an open tail that was none by chance", "SoSoSomSSo", .aligned(needed: 2), .segment),
]

@Test(arguments: rows.indices)
func alignmentIsLearnedFromSegmentStarts(_ index: Int) {
    let row = rows[index]
    var alignment = GOPAlignment()
    for letter in row.starts {
        if letter == "o" {
            alignment.recordTail(isClosed: false)
        } else {
            alignment.recordSegmentStart(isSync: letter == "S")
            alignment.recordTail(isClosed: true)
        }
    }
    #expect(alignment.state == row.state && alignment.holdback == row.holdback, "\(row.when)")
}

@Test func neededBoundariesAreBounded() {
    var alignment = GOPAlignment()
    for _ in 0..<10 {
        for _ in 0..<GOPAlignment.maxBoundariesNeeded { alignment.recordSegmentStart(isSync: true) }
        alignment.recordSegmentStart(isSync: false)
    }
    #expect(alignment.state == .midGOP(needed: GOPAlignment.maxBoundariesNeeded, seen: 0))
}
