import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

private let noon = Int64(1_767_355_200_000)

private func date(_ second: Int) -> ProgramDateTime {
    ProgramDateTime(millisecondsSince1970: noon + Int64(second) * 1000)
}

/// Returns a playlist of segments of 2 s, the first one with a date if `second` is given.
private func playlist(_ numbers: Range<UInt64>, datedFrom second: Int? = nil) -> MediaPlaylist {
    var playlist = MediaPlaylist(targetDuration: .seconds(2))
    playlist.mediaSequence = numbers.lowerBound
    playlist.segments = numbers.map {
        MediaSegment(uri: "s\($0).ts", duration: .seconds(2), mediaSequence: $0, discontinuitySequence: 0)
    }
    if let second { playlist.segments[0].programDateTime = date(second) }
    return playlist
}

private let rows: [(when: String, point: JoinPoint, playlist: MediaPlaylist, number: UInt64?)] = [
    ("nothing was received", .edge, playlist(10..<15), nil),
    ("in the middle of the playlist", JoinPoint(mediaSequence: 12), playlist(10..<15), 12),
    ("the next one to be listed", JoinPoint(mediaSequence: 15), playlist(10..<15), 15),
    ("the segment has left the playlist", JoinPoint(mediaSequence: 4), playlist(10..<15), 10),
    ("so long ago that joining would be a burst of old media", JoinPoint(mediaSequence: 4), playlist(100..<105), nil),
    ("at the beginning of a playlist of minutes", JoinPoint(mediaSequence: 101), playlist(100..<150), nil),
    ("near the edge of a playlist of minutes", JoinPoint(mediaSequence: 121), playlist(100..<150), 121),
    ("a number that the upstream has not reached", JoinPoint(mediaSequence: 400), playlist(10..<15), nil),
    ("the largest number", JoinPoint(mediaSequence: .max), playlist(10..<15), nil),
    ("a date", JoinPoint(date: date(4)), playlist(10..<15, datedFrom: 0), 12),
    ("dates take precedence", JoinPoint(date: date(4), mediaSequence: 14), playlist(10..<15, datedFrom: 0), 12),
    ("encoder with restarted numbers", JoinPoint(date: date(4), mediaSequence: 4711), playlist(0..<5, datedFrom: 0), 2),
    ("dates of another day", JoinPoint(date: date(90_000), mediaSequence: 12), playlist(10..<15, datedFrom: 0), nil),
    ("playlist without its dates", JoinPoint(date: date(4), mediaSequence: 13), playlist(10..<15), 13),
    ("a date only, and a playlist without dates", JoinPoint(date: date(4)), playlist(10..<15), nil),
    ("no segments", JoinPoint(mediaSequence: 12), MediaPlaylist(targetDuration: .seconds(2)), nil),
    ("target duration 0", JoinPoint(mediaSequence: 4), MediaPlaylist(targetDuration: .zero), nil),
]

private let finishedRows: [(when: String, point: JoinPoint, playlist: MediaPlaylist, number: UInt64?)] = [
    ("nothing was received", .edge, playlist(10..<15), nil),
    ("long ago, by date", JoinPoint(date: date(4)), playlist(0..<900, datedFrom: 0), 2),
    ("long ago, by number", JoinPoint(mediaSequence: 4), playlist(0..<900), 4),
    ("everything received, by date", JoinPoint(date: date(10)), playlist(10..<15, datedFrom: 0), 15),
    ("everything received long ago, by date", JoinPoint(date: date(7200)), playlist(10..<15, datedFrom: 0), 15),
    ("everything received, by number", JoinPoint(mediaSequence: 15), playlist(10..<15), 15),
    ("nothing received, by date", JoinPoint(date: date(-7200)), playlist(10..<15, datedFrom: 0), 10),
    ("the number is not listed any more", JoinPoint(mediaSequence: 4), playlist(10..<15), nil),
    ("a number after the last listed: another playlist", JoinPoint(mediaSequence: 400), playlist(10..<15), nil),
    ("dates take precedence", JoinPoint(date: date(4), mediaSequence: 14), playlist(10..<15, datedFrom: 0), 12),
    ("left for another source", JoinPoint(leftAt: 12), playlist(10..<15), 12),
    ("left for another source, with dates", JoinPoint(date: date(8), leftAt: 12), playlist(10..<15, datedFrom: 0), 14),
    ("no segments", JoinPoint(date: date(4), mediaSequence: 12), MediaPlaylist(targetDuration: .seconds(2)), nil),
]

@Test(arguments: rows.indices) func joinNumberOfLivePlaylist(_ index: Int) {
    let row = rows[index]
    #expect(row.point.joinNumber(in: row.playlist) == row.number, "\(row.when)")
}

@Test(arguments: finishedRows.indices) func finishedPlaylistIsFetchedFromTheJoinPointToItsEnd(_ index: Int) {
    let row = finishedRows[index]
    var playlist = row.playlist
    playlist.hasEndList = true
    #expect(row.point.joinNumber(in: playlist) == row.number, "\(row.when)")
    guard let window = playlist.window else { return }
    var cursor = SegmentCursor(joinPoint: row.point)
    let first = row.number ?? window.lowerBound
    let fetches = first < window.upperBound ? [SegmentCursor.Effect.fetch(first..<window.upperBound)] : []
    #expect(cursor.handle(playlist, at: .zero) == fetches + [.ended], "\(row.when)")
}

private typealias LateJoinRow = (
    when: String, point: JoinPoint, playlists: [MediaPlaylist], last: [SegmentCursor.Effect]
)

private let lateJoinRows: [LateJoinRow] = [
    (
        "an edge that lags, by date", JoinPoint(date: date(12)),
        [playlist(10..<13, datedFrom: 0), playlist(10..<15, datedFrom: 0), playlist(10..<18, datedFrom: 0)],
        [.fetch(16..<18)]
    ),
    (
        "the next segment, by number", JoinPoint(mediaSequence: 15), [playlist(10..<15), playlist(11..<16)],
        [.fetch(15..<16)]
    ),
    (
        "all that was listed was received", JoinPoint(date: date(12)),
        [playlist(10..<13, datedFrom: 0), playlist(10..<16, datedFrom: 0)], []
    ),
]

/// Until a playlist lists something new, each playlist is joined like the first one.
@Test(arguments: lateJoinRows.indices) func playlistsWithoutNewSegmentsAreNotJoined(_ index: Int) {
    let row = lateJoinRows[index]
    var cursor = SegmentCursor(joinPoint: row.point)
    let all = row.playlists.enumerated().map { cursor.handle($1, at: .seconds(2 * $0)) }
    let before = Array(repeating: [SegmentCursor.Effect](), count: all.count - 1)
    #expect(all == before + [row.last], "\(row.when)")
}

private let lostRows: [(when: String, point: JoinPoint, playlist: MediaPlaylist, lost: Range<UInt64>?)] = [
    ("nothing was received", .edge, playlist(10..<15), nil),
    ("every missing segment is listed", JoinPoint(mediaSequence: 10), playlist(10..<15), nil),
    ("the playlist begins after the first missing segment", JoinPoint(mediaSequence: 9), playlist(10..<15), nil),
    ("the largest number", JoinPoint(mediaSequence: .max), playlist(10..<15), nil),
    ("some segments have left the playlist", JoinPoint(mediaSequence: 4), playlist(10..<15), 5..<10),
    ("so many that the playlist is joined at its edge", JoinPoint(mediaSequence: 4), playlist(100..<105), nil),
    ("by number, playlist with dates", JoinPoint(mediaSequence: 4), playlist(10..<15, datedFrom: 0), 5..<10),
    (
        "elapsed time fits the numbers", JoinPoint(date: date(-12), mediaSequence: 4), playlist(10..<15, datedFrom: 0),
        5..<10
    ),
    (
        "for hours, so that the playlist is joined at its edge", JoinPoint(date: date(-7200), mediaSequence: 400),
        playlist(4000..<4020, datedFrom: 0), 401..<4017
    ),
    (
        "encoder with restarted numbers that are ahead", JoinPoint(date: date(-12), mediaSequence: 4),
        playlist(4000..<4005, datedFrom: 0), nil
    ),
    (
        "too few numbers for the elapsed time", JoinPoint(date: date(-600), mediaSequence: 4),
        playlist(10..<15, datedFrom: 0), nil
    ),
    ("the date is listed", JoinPoint(date: date(4), mediaSequence: 4), playlist(10..<15, datedFrom: 0), nil),
    ("left for another source", JoinPoint(date: date(-12), leftAt: 4), playlist(10..<15, datedFrom: 0), nil),
]

@Test(arguments: lostRows.indices) func segmentsThatLeftThePlaylistMeanwhileAreLost(_ index: Int) {
    let row = lostRows[index]
    for policy in [CursorPolicy.main, .companion] {
        var cursor = SegmentCursor(policy: policy, joinPoint: row.point)
        let slid = cursor.handle(row.playlist, at: .zero).filter { if case .slidOut = $0 { true } else { false } }
        let lost = policy == .main ? row.lost : nil
        #expect(slid == (lost.map { [.slidOut(lost: $0)] } ?? []), "\(row.when)")
    }
}

/// A live playlist is not joined where its source was left: the other source has published later segments.
@Test func livePlaylistIgnoresWhereItsSourceWasLeft() {
    #expect(JoinPoint(leftAt: 12).joinNumber(in: playlist(10..<15)) == nil)
}

/// The resume point's number applies to the primary source only, until something is published.
@Test func joinPointHasTheNumberOfThePrimaryUntilSomethingIsPublished() {
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
    #expect(edge.joinPoint(of: 1) == JoinPoint(date: date(12), leftAt: 41))
}

private let minute = Duration.seconds(60)

/// Segments of 2 s; `number` is that of the first one fetched.
private let repeatableRows: [(when: String, point: JoinPoint, playlist: MediaPlaylist, number: UInt64, is: Duration)] =
    [
        ("the live edge", .edge, playlist(10..<15), 12, minute),
        ("left for another source", JoinPoint(leftAt: 12), playlist(10..<15), 12, minute),
        ("the segment of the resume point", JoinPoint(mediaSequence: 12), playlist(10..<15), 12, minute),
        ("the segment after it", JoinPoint(mediaSequence: 12), playlist(13..<15), 13, .zero),
        ("numbers that are not listed any more", JoinPoint(mediaSequence: 4000), playlist(10..<15), 12, minute),
        ("a date", JoinPoint(date: date(8)), playlist(10..<15, datedFrom: 0), 14, .seconds(4)),
        ("a date that is not listed", JoinPoint(date: date(-7200)), playlist(10..<15, datedFrom: 0), 12, minute),
        ("a date, of a playlist without dates", JoinPoint(date: date(8)), playlist(10..<15), 12, minute),
    ]

@Test(arguments: repeatableRows)
func segmentsMayRepeatWhatCanBeListedAgain(
    when: String, point: JoinPoint, playlist: MediaPlaylist, number: UInt64, is expected: Duration
) {
    #expect(point.repeatable(in: playlist, from: number) == expected, "\(when)")
}

private let resetMethodRows: [(method: SegmentCursor.RejoinMethod, is: Duration)] = [
    (.url, .zero), (.programDateTime, .seconds(4)), (.previousOrigin, minute), (.liveEdge, .seconds(18)),
]

@Test(arguments: resetMethodRows)
func segmentsAfterAResetMayRepeatWhatCanBeListedAgain(method: SegmentCursor.RejoinMethod, is expected: Duration) {
    #expect(method.repeatable(in: playlist(10..<15, datedFrom: 0)) == expected, "\(method)")
}
