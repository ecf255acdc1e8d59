import Capture
import Foundation
import LiveRing
import Playlist
import Support
import TestSupport
import Testing
import Tracker

@testable import Channel
@testable import Fetch
@testable import Splice

/// A capture with a WebVTT rendition, from the upstream's multivariant playlist to the published files.
@Suite struct SubtitleReplayTests {
    private struct Published {
        var master = ""
        var media = ""
        var subtitles = ""
        /// Every file of the rendition, in order.
        var files: [(name: String, text: String)] = []
        var status = RelayStatus.Subtitles()

        var dump: String { files.map { "\($0.name)\n\($0.text)\n" }.joined() }
    }

    private func replay() async throws -> Published {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let replay = Replay(try CaptureDirectory(CaptureFixture.webVTT.directory), spool: spool.path)
        let end = try await replay.run()
        #expect(end == .drained)
        let snapshot = try #require(replay.state.snapshot)
        let subtitles = snapshot.dvrPlaylist(.whole, of: .subtitles(0))
        var published = Published(
            master: text(snapshot.masterPlaylist()), media: text(snapshot.dvrPlaylist(.whole)),
            subtitles: text(subtitles), status: replay.state.status.subtitles)
        for segment in try MediaPlaylistParser.parse(try #require(subtitles)).segments {
            let file = try #require(snapshot.subtitleFile(named: segment.uri))
            let bytes = try Data(contentsOf: URL(filePath: snapshot.path(of: file)))
            published.files.append((segment.uri, String(decoding: bytes, as: UTF8.self)))
        }
        return published
    }

    private func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

    @Test func subtitlesAreWhatWasReviewed() async throws {
        let published = try await replay()
        try expectGolden(published.master, at: CaptureFixture.webVTT.expected("master.m3u8"))
        try expectGolden(published.subtitles, at: CaptureFixture.webVTT.expected("subs-0.m3u8"))
        try expectGolden(published.dump, at: CaptureFixture.webVTT.expected("subtitles.txt"))
        let second = try await replay()
        #expect(
            second.dump == published.dump && second.subtitles == published.subtitles,
            "a second replay gives the same bytes")
    }

    /// CONFORMANCE 24 and 25.
    @Test func subtitlePlaylistAgreesWithMediaPlaylist() async throws {
        let published = try await replay()
        let media = try MediaPlaylistParser.parse(Array(published.media.utf8))
        let text = try MediaPlaylistParser.parse(Array(published.subtitles.utf8))
        #expect(text.hasEndList && text.mediaSequence == media.mediaSequence)
        #expect(text.discontinuitySequence == media.discontinuitySequence)
        #expect(text.segments.map(\.mediaSequence) == media.segments.map(\.mediaSequence))
        #expect(text.segments.map(\.duration) == media.segments.map(\.duration))
        #expect(text.segments.map(\.isDiscontinuous) == media.segments.map(\.isDiscontinuous))
        #expect(text.segments.map(\.programDateTime) == media.segments.map(\.programDateTime))
    }

    /// The cue “main n” begins half a second before segment n of the program; the ads have no cues.
    @Test func everyCueIsPlacedAtItsFrame() async throws {
        let published = try await replay()
        let names = (103...111).map { "main \($0 - 100)" }
        var times: [String: Set<[Int64]>] = [:]
        for file in published.files {
            for cue in try WebVTTParser.parse(Array(file.text.utf8)).cues {
                times[cue.payload, default: []].insert([cue.start, cue.end])
            }
        }
        // The channel is joined at segment 3, whose first frame is presented at 200 ms.
        for (index, name) in names.dropLast().enumerated() {
            let start = Int64(index) * 2000 + 700
            #expect(times[name] == [[start, start + 2000]], "\(name)")
        }
        #expect(times["main 11"] == [[16_700, 18_200]], "it ends with the program")
        let pod: Int64 = 9000 + 12_012 + 9000
        #expect(times["main 26"] == [[18_200 + pod, 18_700 + pod]], "it began before the program resumed")
        #expect(times["main 27"] == [[18_700 + pod, 20_700 + pod]])
        let ads = published.files.dropFirst(9).prefix(16).map(\.text).joined()
        #expect(!ads.contains("-->"), "the ads have no cues")
        #expect(published.status.counts[.lateCues] == 0 && published.status.counts[.retimedCues] == 0)
        #expect(published.status.tracks.map(\.name) == ["English"] && published.status.counts[.malformedSegments] == 0)
    }
}
