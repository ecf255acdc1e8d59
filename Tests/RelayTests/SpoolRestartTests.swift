import Foundation
import LiveRing
import Logging
import Playlist
import TestSupport
import Testing
import Tracker

@testable import liverelay

/// One channel, relayed by one process after the other from one spool.
private struct Channel: ~Copyable {
    let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: spool) }

    var journal: URL { spool.appending(path: "ring.m3u8") }

    /// A process that sees the capture from its beginning to its end, and is gone.
    /// - Parameters:
    ///   - times: when it lives, of the capture's time; nil: from its beginning to its end.
    ///   - wallClock: milliseconds since 1970.
    ///   - freeReserve: bytes of the disk to leave alone.
    func relay(
        of name: String = "stale_edge", during times: Range<Duration>? = nil, wallClock: Int64 = 0,
        freeReserve: UInt64 = 0
    ) async throws -> ChannelSite {
        let capture = try CaptureDirectory(CaptureFixture(name).directory)
        let upstream = capture.index.upstream
        let configuration = RelayConfiguration(
            upstream: upstream, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: freeReserve))
        let site = ChannelSite(upstream: upstream) { .seconds(5) }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var relay = Relay(configuration, site: site, log: RelayLog(logger)) { wallClock }
        var answers = ReplayAnswers(capture)
        var driver = ReplayDriver(session: ChannelSession(upstream: upstream, policy: configuration.livePolicy()))
        let times = times ?? .zero..<capture.index.duration
        _ = try await driver.run(until: times.upperBound - times.lowerBound) {
            answers.answer($0, at: times.lowerBound + $1)
        } perform: { output, now in
            try await relay.perform(output, at: now)
        }
        return site
    }
}

/// A process that is killed and started again goes on with the next picture, where the upstream has dates.
@Test(arguments: [(killed: 5, back: 6), (killed: 9, back: 9), (killed: 12, back: 14)])
func aRestartShowsNoPictureTwice(killed: Int, back: Int) async throws {
    let channel = Channel()
    _ = try await channel.relay(of: "ssai_tagged", during: .zero ..< .seconds(killed))
    let site = try await channel.relay(of: "ssai_tagged", during: .seconds(back) ..< .seconds(60))
    var published = Republished(status: site.status)
    try published.read(site)
    let pictures = try published.decodedPictures
    let once = try await Replays.shared.of(CaptureFixture("ssai_tagged")).decodedPictures
    #expect(pictures == once, "all of them, in order, each once")
}

private func listed(_ site: ChannelSite) throws -> [RingEntry] {
    Array(try #require(site.snapshot).index.listed)
}

/// No number, no clock and no date goes back, and no number is passed over.
private func goesForward(_ entries: [RingEntry], _ when: String) {
    for (old, new) in zip(entries, entries.dropFirst()) {
        #expect(new.mediaSequence == old.mediaSequence + 1, "\(when)")
        #expect(new.discontinuitySequence == old.discontinuitySequence + (new.isDiscontinuous ? 1 : 0), "\(when)")
        #expect(new.mark.videoDecodeTime > old.mark.videoDecodeTime, "\(when), segment \(new.mediaSequence)")
        #expect(new.mark.audioDecodeTime > old.mark.audioDecodeTime, "\(when), segment \(new.mediaSequence)")
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
    let channel = Channel()
    var before: [RingEntry] = []
    for clock in clocks {
        let entries = try await listed(channel.relay(wallClock: clock))
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
    let channel = Channel()
    let before = try await listed(channel.relay())
    var gaps: [RingEntry] = []
    do {
        // More than any disk has.
        let full = try await channel.relay(freeReserve: 1 << 60)
        let status = full.status
        let refused = try #require(status.output.notWriting)
        #expect(refused.segments > 3 && refused.seconds == 0 && refused.why.contains("is full"), "\(refused)")
        #expect(status.splice.segmentsNotPublished == refused.segments && status.output.gaps == refused.segments)
        let target = try RequestTarget(method: .get, uri: "/readyz")
        #expect(full.response(to: target).status == .serviceUnavailable)
        gaps = try listed(full)
        #expect(gaps.suffix(refused.segments).allSatisfy(\.isGap) && gaps.last?.mediaSequence ?? 0 > before.count)
        goesForward(gaps, "full")
    }
    let empty = try await channel.relay()
    let entries = try listed(empty)
    #expect(empty.status.output.notWriting == nil && empty.status.splice.segmentsNotPublished == 0)
    #expect(entries.last?.isGap == false && entries.count > gaps.count)
    goesForward(entries, "empty again")
}

@Test func whatADamagedJournalLostIsListedAsGaps() async throws {
    let channel = Channel()
    let before = try await listed(channel.relay())
    let text = try String(contentsOf: channel.journal, encoding: .utf8)
    let third = try #require(text.range(of: before[2].segment.name + "\n"))
    try Data((text[..<third.upperBound] + String(repeating: "\0", count: 400)).utf8).write(to: channel.journal)
    let site = try await channel.relay()
    let entries = try listed(site)
    #expect(entries.prefix(3) == before.prefix(3))
    #expect(entries[3..<before.count].allSatisfy { $0.isGap && $0.isDiscontinuous })
    #expect(entries[before.count].isGap == false && entries.count > before.count)
    #expect(site.status.output.gaps == before.count - 3)
    goesForward(entries, "damaged")
    for (old, new) in zip(before, entries) {
        #expect(
            new.mark.videoDecodeTime >= old.mark.videoDecodeTime
                && new.discontinuitySequence >= old.discontinuitySequence)
    }
}

private let troubles: [(when: String, error: RingError, says: [String])] = [
    ("a second process", .spoolInUse(directory: "/spool"), ["/spool", "running", "another --spool"]),
    (
        "no permission", .system(.open, path: "/spool/ring.lock", code: EACCES),
        ["/spool/ring.lock", "permission denied"]
    ),
    ("read-only", .system(.write, path: "/spool/ring.m3u8", code: EROFS), ["ead-only file system", "another --spool"]),
    (
        "a later version", .unknownJournalFormat(path: "/spool/ring.m3u8", found: "2"),
        ["/spool/ring.m3u8", "another version", "“2”", "move the old one away", "left as it is"]
    ),
    (
        "somebody else's", .unknownJournalFormat(path: "/spool/ring.m3u8", found: nil),
        ["no journal of liverelay's", "left as it is"]
    ),
    ("numbers that nobody gave", .damagedJournal(path: "/spool/ring.m3u8", lost: 5), ["5 segments", "left as it is"]),
    (
        "a full disk", .diskFull(directory: "/spool", available: 3 << 20, needed: 1 << 30),
        ["/spool", "full", "3 MiB free", "1024 MiB"]
    ),
]

@Test(arguments: troubles.indices) func aSpoolThatCannotBeUsedSaysWhatToDo(_ row: Int) {
    let (when, error, says) = troubles[row]
    let trouble = RelayError(error)
    #expect(trouble.exit == .cannotSpool, "\(when)")
    for words in says { #expect(trouble.line.contains(words), "\(when): \(trouble.line)") }
}

@Test func aPlaceWhereNoDirectoryCanBeSaysWhy() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data([1]).write(to: file)
    for (path, why) in [(file.path, "file exists"), (file.path + "/spool", "not a directory")] {
        let error = #expect(throws: RelayError.self) { _ = try SpoolLocation(path) }
        #expect(error?.exit == .cannotSpool && error?.line.contains("directory \(path): \(why)") == true, "\(path)")
        #expect(error?.line.contains("another --spool") == true)
    }
}

@Test func onlyTheFirstRefusalIsNews() {
    var trouble = SpoolTrouble()
    let full = RingError.diskFull(directory: "/spool", available: 1, needed: 2)
    let broken = RingError.system(.write, path: "/spool/seg", code: EIO)
    let tooLong = RingError.badDuration(9, maximum: 8)
    #expect(trouble.end().isEmpty)
    #expect(trouble.note(full) == [.notPublished(full)])
    #expect(trouble.note(full).isEmpty && trouble.note(broken).isEmpty)
    #expect(trouble.note(tooLong) == [.notPublished(tooLong)], "no trouble of the disk")
    #expect(trouble.segments == 3 && trouble.error == broken)
    #expect(trouble.end() == [.publishedAgain(after: 3)] && trouble.end().isEmpty)
}
