import Playlist
import Testing

@testable import liverelay

/// Four segments of 2 s, the third behind a discontinuity.
private func finished() -> MediaPlaylist {
    var segments = (0..<4).map { MediaSegment(uri: "\($0).ts", duration: .seconds(2), mediaSequence: UInt64(100 + $0)) }
    segments[2].isDiscontinuous = true
    return MediaPlaylist(targetDuration: .seconds(2), mediaSequence: 100, segments: segments)
}

private let moments: [(when: String, at: Duration, first: UInt64, discontinuity: UInt64, listed: [String])] = [
    ("on the air: three segments", .zero, 0, 0, ["0.ts", "1.ts", "2.ts"]),
    ("nothing new yet", .milliseconds(1999), 0, 0, ["0.ts", "1.ts", "2.ts"]),
    ("one more", .seconds(2), 0, 0, ["0.ts", "1.ts", "2.ts", "3.ts"]),
    ("the second round begins", .seconds(4), 0, 0, ["0.ts", "1.ts", "2.ts", "3.ts", "0.ts"]),
    ("the window slides", .seconds(8), 1, 0, ["1.ts", "2.ts", "3.ts", "0.ts", "1.ts", "2.ts"]),
    ("a discontinuity has left it", .seconds(12), 3, 1, ["3.ts", "0.ts", "1.ts", "2.ts", "3.ts", "0.ts"]),
    (
        "the round's own discontinuity has left it", .seconds(16), 5, 2,
        ["1.ts", "2.ts", "3.ts", "0.ts", "1.ts", "2.ts"]
    ),
    ("a day later", .seconds(86_400), 43_197, 21_598, ["1.ts", "2.ts", "3.ts", "0.ts", "1.ts", "2.ts"]),
]

@Test(arguments: moments.indices)
func aFinishedPlaylistLoopsAsALiveOne(_ index: Int) throws {
    let row = moments[index]
    let playlist = try #require(LoopingPlaylist(finished())).playlist(at: row.at)
    #expect(playlist.mediaSequence == row.first, "\(row.when)")
    #expect(playlist.discontinuitySequence == row.discontinuity, "\(row.when)")
    #expect(playlist.segments.map(\.uri) == row.listed, "\(row.when)")
    let read = try MediaPlaylistParser.parse(Array(PlaylistWriter.write(playlist).utf8))
    #expect(read.segments.map(\.discontinuitySequence) == playlist.segments.map(\.discontinuitySequence), "\(row.when)")
    #expect(!read.hasEndList, "\(row.when)")
}

@Test func aPlaylistWithoutLengthDoesNotLoop() {
    #expect(LoopingPlaylist(MediaPlaylist(targetDuration: .seconds(2))) == nil)
}
