import Testing

@testable import Media

struct VideoTrackIdentityTests {
    private static func track(_ height: Int, _ bandwidth: Int = 1) -> VideoTrackIdentity {
        VideoTrackIdentity(height: height, bandwidth: bandwidth)
    }

    @Test func textIsReadBack() {
        let track = Self.track(720, 2_500_000)
        #expect(track.text == "720.2500000" && VideoTrackIdentity(text: track.text) == track)
        let damaged = ["", "720", "720.", ".1", "720.-1", "-1.5", "70000.1", "0720.1", "720.1.2", "+720.1", "720.١"]
        for text in damaged { #expect(VideoTrackIdentity(text: text) == nil, "\(text)") }
    }

    private static let rows: [(when: String, tracks: [(Int, Int)], candidates: [(Int, Int)], nearest: [Int?])] = [
        ("the same ladder in another order", [(720, 1), (480, 1)], [(480, 1), (720, 1)], [1, 0]),
        ("other bandwidths", [(720, 3000), (720, 2000)], [(720, 1900), (720, 3500)], [1, 0]),
        ("other sizes", [(720, 1), (360, 1)], [(540, 1), (400, 1)], [0, 1]),
        ("all smaller: the order stays", [(720, 1), (480, 1)], [(540, 1), (360, 1)], [0, 1]),
        ("two of three", [(1080, 1), (720, 1), (480, 1)], [(500, 1), (1000, 1)], [1, nil, 0]),
        ("fewer variants: the nearest pair", [(720, 1), (480, 1)], [(540, 1)], [nil, 0]),
        ("more variants", [(720, 1)], [(1080, 1), (700, 1), (480, 1)], [1]),
        ("none", [(720, 1)], [], [nil]),
        ("no heights: by bandwidth", [(0, 800), (0, 300)], [(0, 350), (0, 790)], [1, 0]),
    ]

    @Test(arguments: rows.indices)
    func nearest(_ index: Int) {
        let row = Self.rows[index]
        let found = VideoTrackIdentity.nearest(
            to: row.tracks.map { Self.track($0, $1) }, among: row.candidates.map { Self.track($0, $1) })
        #expect(found == row.nearest, "\(row.when)")
    }
}
