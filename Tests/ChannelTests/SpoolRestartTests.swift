import ChannelTestSupport
import Foundation
import LiveRing
import Playlist
import Splice
import TestSupport
import Testing
import Tracker

@testable import Capture
@testable import Channel
@testable import Fetch
@testable import Support

/// When a process is killed, in tenths of the capture's duration, and how many seconds later the next one is started.
private let restarts: [(of: String, capture: String, killed: Int, away: Int)] = [
    ("dates", "ssai_tagged", 1, 1), ("dates, restarted at once", "ssai_tagged", 3, 0),
    ("dates and no tags", "ssai_untagged", 5, 1), ("neither dates nor tags", "healthy", 5, 1),
    ("segments that begin inside a GOP", "mid_gop", 5, 1), ("clean random access", "open_gop", 5, 0),
    ("no IDR pictures", "without_idr", 9, 0),
    ("fragmented MP4", "fmp4_maps", 3, 1), ("an encrypted companion", "demuxed_aes128", 5, 1),
    ("packed audio", "packed_audio", 5, 0), ("ads on clocks of their own", "ad_clocks", 3, 1),
    ("a clock that wraps", "wrap", 3, 1), ("two switches in a segment", "two_switches", 5, 0),
    ("byte ranges of one file", "byteranges", 5, 1), ("URLs that change with each reload", "query_changes", 3, 1),
    ("sequence numbers that are reset at that moment", "reset_same_uris", 5, 1), ("other codecs", "video_codecs", 7, 0),
    ("an outage in which it is killed", "outage", 3, 1), ("a slow upstream", "slow_segments", 5, 0),
]

@Test(arguments: restarts.indices) func restartPublishesEachFrameOnce(_ row: Int) async throws {
    let (upstream, name, tenths, away) = restarts[row]
    let capture = CaptureFixture(name)
    let length = try CaptureDirectory(capture.directory).index.duration
    var channel = try SpooledChannel(of: capture)
    try await channel.relay(.init(times: .zero..<length * tenths / 10))
    try await channel.relay(.init(times: length * tenths / 10 + .seconds(away)..<length + .seconds(30)))
    let expected = try await ReplayCache.shared.frames(of: capture)
    #expect(channel.result.segments.count > 3)
    let frames = try channel.result.decodedFrames
    let missing = Set(expected).subtracting(frames)
    #expect(frames == expected.filter { !missing.contains($0) }, "in order, each once: \(upstream)")
    // A process cannot begin with leading pictures, which refer to frames before the restart.
    #expect(missing.count == channel.result.status.splice.counts[.leadingPictures], "\(upstream)")
}

/// Viewers have a playlist with ENDLIST, which may not change any more.
@Test func restartOfEndedChannelChangesNothing() async throws {
    var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
    let before = try #require(try await channel.relay(.init(times: .zero ..< .seconds(90))).snapshot)
    #expect(before.hasEnded && before.livePlaylist() != nil)
    let after = try #require(try await channel.relay(.init(times: .seconds(91) ..< .seconds(120))).snapshot)
    #expect(after.livePlaylist() == before.livePlaylist())
    #expect(after.dvrPlaylist(.whole) == before.dvrPlaylist(.whole))
}

/// The process is killed after its upstream ended and before its own playlist did.
@Test func restartAfterUpstreamEndedPublishesTheRest() async throws {
    let capture = CaptureFixture("ssai_tagged")
    var channel = try SpooledChannel(of: capture)
    let length = try CaptureDirectory(capture.directory).index.duration
    let before = try #require(try await channel.relay(.init(times: .zero..<length - .seconds(6))).snapshot)
    let after = try #require(try await channel.relay(.init(times: length..<length + .seconds(40))).snapshot)
    let playlists = [before, after].compactMap { $0.livePlaylist().flatMap { try? MediaPlaylistParser.parse($0) } }
    try #require(playlists.count == 2)
    #expect(after.hasEnded && playlists[1].hasEndList && playlists[1].segments.count > playlists[0].segments.count)
    #expect(playlists[1].mediaSequence == playlists[0].mediaSequence, "the window no longer slides")
}

/// A process that is started while its upstream refuses every connection serves the rewind, fills the outage with gaps
/// and continues when the upstream does.
@Test func restartDuringOutageServesRewindAndGaps() async throws {
    let capture = CaptureFixture("outage")
    var channel = try SpooledChannel(of: capture)
    let before = try await listed(channel.relay(.init(times: .zero ..< .seconds(6))))
    do {
        let state = try await channel.relay(.init(times: .seconds(7) ..< .seconds(17)))
        let entries = try listed(state)
        #expect(entries.prefix(before.count) == before[...], "the rewind is served")
        #expect(entries.count > before.count && entries.dropFirst(before.count).allSatisfy(\.isGap))
        #expect(state.status.state == .outage && state.status.reason != nil)
        #expect(channel.result.end == nil, "the session waits")
    }
    let state = try await channel.relay(.init(times: .seconds(18) ..< .seconds(120)))
    let entries = try listed(state)
    #expect(channel.result.end == .drained && entries.last?.isGap == false)
    expectMonotonic(entries, "over the outage")
    // The process that publishes them has listed no gaps.
    let expected = try #require(try capture.presentedFrames)
    #expect(try channel.result.decodedFrames == expected)
}

/// A capture of 17 s without dates.
private let undated = CaptureFixture("pod_of_ten")

/// One of `count` processes that relay `undated` without a pause between them; `part` counts from 0.
private func life(_ part: Int, of count: Int, wallClock: Int64 = 0, isDiskFull: Bool = false) -> SpooledChannel.Life {
    let end = part + 1 < count ? .seconds(17) * (part + 1) / count : Duration.seconds(60)
    return SpooledChannel.Life(
        times: .seconds(17) * part / count..<end, wallClock: wallClock, isDiskFull: isDiskFull)
}

private func listed(_ state: ChannelState) throws -> [RingEntry] {
    Array(try #require(state.snapshot).index.listed)
}

/// Expects that no sequence number, clock or date goes back, and that no media sequence number is missing.
private func expectMonotonic(_ entries: [RingEntry], _ when: String) {
    for (old, new) in zip(entries, entries.dropFirst()) {
        #expect(new.mediaSequence == old.mediaSequence + 1, "\(when)")
        #expect(new.discontinuitySequence == old.discontinuitySequence + (new.isDiscontinuous ? 1 : 0), "\(when)")
        #expect(
            new.resumePoint.videoDecodeTime > old.resumePoint.videoDecodeTime, "\(when), segment \(new.mediaSequence)")
        #expect(
            new.resumePoint.audioDecodeTime > old.resumePoint.audioDecodeTime, "\(when), segment \(new.mediaSequence)")
        #expect(new.programDateTime >= old.programDateTimeEnd, "\(when), segment \(new.mediaSequence)")
    }
}

private let day = Int64(1_767_355_200_000)

private let jumps: [(when: String, clocks: [Int64])] = [
    ("no jump", [day, day + 60_000]), ("an hour forward", [day, day + 3_660_000]),
    ("an hour back", [day, day - 3_540_000]), ("back to 1970", [day, 0]),
    ("back and forth", [day, day - 3_600_000, day + 3_600_000, day]),
]

@Test(arguments: jumps.indices) func wallClockJumpsBetweenProcessesKeepDatesMonotonic(_ row: Int) async throws {
    let (when, clocks) = jumps[row]
    var channel = try SpooledChannel(of: undated)
    var before: [RingEntry] = []
    for (part, clock) in clocks.enumerated() {
        let entries = try await listed(channel.relay(life(part, of: clocks.count, wallClock: clock)))
        #expect(entries.count > before.count && entries.prefix(before.count) == before[...], "\(when)")
        expectMonotonic(entries, when)
        if let first = entries.dropFirst(before.count).first, let last = before.last {
            let earliest = ProgramDateTime(millisecondsSince1970: clock)
            #expect(first.programDateTime == max(earliest, last.programDateTimeEnd), "\(when)")
        }
        before = entries
    }
}

@Test func segmentsAreGapsWhileDiskIsFull() async throws {
    var channel = try SpooledChannel(of: undated)
    let before = try await listed(channel.relay(life(0, of: 3)))
    var gaps: [RingEntry] = []
    do {
        let full = try await channel.relay(life(1, of: 3, isDiskFull: true))
        let status = full.status
        let failure = try #require(status.output.writeFailure)
        #expect(failure.segments > 1 && failure.seconds == 0, "\(failure)")
        if case .spool(.diskFull) = failure.reason {} else { Issue.record("\(failure)") }
        #expect(status.splice.segmentsNotWritten == failure.segments && status.output.gapSegments == failure.segments)
        gaps = try listed(full)
        #expect(gaps.suffix(failure.segments).allSatisfy(\.isGap) && gaps.last?.mediaSequence ?? 0 > before.count)
        expectMonotonic(gaps, "full")
    }
    let recovered = try await channel.relay(life(2, of: 3))
    let entries = try listed(recovered)
    #expect(recovered.status.output.writeFailure == nil && recovered.status.splice.segmentsNotWritten == 0)
    #expect(entries.last?.isGap == false && entries.count > gaps.count)
    expectMonotonic(entries, "room again")
}

@Test func segmentsLostByDamagedJournalAreListedAsGaps() async throws {
    var channel = try SpooledChannel(of: undated)
    let before = try await listed(channel.relay(life(0, of: 2)))
    try SpoolFiles(directory: channel.spool).zero(after: before[2].segment.name)
    let state = try await channel.relay(life(1, of: 2))
    let entries = try listed(state)
    #expect(entries.prefix(3) == before.prefix(3))
    #expect(entries[3..<before.count].allSatisfy { $0.isGap && $0.isDiscontinuous })
    #expect(entries[before.count].isGap == false && entries.count > before.count)
    #expect(state.status.output.gapSegments == before.count - 3)
    expectMonotonic(entries, "damaged")
    for (old, new) in zip(before, entries) {
        #expect(
            new.resumePoint.videoDecodeTime >= old.resumePoint.videoDecodeTime
                && new.discontinuitySequence >= old.discontinuitySequence)
    }
}

@Test func secondProcessLeavesSpoolToTheFirst() async throws {
    var channel = try SpooledChannel(of: undated)
    let first = try await channel.relay()
    let error = try #require(await refusal(of: &channel))
    #expect(error == .spool(.spoolInUse(directory: channel.spool.path)))
    for entry in try listed(first) {
        #expect(FileManager.default.fileExists(atPath: channel.spool.appending(path: entry.segment.name).path))
    }
}

private func refusal(of channel: inout SpooledChannel) async -> ChannelError? {
    do {
        _ = try await channel.relay()
        return nil
    } catch {
        return error as? ChannelError
    }
}

@Test func onlyFirstDiskErrorIsReported() {
    var failure = SpoolFailure()
    let full = RingError.diskFull(directory: "/spool", available: 1, needed: 2)
    let broken = RingError.system(.write, path: "/spool/seg", code: EIO)
    let tooLong = RingError.badDuration(9, maximum: 8)
    let cleared = failure.clear()
    let reported = [full, full, broken, tooLong].map { failure.record($0) }
    #expect(cleared == nil && reported == [true, false, false, true], "the last one is not a disk error")
    #expect(failure.segments == 3 && failure.error == broken)
    let counts = [failure.clear(), failure.clear()]
    #expect(counts == [3, nil])
}
