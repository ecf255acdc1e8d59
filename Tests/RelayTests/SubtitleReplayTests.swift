import Capture
import Foundation
import LiveRing
import Logging
import Playlist
import TestSupport
import Testing
import Tracker

@testable import Splice
@testable import liverelay

/// A capture with a WebVTT rendition, from the upstream's master playlist to what viewers get.
@Suite struct SubtitleReplayTests {
    struct Published {
        var master = ""
        var live = ""
        var subtitles = ""
        /// Every file of the rendition, in order, behind its name.
        var files: [(name: String, text: String)] = []
        var status = RelayStatus.Subtitles()

        var dump: String { files.map { "\($0.name)\n\($0.text)\n" }.joined() }
    }

    private func republish() async throws -> Published {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let replay = Replay(try CaptureDirectory(CaptureFixture.webVTT.directory), spool: spool.path, logger: logger)
        let end = try await replay.run()
        #expect(end == .drained)
        let snapshot = try #require(replay.state.snapshot)
        let whole = snapshot.subtitlePlaylist(0, .whole)
        var published = Published(
            master: text(snapshot.masterPlaylist()), live: text(snapshot.dvrPlaylist(.whole)), subtitles: text(whole),
            status: replay.state.status.subtitles)
        for segment in try MediaPlaylistParser.parse(try #require(whole)).segments {
            let file = try #require(snapshot.subtitleFile(named: segment.uri))
            let bytes = try Data(contentsOf: URL(filePath: snapshot.path(of: file)))
            published.files.append((segment.uri, String(decoding: bytes, as: UTF8.self)))
        }
        return published
    }

    private func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

    @Test func whatIsPublishedIsWhatWasReviewed() async throws {
        let published = try await republish()
        try expectGolden(published.master, at: CaptureFixture.webVTT.expected("master.m3u8"))
        try expectGolden(published.subtitles, at: CaptureFixture.webVTT.expected("subs-0.m3u8"))
        try expectGolden(published.dump, at: CaptureFixture.webVTT.expected("subtitles.txt"))
        let second = try await republish()
        #expect(second.dump == published.dump && second.subtitles == published.subtitles, "the same bytes again")
    }

    /// CONFORMANCE 24 and 25: the lists say the same of every segment.
    @Test func theListsOfPictureAndTextAgree() async throws {
        let published = try await republish()
        let picture = try MediaPlaylistParser.parse(Array(published.live.utf8))
        let text = try MediaPlaylistParser.parse(Array(published.subtitles.utf8))
        #expect(text.hasEndList && text.mediaSequence == picture.mediaSequence)
        #expect(text.discontinuitySequence == picture.discontinuitySequence)
        #expect(text.segments.map(\.mediaSequence) == picture.segments.map(\.mediaSequence))
        #expect(text.segments.map(\.duration) == picture.segments.map(\.duration))
        #expect(text.segments.map(\.isDiscontinuous) == picture.segments.map(\.isDiscontinuous))
        #expect(text.segments.map(\.programDateTime) == picture.segments.map(\.programDateTime))
    }

    /// Segment n of the programme begins where “main n” begins, half a second early; the ads say nothing.
    @Test func everyCueStandsBesideItsPicture() async throws {
        let published = try await republish()
        let names = (103...111).map { "main \($0 - 100)" }
        var times: [String: Set<[Int64]>] = [:]
        for file in published.files {
            for cue in try WebVTTParser.parse(Array(file.text.utf8)).cues {
                times[cue.payload, default: []].insert([cue.start, cue.end])
            }
        }
        // The channel is joined at segment 3, whose first picture is shown at 200 ms.
        for (index, name) in names.dropLast().enumerated() {
            let start = Int64(index) * 2000 + 700
            #expect(times[name] == [[start, start + 2000]], "\(name)")
        }
        #expect(times["main 11"] == [[16_700, 18_200]], "it ends with the programme")
        let pod: Int64 = 9000 + 12_012 + 9000
        #expect(times["main 26"] == [[18_200 + pod, 18_700 + pod]], "it began before the programme came back")
        #expect(times["main 27"] == [[18_700 + pod, 20_700 + pod]])
        let ads = published.files.dropFirst(9).prefix(16).map(\.text).joined()
        #expect(!ads.contains("-->"), "the ads say nothing")
        #expect(published.status.lateCues == 0 && published.status.retimedCues == 0)
        #expect(published.status.renditions == ["English"] && published.status.malformedSegments == 0)
    }
}
