import Fetch
import Foundation
import Playlist
import Support
package import TestSupport
import Testing
import Tracker

@testable package import Capture

/// Returns a variant of a capture whose first answer is already the finished playlist.
package func finishedCapture(_ fixture: CaptureFixture) throws -> CaptureDirectory {
    let live = try CaptureDirectory(fixture.directory)
    var segments: [UInt64: MediaSegment] = [:]
    var last: MediaPlaylist?
    for exchange in live.index.exchanges where exchange.url == live.index.upstream {
        guard case .answer(let answer) = exchange.ending else { continue }
        let playlist = try MediaPlaylistParser.parse(live.bytes(of: answer.body))
        for segment in playlist.segments { segments[segment.mediaSequence] = segment }
        last = playlist
    }
    var whole = try #require(last)
    whole.segments = segments.sorted { $0.key < $1.key }.map(\.value)
    whole.mediaSequence = whole.segments[0].mediaSequence
    whole.discontinuitySequence = 0
    whole.hasEndList = true
    let answer = CapturedAnswer(status: 200, body: .text(PlaylistWriter.write(whole)))
    let playlist = CapturedExchange(at: .zero, url: live.index.upstream, ending: .answer(answer))
    let others = live.index.exchanges.filter { $0.url != live.index.upstream }
    return CaptureDirectory(
        live.url, index: CaptureIndex(upstream: live.index.upstream, about: "", exchanges: [playlist] + others))
}
