import Capture
import Foundation
import LiveRing
import Playlist
import TestSupport
import Testing
import Tracker

@testable import liverelay

/// When a process is killed, in tenths of the capture's time, and how many seconds later the next one is started.
private let restarts: [(of: String, capture: String, killed: Int, away: Int)] = [
    ("dates", "ssai_tagged", 1, 1), ("dates, and no time between", "ssai_tagged", 3, 0),
    ("dates and no tags", "ssai_untagged", 5, 1), ("neither dates nor tags", "healthy", 5, 1),
    ("segments that begin in the middle of a group", "mid_gop", 5, 1), ("clean random access", "open_gop", 5, 0),
    ("fragmented MP4", "fmp4_maps", 3, 1), ("sound in a rendition of its own, encrypted", "demuxed_aes128", 5, 1),
    ("sound without a container", "packed_audio", 5, 0), ("ads on any clock", "ad_clocks", 3, 1),
    ("a clock that wraps", "wrap", 3, 1), ("two switches in a segment", "two_switches", 5, 0),
    ("byte ranges of one file", "byteranges", 5, 1), ("addresses that change with each reload", "query_changes", 3, 1),
    ("numbers that begin again at that moment", "reset_same_uris", 5, 1), ("other codecs", "video_codecs", 7, 0),
    ("an outage in which it is killed", "outage", 3, 1), ("a slow upstream", "slow_segments", 5, 0),
]

/// A process that is killed and started again goes on with the next picture.
@Test(arguments: restarts.indices) func aRestartShowsEachPictureOnce(_ row: Int) async throws {
    let (what, name, tenths, away) = restarts[row]
    let capture = CaptureFixture(name)
    let length = try CaptureDirectory(capture.directory).index.duration
    var channel = try SpooledChannel(of: capture)
    try await channel.relay(.init(times: .zero..<length * tenths / 10))
    try await channel.relay(.init(times: length * tenths / 10 + .seconds(away)..<length + .seconds(30)))
    let once = try await Replays.shared.pictures(of: capture)
    #expect(channel.published.segments.count > 3)
    let pictures = try channel.published.decodedPictures
    let missing = Set(once).subtracting(pictures)
    #expect(pictures == once.filter { !missing.contains($0) }, "in order, each once: \(what)")
    // A process cannot begin with pictures that refer to what another had.
    #expect(missing.count == channel.published.status.splice.leadingPictures, "\(what)")
}

/// Its viewers have a list with an ENDLIST, which does not change any more.
@Test func aChannelThatEndedIsTheSameAfterARestart() async throws {
    var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
    let before = try #require(try await channel.relay(.init(times: .zero ..< .seconds(90))).snapshot)
    #expect(before.hasEnded && before.livePlaylist != nil)
    let after = try #require(try await channel.relay(.init(times: .seconds(91) ..< .seconds(120))).snapshot)
    #expect(after.livePlaylist == before.livePlaylist)
    #expect(after.dvrPlaylist(.whole) == before.dvrPlaylist(.whole))
}

/// Killed when its upstream has said that nothing follows, and before viewers were told.
@Test func whatWasLeftOfAnEndedUpstreamComesBehindWhatViewersHave() async throws {
    let capture = CaptureFixture("ssai_tagged")
    var channel = try SpooledChannel(of: capture)
    let length = try CaptureDirectory(capture.directory).index.duration
    let before = try #require(try await channel.relay(.init(times: .zero..<length - .seconds(6))).snapshot)
    let after = try #require(try await channel.relay(.init(times: length..<length + .seconds(40))).snapshot)
    let lists = [before, after].compactMap { $0.livePlaylist.flatMap { try? MediaPlaylistParser.parse($0) } }
    try #require(lists.count == 2)
    #expect(after.hasEnded && lists[1].hasEndList && lists[1].segments.count > lists[0].segments.count)
    #expect(lists[1].mediaSequence == lists[0].mediaSequence, "it slides no more")
}

/// The process that is started while its upstream refuses every connection shows what is there, says so, and goes on
/// when the upstream does.
@Test func aRestartInAnOutageIsAnOutage() async throws {
    let capture = CaptureFixture("outage")
    var channel = try SpooledChannel(of: capture)
    let before = try await listed(channel.relay(.init(times: .zero ..< .seconds(6))))
    do {
        let site = try await channel.relay(.init(times: .seconds(7) ..< .seconds(17)))
        let entries = try listed(site)
        #expect(entries.prefix(before.count) == before[...], "the rewind is served")
        #expect(entries.count > before.count && entries.dropFirst(before.count).allSatisfy(\.isGap))
        #expect(site.status.state == .outage && site.status.reason != nil)
        #expect(channel.published.end == nil, "it waits")
    }
    let site = try await channel.relay(.init(times: .seconds(18) ..< .seconds(120)))
    let entries = try listed(site)
    #expect(channel.published.end == .drained && entries.last?.isGap == false)
    goesForward(entries, "over the outage")
    let once = try await Replays.shared.pictures(of: capture)
    #expect(try channel.published.decodedPictures == once)
}

/// 17 s.
private let undated = CaptureFixture("pod_of_ten")

/// The `part`th of `count` processes that follow one another without a pause.
private func life(_ part: Int, of count: Int, wallClock: Int64 = 0, freeReserve: UInt64 = 0) -> SpooledChannel.Life {
    let end = part + 1 < count ? .seconds(17) * (part + 1) / count : Duration.seconds(60)
    return SpooledChannel.Life(
        times: .seconds(17) * part / count..<end, wallClock: wallClock, freeReserve: freeReserve)
}

private func listed(_ site: ChannelResponder) throws -> [RingEntry] {
    Array(try #require(site.snapshot).index.listed)
}

/// No number, no clock and no date goes back, and no number is passed over.
private func goesForward(_ entries: [RingEntry], _ when: String) {
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
    ("an hour back", [day, day - 3_540_000]), ("to the beginning of time", [day, 0]),
    ("back and forth", [day, day - 3_600_000, day + 3_600_000, day]),
]

@Test(arguments: jumps.indices) func theWallClockMayJumpBetweenProcesses(_ row: Int) async throws {
    let (when, clocks) = jumps[row]
    var channel = try SpooledChannel(of: undated)
    var before: [RingEntry] = []
    for (part, clock) in clocks.enumerated() {
        let entries = try await listed(channel.relay(life(part, of: clocks.count, wallClock: clock)))
        #expect(entries.count > before.count && entries.prefix(before.count) == before[...], "\(when)")
        goesForward(entries, when)
        if let first = entries.dropFirst(before.count).first, let last = before.last {
            let earliest = ProgramDateTime(millisecondsSince1970: clock)
            #expect(first.programDateTime == max(earliest, last.programDateTimeEnd), "\(when)")
        }
        before = entries
    }
}

@Test func aDiskThatIsFullIsSeenAndWaitedFor() async throws {
    var channel = try SpooledChannel(of: undated)
    let before = try await listed(channel.relay(life(0, of: 3)))
    var gaps: [RingEntry] = []
    do {
        // More than any disk has.
        let full = try await channel.relay(life(1, of: 3, freeReserve: 1 << 60))
        let status = full.status
        let refused = try #require(status.output.writeFailure)
        #expect(refused.segments > 1 && refused.seconds == 0 && refused.reason.contains("is full"), "\(refused)")
        #expect(status.splice.segmentsNotWritten == refused.segments && status.output.gapSegments == refused.segments)
        let target = try RequestTarget(method: .get, uri: "/readyz")
        #expect(full.response(to: target).status == .serviceUnavailable)
        gaps = try listed(full)
        #expect(gaps.suffix(refused.segments).allSatisfy(\.isGap) && gaps.last?.mediaSequence ?? 0 > before.count)
        goesForward(gaps, "full")
    }
    let empty = try await channel.relay(life(2, of: 3))
    let entries = try listed(empty)
    #expect(empty.status.output.writeFailure == nil && empty.status.splice.segmentsNotWritten == 0)
    #expect(entries.last?.isGap == false && entries.count > gaps.count)
    goesForward(entries, "empty again")
}

@Test func whatADamagedJournalLostIsListedAsGaps() async throws {
    var channel = try SpooledChannel(of: undated)
    let before = try await listed(channel.relay(life(0, of: 2)))
    try SpoolFiles(directory: channel.spool).zero(behind: before[2].segment.name)
    let site = try await channel.relay(life(1, of: 2))
    let entries = try listed(site)
    #expect(entries.prefix(3) == before.prefix(3))
    #expect(entries[3..<before.count].allSatisfy { $0.isGap && $0.isDiscontinuous })
    #expect(entries[before.count].isGap == false && entries.count > before.count)
    #expect(site.status.output.gapSegments == before.count - 3)
    goesForward(entries, "damaged")
    for (old, new) in zip(before, entries) {
        #expect(
            new.resumePoint.videoDecodeTime >= old.resumePoint.videoDecodeTime
                && new.discontinuitySequence >= old.discontinuitySequence)
    }
}

@Test(arguments: SpoolErrorCase.all) func aSpoolThatCannotBeUsedSaysWhatToDo(_ refusal: SpoolErrorCase) {
    #expect(refusal.trouble.exit == .cannotSpool)
    for words in refusal.says { #expect(refusal.trouble.line.contains(words), "\(refusal.trouble.line)") }
}

@Test func aFullDiskIsMeasured() {
    let line = RelayError(.diskFull(directory: "/spool", available: 3 << 20, needed: 1 << 30)).line
    for words in ["/spool", "full", "3 MiB free", "1024 MiB"] { #expect(line.contains(words), "\(line)") }
}

@Test func aSecondProcessLeavesTheSpoolToTheFirst() async throws {
    var channel = try SpooledChannel(of: undated)
    let first = try await channel.relay()
    let error = try #require(await refusal(of: &channel))
    #expect(error == RelayError(.spoolInUse(directory: channel.spool.path)))
    for entry in try listed(first) {
        #expect(FileManager.default.fileExists(atPath: channel.spool.appending(path: entry.segment.name).path))
    }
}

private func refusal(of channel: inout SpooledChannel) async -> RelayError? {
    do {
        _ = try await channel.relay()
        return nil
    } catch {
        return error as? RelayError
    }
}

@Test func aPlaceWhereNoDirectoryCanBeSaysWhy() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data([1]).write(to: file)
    for (path, why) in [(file.path, "file exists"), (file.path + "/spool", "not a directory")] {
        let error = #expect(throws: RelayError.self) { _ = try SpoolLocation(path) }
        #expect(error?.exit == .cannotSpool && error?.line.contains("directory \(path): \(why)") == true, "\(path)")
        #expect(error?.line.contains("--spool") == true)
    }
}

/// Root may write anything.
@Test(.enabled(if: getuid() != 0)) func aDirectoryThatMayNotBeWrittenIsRefusedAtOnce() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o555])
    defer { try? FileManager.default.removeItem(at: directory) }
    let error = #expect(throws: RelayError.self) { _ = try SpoolLocation(directory.path) }
    #expect(error?.line.replacing(directory.path, with: "/spool") == SpoolErrorCase.unwritable.trouble.line)
}

@Test func onlyTheFirstRefusalIsNews() {
    var trouble = SpoolFailure()
    let full = RingError.diskFull(directory: "/spool", available: 1, needed: 2)
    let broken = RingError.system(.write, path: "/spool/seg", code: EIO)
    let tooLong = RingError.badDuration(9, maximum: 8)
    #expect(trouble.clear().isEmpty)
    #expect(trouble.record(full) == [.publishFailed(full)])
    #expect(trouble.record(full).isEmpty && trouble.record(broken).isEmpty)
    #expect(trouble.record(tooLong) == [.publishFailed(tooLong)], "no trouble of the disk")
    #expect(trouble.segments == 3 && trouble.error == broken)
    #expect(trouble.clear() == [.publishResumed(after: 3)] && trouble.clear().isEmpty)
}
