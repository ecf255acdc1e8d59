import Playlist
import Testing

@testable import Tracker

private let noon = Int64(1_767_355_200_000)

private func date(_ second: Int) -> ProgramDateTime {
    ProgramDateTime(millisecondsSince1970: noon + Int64(second) * 1000)
}

/// Segments of 2 s, the first one with a date if there is one.
private func list(_ numbers: Range<UInt64>, datedFrom second: Int? = nil) -> MediaPlaylist {
    var list = MediaPlaylist(targetDuration: .seconds(2))
    list.mediaSequence = numbers.lowerBound
    list.segments = numbers.map {
        MediaSegment(uri: "s\($0).ts", duration: .seconds(2), mediaSequence: $0, discontinuitySequence: 0)
    }
    if let second { list.segments[0].programDateTime = date(second) }
    return list
}

private let rows: [(when: String, point: JoinPoint, list: MediaPlaylist, number: UInt64?)] = [
    ("nothing was had", .edge, list(10..<15), nil),
    ("in the middle of the list", JoinPoint(mediaSequence: 12), list(10..<15), 12),
    ("the next one to be listed", JoinPoint(mediaSequence: 15), list(10..<15), 15),
    ("it has left the list", JoinPoint(mediaSequence: 4), list(10..<15), 10),
    ("so long ago that it would be a burst of old news", JoinPoint(mediaSequence: 4), list(100..<105), nil),
    ("at the beginning of a list of minutes", JoinPoint(mediaSequence: 101), list(100..<150), nil),
    ("near enough to its edge", JoinPoint(mediaSequence: 121), list(100..<150), 121),
    ("a number that the upstream has not reached", JoinPoint(mediaSequence: 400), list(10..<15), nil),
    ("the largest number there is", JoinPoint(mediaSequence: .max), list(10..<15), nil),
    ("a date", JoinPoint(date: date(4)), list(10..<15, datedFrom: 0), 12),
    ("dates decide", JoinPoint(date: date(4), mediaSequence: 14), list(10..<15, datedFrom: 0), 12),
    ("an encoder that counts anew", JoinPoint(date: date(4), mediaSequence: 4711), list(0..<5, datedFrom: 0), 2),
    ("dates of another day", JoinPoint(date: date(90_000), mediaSequence: 12), list(10..<15, datedFrom: 0), nil),
    ("a list that lost its dates", JoinPoint(date: date(4), mediaSequence: 13), list(10..<15), 13),
    ("nothing but a date, and none listed", JoinPoint(date: date(4)), list(10..<15), nil),
    ("no segments", JoinPoint(mediaSequence: 12), MediaPlaylist(targetDuration: .seconds(2)), nil),
    ("a target duration of nothing", JoinPoint(mediaSequence: 4), MediaPlaylist(targetDuration: .zero), nil),
]

private let finishedRows: [(when: String, point: JoinPoint, list: MediaPlaylist, number: UInt64?)] = [
    ("nothing was had", .edge, list(10..<15), nil),
    ("long ago by its date", JoinPoint(date: date(4)), list(0..<900, datedFrom: 0), 2),
    ("long ago by its number", JoinPoint(mediaSequence: 4), list(0..<900), 4),
    ("all was had, by its date", JoinPoint(date: date(10)), list(10..<15, datedFrom: 0), 15),
    ("all was had long ago, by its date", JoinPoint(date: date(7200)), list(10..<15, datedFrom: 0), 15),
    ("all was had, by its number", JoinPoint(mediaSequence: 15), list(10..<15), 15),
    ("nothing of it was had, by its date", JoinPoint(date: date(-7200)), list(10..<15, datedFrom: 0), 10),
    ("what was had is not listed any more", JoinPoint(mediaSequence: 4), list(10..<15), nil),
    ("a number that it does not reach: another one", JoinPoint(mediaSequence: 400), list(10..<15), nil),
    ("dates decide", JoinPoint(date: date(4), mediaSequence: 14), list(10..<15, datedFrom: 0), 12),
    ("left for another source", JoinPoint(left: 12), list(10..<15), 12),
    ("left for another source, dated", JoinPoint(date: date(8), left: 12), list(10..<15, datedFrom: 0), 14),
    ("no segments", JoinPoint(date: date(4), mediaSequence: 12), MediaPlaylist(targetDuration: .seconds(2)), nil),
]

@Test(arguments: rows.indices) func aListIsJoinedWhereItWasLeft(_ index: Int) {
    let row = rows[index]
    #expect(row.point.joinNumber(in: row.list) == row.number, "\(row.when)")
}

@Test(arguments: finishedRows.indices) func ofAFinishedListOnlyWhatIsOwedIsTaken(_ index: Int) {
    let row = finishedRows[index]
    var list = row.list
    list.hasEndList = true
    #expect(row.point.joinNumber(in: list) == row.number, "\(row.when)")
    guard let window = list.window else { return }
    var cursor = SegmentCursor(joinsAt: row.point)
    let first = row.number ?? window.lowerBound
    let takes = first < window.upperBound ? [SegmentCursor.Effect.fetch(first..<window.upperBound)] : []
    #expect(cursor.handle(list, at: .zero) == takes + [.ended], "\(row.when)")
}

private let goneRows: [(when: String, point: JoinPoint, list: MediaPlaylist, gone: Range<UInt64>?)] = [
    ("nothing was had", .edge, list(10..<15), nil),
    ("all that is owed is listed", JoinPoint(mediaSequence: 10), list(10..<15), nil),
    ("the list begins behind the last that was shown", JoinPoint(mediaSequence: 9), list(10..<15), nil),
    ("the largest number there is", JoinPoint(mediaSequence: .max), list(10..<15), nil),
    ("some have left the list", JoinPoint(mediaSequence: 4), list(10..<15), 5..<10),
    ("so many that the list is joined at its edge", JoinPoint(mediaSequence: 4), list(100..<105), nil),
    ("by number, of a list with dates", JoinPoint(mediaSequence: 4), list(10..<15, datedFrom: 0), 5..<10),
    ("the time fits", JoinPoint(date: date(-12), mediaSequence: 4), list(10..<15, datedFrom: 0), 5..<10),
    (
        "for hours, and the list is joined at its edge", JoinPoint(date: date(-7200), mediaSequence: 400),
        list(4000..<4020, datedFrom: 0), 401..<4017
    ),
    (
        "an encoder that counts anew, ahead", JoinPoint(date: date(-12), mediaSequence: 4),
        list(4000..<4005, datedFrom: 0), nil
    ),
    ("too few numbers for the time", JoinPoint(date: date(-600), mediaSequence: 4), list(10..<15, datedFrom: 0), nil),
    ("the date is listed", JoinPoint(date: date(4), mediaSequence: 4), list(10..<15, datedFrom: 0), nil),
    ("another source left it", JoinPoint(date: date(-12), left: 4), list(10..<15, datedFrom: 0), nil),
]

@Test(arguments: goneRows.indices) func whatLeftTheListMeanwhileIsLost(_ index: Int) {
    let row = goneRows[index]
    for policy in [CursorPolicy.main, .companion] {
        var cursor = SegmentCursor(policy: policy, joinsAt: row.point)
        let slid = cursor.handle(row.list, at: .zero).filter { if case .slidOut = $0 { true } else { false } }
        let gone = policy == .main ? row.gone : nil
        #expect(slid == (gone.map { [.slidOut(lost: $0)] } ?? []), "\(row.when)")
    }
}

/// Where a source was left says nothing of its list while that is live: the other one has shown what it lists since.
@Test func aLiveListIsNotJoinedWhereItsSourceWasLeft() {
    #expect(JoinPoint(left: 12).joinNumber(in: list(10..<15)) == nil)
}

/// Only the channel's own upstream has its numbers, and only as long as nothing else was published.
@Test func theNumberIsOfTheFirstSourceAndOfTheBeginning() {
    var edge = PublishedEdge(JoinPoint(date: date(0), mediaSequence: 12))
    #expect(edge.joinPoint(of: 0) == JoinPoint(date: date(0), mediaSequence: 12))
    #expect(edge.joinPoint(of: 1) == JoinPoint(date: date(0)))
    var segment = MediaSegment(uri: "s", duration: .seconds(2), mediaSequence: 40, discontinuitySequence: 0)
    segment.programDateTime = date(10)
    edge.advance(past: Delivery(rendition: .main, content: .outageGap(.seconds(2)), source: 1))
    #expect(edge.joinPoint(of: 0).mediaSequence == 12, "nothing came")
    edge.advance(
        past: Delivery(
            rendition: .main, content: .segment(TrackedSegment(segment: segment, url: "", body: [])), source: 1))
    #expect(edge.joinPoint(of: 0) == JoinPoint(date: date(12)))
    #expect(edge.joinPoint(of: 1) == JoinPoint(date: date(12), left: 41))
}
