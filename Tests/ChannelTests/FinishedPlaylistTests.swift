import Capture
import ChannelTestSupport
import Foundation
import Playlist
import Synchronization
import TestSupport
import Testing
import Tracker

@testable import Channel
@testable import Demux
@testable import Fetch
@testable import Media
@testable import Splice
@testable import Support

@Test func finishedPlaylistIsRepublishedFromItsFirstSegment() async throws {
    let result = try await republish(finishedCapture(.ssaiTagged))
    #expect(result.end == .drained)
    #expect(result.status.splice.counts[.periods] == 5 && result.status.output.segments == 34)
    let last = try #require(result.versions.last)
    #expect(last.hasEndList && last.segments.count == 34, "live.m3u8 lists all segments too")
    #expect(last.segments.map(\.mediaSequence) == Array(100...133))
}

/// The last audio frames of a finished playlist end after its last video frame, which stays for them.
@Test(arguments: [CaptureFixture.clean, .ssaiTagged, .wrap])
func finishedPlaylistLosesNoAudioAtItsEnd(_ fixture: CaptureFixture) async throws {
    let finished = try await republish(finishedCapture(fixture))
    let live = try await republish(fixture)
    #expect(finished.status.splice.counts[.trimmedAudioFrames] <= live.status.splice.counts[.trimmedAudioFrames])
    let (ours, theirs) = (try audioFrameCount(of: finished), try audioFrameCount(of: live))
    #expect(ours >= theirs)
    #expect(finished.status.splice.counts[.adjustedTimestamps] == 0)
}

private func audioFrameCount(of result: ReplayResult) throws -> Int {
    try result.segments.flatMap { try MovieFragment.fragments(of: $0.bytes) }.flatMap(\.tracks)
        .filter { $0.trackID == TrackID.audio }.reduce(0) { $0 + $1.samples.count }
}

/// A period is reported with the upstream segment in which it begins, though it is written with a later one.
@Test func periodsAreReportedWithTheSegmentsTheyBeginIn() async throws {
    let capture = try finishedCapture(.ssaiTagged)
    let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: spool) }
    let began = Mutex<[UInt64]>([])
    let replay = Replay(capture, spool: spool.path) { event in
        guard case .pipeline(.periodBegan(_, let sequence)) = event.kind else { return }
        began.withLock { $0.append(sequence) }
    }
    #expect(try await replay.run() == .drained)
    guard case .answer(let answer)? = capture.index.exchanges.first?.ending else {
        Issue.record("no playlist")
        return
    }
    let listed = try MediaPlaylistParser.parse(capture.bytes(of: answer.body)).segments
    let first = try #require(listed.first)
    let expected = [first] + listed.dropFirst().filter(\.isDiscontinuous)
    #expect(began.withLock { $0 } == expected.map(\.mediaSequence))
}
