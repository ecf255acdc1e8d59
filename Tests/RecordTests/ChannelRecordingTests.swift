import ChannelTestSupport
import Foundation
import Glibc
import Playlist
import TestSupport
import Testing

@testable import Channel
@testable import Export
@testable import LiveRing
@testable import Media
@testable import Mux
@testable import Record
@testable import Support

/// Recordings of what captures publish, judged by ffmpeg.
@Suite struct ChannelRecordingTests {
    /// Records what a state has, and closes the recording unless the process is killed.
    private static func record(
        _ state: ChannelState, in folder: RecordingFolder, as format: RecordingFormat, split: RecordingSplit = .never,
        isKilled: Bool = false
    ) async throws {
        let pattern = try RecordingPattern("\(folder.path)/{channel}.\(format)")
        let settings = ChannelRecorder.Settings(pattern: pattern, split: split, closesAtEnd: !isKilled)
        state.setState(.ended, reason: nil)
        let recorder = ChannelRecorder(settings, channel: "news", title: "News")
        await recorder.run(state)
    }

    private static func frames(_ bytes: [UInt8]) throws -> [PresentedFrame] {
        try ReplayResult.frames(of: [("", [], bytes)])
    }

    private static let rows: [(capture: String, format: RecordingFormat, becomes: String)] = [
        ("ssai_tagged", .ts, "ts"), ("ssai_tagged", .mp4, "mp4"), ("clean", .mkv, "mkv"),
        ("outage", .mkv, "mkv"), ("audio_changes", .mp4, "mp4"), ("audio_changes", .mkv, "mp4"),
        ("wrap", .mkv, "mkv"), ("two_switches", .mp4, "mp4"),
    ]

    @Test(arguments: rows) func recordingHasEveryFrame(
        capture: String, format: RecordingFormat, becomes: String
    ) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(capture))
        let state = try await channel.relay()
        let folder = RecordingFolder()
        try await Self.record(state, in: folder, as: format)
        #expect(folder.files.contains("news.\(becomes)") && folder.files.contains("news.json"), "\(folder.files)")
        #expect(!folder.files.contains { $0.hasSuffix(".recording") || $0.hasSuffix(".part") }, "\(folder.files)")
        #expect(becomes == "ts" || !folder.files.contains("news.ts"))
        #expect((becomes == "ts") == folder.files.contains("news.m3u8"))
        let published = try channel.result.decodedFrames
        #expect(try Self.frames(try folder.bytes("news.\(becomes)")) == published)
        let document = String(decoding: try folder.bytes("news.json"), as: UTF8.self)
        #expect(document.contains("\"note\"") == (becomes != "\(format)"), "\(document)")
    }

    @Test(arguments: [RecordingFormat.mp4, .mkv]) func chaptersAreTheBreaks(_ format: RecordingFormat) async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let state = try await channel.relay()
        let folder = RecordingFolder()
        try await Self.record(state, in: folder, as: format)
        let name = try #require(folder.files.first { $0.hasSuffix(".mp4") || $0.hasSuffix(".mkv") })
        let probe = try FFmpegTool.run(
            "ffprobe",
            [
                "-v", "error", "-show_entries", "chapter=start_time:chapter_tags=title:format_tags=title", "-of",
                "compact=p=0:nk=1", "INPUT",
            ], input: try folder.bytes(name))
        let lines = probe.text.split(separator: "\n").map(String.init)
        let titles = lines.compactMap { $0.split(separator: "|").last.map(String.init) }
        #expect(titles == ["Programme", "Commercial", "Programme", "News"], "\(lines)")
        let breaks = String(decoding: try folder.bytes("news.edl"), as: UTF8.self).split(separator: " ")
        let start = try #require(breaks.first.flatMap { Double($0) })
        let chapter = try #require(lines[1].split(separator: "|").first.flatMap { Double($0) })
        #expect(abs(chapter - start) < 0.001 && breaks.last == "3\n", "\(breaks) \(lines)")
        let found = try #require(state.snapshot?.adBreaks(.whole)?.first)
        let begin = try #require(state.snapshot?.dates?.first)
        #expect(abs(start - Double(found.start.milliseconds(since: begin)) / 1000) < 0.002)
        #expect(folder.files.contains("news.ffmeta"))
        let tags = try FFmpegTool.run(
            "ffprobe", ["-v", "error", "-show_entries", "format_tags", "-of", "flat=s=_", "INPUT"],
            input: try folder.bytes(name)
        ).text.lowercased()
        let date = try #require(state.snapshot?.index.listed.first { !$0.isGap }).programDateTime.text
        for value in ["\"news\"", "\"\(date.lowercased())\"", "title=\"news\""] {
            #expect(tags.contains(value), "\(value): \(tags)")
        }
        #expect(tags.contains(name.hasSuffix("mp4") ? "network=\"news\"" : "channel=\"news\""), "\(tags)")
    }

    /// Whatever is written when the process is killed, the next one goes on after the last whole segment.
    @Test func killCostsNothing() async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let (folder, whole) = (RecordingFolder(), RecordingFolder())
        // Its state holds the spool.
        var first: ChannelState? = try await channel.relay(.init(times: .zero..<Duration.seconds(30)))
        if let first { try await Self.record(first, in: folder, as: .ts, isKilled: true) }
        first = nil
        #expect(folder.files.count == 3 && folder.files.suffix(2) == ["news.m3u8", "news.ts"], "\(folder.files)")
        let open = try MediaPlaylistParser.parse(try folder.bytes("news.m3u8"))
        #expect(open.playlistType == .event && !open.hasEndList)
        let journalName = folder.files[0]
        let journal = try #require(RecordingFile.journal(at: "\(folder.path)/\(journalName)"))
        let written = try folder.bytes("news.ts")
        #expect(journal.byteCount == written.count && journal.segments.count > 3)
        #expect(open.segments.compactMap(\.byteRange).map { Int($0.offset + $0.length) } == journal.segments.map(\.end))
        let longest = open.targetDuration + .milliseconds(500)
        #expect(open.segments.allSatisfy { $0.uri == "news.ts" && $0.duration < longest })
        // Listed, and not in the journal.
        let listed = "#EXTINF:1,\n#EXT-X-BYTERANGE:1000@\(written.count)\nnews.ts\n#EXTI"
        try folder.append(Array(listed.utf8), to: "news.m3u8")
        try folder.append(Array("S 9 99".utf8), to: journalName)
        try folder.append([UInt8](repeating: 0x47, count: 1000), to: "news.ts")
        let second = try await channel.relay(.init(times: Duration.seconds(30)..<Duration.seconds(600)))
        try await Self.record(second, in: folder, as: .ts)
        // Another recorder that saw all of the ring at once.
        try FileManager.default.createDirectory(atPath: whole.path, withIntermediateDirectories: true)
        var plan = journal.plan
        plan.path = "\(whole.path)/news"
        _ = try RecordingFile(RecordingJournal(plan), at: "\(whole.path)/\(journalName)")
        try await Self.record(second, in: whole, as: .ts)
        let (resumed, once) = (try folder.bytes("news.ts"), try whole.bytes("news.ts"))
        #expect(resumed.count > journal.byteCount && resumed == once)
        let closed = try MediaPlaylistParser.parse(try folder.bytes("news.m3u8"))
        #expect(closed.hasEndList && closed.segments.prefix(open.segments.count) == open.segments[...])
        #expect(try folder.bytes("news.m3u8") == whole.bytes("news.m3u8"))
        let ends = closed.segments.compactMap(\.byteRange)
        #expect(ends.first?.offset == 0 && ends.last.map { Int($0.offset + $0.length) } == resumed.count)
        #expect(zip(ends, ends.dropFirst()).allSatisfy { $0.offset + $0.length == $1.offset })
    }

    @Test func splitLosesNothing() async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let state = try await channel.relay()
        let folder = RecordingFolder()
        try await Self.record(state, in: folder, as: .mp4, split: .every(seconds: 10))
        let names = folder.files.filter { $0.hasSuffix(".mp4") }
            .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
        #expect(names.count > 3 && names[1] == "news-2.mp4", "\(names)")
        let frames = try names.flatMap { try Self.frames(try folder.bytes($0)) }
        let published = try channel.result.decodedFrames
        #expect(frames == published)
    }

    /// An earlier process recorded another ring: the numbers of this one begin anew.
    @Test func recordingGoesOnInAnotherRing() async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let snapshot = try #require(try await channel.relay().snapshot)
        let entries = snapshot.index.listed.filter { !$0.isGap }
        let first = try #require(entries.first)
        for number in [first.mediaSequence, entries[3].mediaSequence, 1 << 40] {
            var earlier = first
            earlier.mediaSequence = number
            earlier.programDateTime = first.programDateTime.advanced(byMilliseconds: -60_000)
            var journal = RecordingJournal(RecordingPlan(path: "news", format: .ts))
            journal.record(.segment(RecordedSegment(earlier, end: 188, shift: .zero, clock: .zero)))
            var cursor = RecordingCursor(journal, split: .never, from: first.mediaSequence)
            let (taken, lost) = cursor.takeAll(of: snapshot)
            #expect(taken == entries.map(\.mediaSequence), "after \(number)")
            #expect(lost >= 58_000)
        }
    }

    /// A loss that is in the journal is counted once, whatever ended the process after it.
    @Test func lossIsCountedOnce() async throws {
        var channel = try SpooledChannel(of: .clean)
        let snapshot = try #require(try await channel.relay().snapshot)
        let entries = snapshot.index.listed.filter { !$0.isGap }
        let end = { entries[$0].programDateTimeEnd }
        let rows: [(when: String, losses: [RecordingLoss], taken: Range<Int>, lost: Int64)] = [
            ("none", [], 1..<entries.count, 0),
            ("the next segment", [Self.loss(end(0), end(1))], 2..<entries.count, 0),
            ("a part of it", [Self.loss(end(0), end(0).advanced(byMilliseconds: 1))], 1..<entries.count, 0),
            ("two", [Self.loss(end(0), end(1)), Self.loss(end(1), end(2))], 3..<entries.count, 0),
            ("all", [Self.loss(end(0), end(entries.count - 1))], 0..<0, 0),
        ]
        for row in rows {
            var journal = RecordingJournal(RecordingPlan(path: "news", format: .ts))
            journal.record(.segment(RecordedSegment(entries[0], end: 188, shift: .zero, clock: .zero)))
            for loss in row.losses { journal.record(.loss(loss)) }
            var cursor = RecordingCursor(journal, split: .never, from: entries[0].mediaSequence)
            let (taken, lost) = cursor.takeAll(of: snapshot)
            #expect(taken == entries[row.taken].map(\.mediaSequence) && lost == row.lost, "\(row.when)")
        }
        // A power loss took the segment, and what was said after it.
        var journal = RecordingJournal(RecordingPlan(path: "news", format: .ts))
        for index in 0..<2 {
            let segment = RecordedSegment(entries[index], end: (index + 1) * 188, shift: .zero, clock: .zero)
            journal.record(.segment(segment))
        }
        journal.record(.loss(Self.loss(end(1), end(2))))
        journal.truncate(to: 188)
        #expect(journal.segments.count == 1 && journal.losses.isEmpty)
    }

    private static func loss(_ start: ProgramDateTime, _ end: ProgramDateTime) -> RecordingLoss {
        RecordingLoss(.unreadable, at: start, milliseconds: end.milliseconds(since: start))
    }

    /// A sweep takes the recordings of its channel, in the folders of its pattern.
    @Test func sweepLeavesWhatIsNotTheChannels() throws {
        let folder = RecordingFolder()
        let documents = [
            ("news/a", #"{"file":"a.mp4","channel":"news","start":"x"}"#),
            ("films/b", #"{"file":"b.mp4","channel":"films","start":"x"}"#),
            ("news/c", #"{"file":"other.mp4","channel":"news","start":"x"}"#),
            ("news/deep/d", #"{"file":"d.mp4","channel":"news","start":"x"}"#),
            ("liverelay/e", #"{"file":"e.mp4","start":"x"}"#), ("news/f", #"{"format":"f.mp4","channel":"news"}"#),
        ]
        for (name, document) in documents {
            let url = URL(filePath: "\(folder.path)/\(name)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            for (suffix, text) in [("mp4", "media"), ("json", document)] {
                try Data(text.utf8).write(to: url.appendingPathExtension(suffix))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: "\(url.path).\(suffix)")
            }
        }
        let pattern = try RecordingPattern("\(folder.path)/{channel}/{start}.mp4")
        let retention = RecordingRetention(longest: 60)
        #expect(retention.sweep(pattern, channel: "news") == ["\(folder.path)/news/a"])
        #expect(retention.sweep(pattern, channel: nil) == ["\(folder.path)/liverelay/e"])
        let left = documents.map(\.0).filter {
            FileManager.default.fileExists(atPath: "\(folder.path)/\($0).mp4")
        }
        #expect(left == ["films/b", "news/c", "news/deep/d", "news/f"])
    }

    /// A recording that somebody reads, or has marked, stays whatever its age is.
    @Test func sweepLeavesWhatSomebodyNeeds() throws {
        let folder = RecordingFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        for name in ["old", "marked", "read", "read-m3u8"] {
            let document = #"{"file":"\#(name).mkv","channel":"news"}"#
            for (suffix, text) in [("mkv", "media"), ("m3u8", "list"), ("json", document)] {
                let file = "\(folder.path)/\(name).\(suffix)"
                try Data(text.utf8).write(to: URL(filePath: file))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: file)
            }
        }
        try RecordingRetention.mark("\(folder.path)/marked", isKept: true)
        let pattern = try RecordingPattern("\(folder.path)/{title}.mkv")
        let retention = RecordingRetention(longest: 60, byteLimit: 1)
        let readers = try ["read.mkv", "read-m3u8.m3u8"].map {
            try FileHandle(forReadingFrom: URL(filePath: "\(folder.path)/\($0)"))
        }
        #expect(retention.sweep(pattern, channel: "news") == ["\(folder.path)/old"])
        for reader in readers { try reader.close() }
        #expect(retention.sweep(pattern, channel: "news").count == 2)
        try RecordingRetention.mark("\(folder.path)/marked", isKept: false)
        #expect(retention.sweep(pattern, channel: "news") == ["\(folder.path)/marked"] && folder.files.isEmpty)
    }

    /// Somebody opens a file in the moment in which it is asked whether somebody has it open. The signal that the system
    /// sends then ends no process.
    @Test func fileOpenedWhileItIsAskedAbout() throws {
        let folder = RecordingFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let path = "\(folder.path)/a.ts"
        try Data("media".utf8).write(to: URL(filePath: path))
        do {
            let lease = try WriteLease(path)
            let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK)
            let code = errno
            #expect(descriptor == -1 && code == EWOULDBLOCK, "the lease is being broken")
            if descriptor >= 0 { close(descriptor) }
            _ = consume lease
        }
        let reader = try FileHandle(forReadingFrom: URL(filePath: path))
        do throws(WriteLease.Refusal) {
            _ = try WriteLease(path)
            Issue.record("a file that is open has a lease")
        } catch { #expect(error == .isOpen) }
        try reader.close()
        _ = try WriteLease(path)
    }

    /// A recording goes on in another file where the program of the guide ends, and is called as the program is.
    @Test func guideSplits() async throws {
        var channel = try SpooledChannel(of: .clean)
        let state = try await channel.relay()
        let entries = try #require(state.snapshot).index.listed.filter { !$0.isGap }
        let end = entries[3].programDateTime
        let rows: [(when: String, programs: ProgramLookup?, files: [String])] = [
            ("no guide", nil, ["News.ts"]), ("a guide without the channel", { _ in nil }, ["News.ts"]),
            (
                "a programme ends",
                {
                    $0 < end
                        ? GuideProgram(title: "A", end: end)
                        : GuideProgram(title: "B", end: $0.advanced(byMilliseconds: 1 << 40))
                },
                ["A.ts", "B.ts"]
            ),
            (
                "a time without a programme",
                { $0 < end ? GuideProgram(title: nil, end: end) : nil }, ["News-2.ts", "News.ts"]
            ),
        ]
        for row in rows {
            let folder = RecordingFolder()
            let pattern = try RecordingPattern("\(folder.path)/{title}.ts")
            let recorder = ChannelRecorder(
                .init(pattern: pattern, split: .program, closesAtEnd: true), channel: "news", title: "News",
                programs: row.programs)
            state.setState(.ended, reason: nil)
            await recorder.run(state)
            let files = folder.files.filter { $0.hasSuffix(".ts") }
            #expect(files == row.files.sorted(), "\(row.when): \(files)")
        }
    }

    /// The slate of outages is in a recording, or is media that is missing.
    @Test func slateIsLeftOutIfThatIsAsked() async throws {
        let folder = RecordingFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try SlateFixture.write(to: URL(filePath: "\(folder.path)/slate.mp4"))
        var channel = try SpooledChannel(of: CaptureFixture("outage"))
        let state = try await channel.relay(.init(slate: try SlateSource("\(folder.path)/slate.mp4")))
        let snapshot = try #require(state.snapshot)
        let entries = snapshot.index.listed.filter { !$0.isGap }
        let slate = entries.filter(\.isOutageSlate)
        #expect(!slate.isEmpty && slate.count < entries.count / 2)
        var lost: [Int64] = []
        for includesSlate in [true, false] {
            let plan = RecordingPlan(
                path: "x", format: .ts, start: entries[0].programDateTime, includesSlate: includesSlate)
            let journal = try #require(RecordingJournal(text: RecordingJournal(plan).head))
            #expect(journal.plan == plan, "a later process knows it too")
            var cursor = RecordingCursor(journal, split: .never, from: 0)
            let all = cursor.takeAll(of: snapshot)
            lost.append(all.lost)
            let expected = entries.filter { includesSlate || !$0.isOutageSlate }
            #expect(all.taken == expected.map(\.mediaSequence))
        }
        let length = slate.reduce(0) { $0 + $1.programDateTimeEnd.milliseconds(since: $1.programDateTime) }
        #expect(lost[1] - lost[0] == length)
    }

    @Test func fullDiskLeavesTheFileAsItWas() throws {
        let folder = RecordingFolder()
        let plan = RecordingPlan(path: "\(folder.path)/news", format: .ts)
        let file = try RecordingFile(
            RecordingJournal(plan), at: "\(folder.path)/.news.recording",
            on: FileSystem(space: { _ in FileSystemSpace(freeBytes: 26_843_545, byteCount: 256 << 20) }))
        #expect(throws: RecordingFile.Failure.full) { try file.requireSpace(1) }
        #expect(throws: RecordingFile.Failure.inUse(path: "\(folder.path)/.news.recording")) {
            _ = try RecordingFile(RecordingJournal(plan), at: "\(folder.path)/.news.recording")
        }
        #expect(try folder.bytes("news.ts").isEmpty)
    }
}

/// Several audio tracks in the last forms of recordings.
struct RecordedTrackTests {
    private static func track(_ language: String, _ kind: AudioTrackIdentity.Kind = .main) -> AudioTrackIdentity {
        AudioTrackIdentity(language: LanguageTag(language) ?? .unknown, kind: kind)
    }

    private static let subtitles = PrivateDataStream(
        descriptor: [0x59, 16] + Array("fra".utf8) + [0x20, 0, 1, 0, 9] + Array("deu".utf8) + [0x10, 0, 2, 0, 9])

    /// The display set of both services at one time.
    private static func segments(_ number: Int64) -> [[UInt8]] {
        [[0x0F, 0x10, 0, 1, 0, 1, UInt8(number)], [0x0F, 0x10, 0, 2, 0, 2, UInt8(number), 7]]
    }

    /// Three tracks of audio, DVB subtitles and teletext, read from their transport stream.
    private static func part() throws -> RecordedMedia.Part {
        let aac = AudioConfiguration(
            codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024, decoderSpecificInfo: [0x11, 0x90])
        var state = TransportStreamState(video: nil, audio: aac, initialization: "a")
        state.insert([(track("de"), aac), (track("en", .commentary), aac)], leading: track("en"))
        state.insert([subtitles, PrivateDataStream(descriptor: [0x56, 5] + Array("fra".utf8) + [0x10, 0x88])])
        var media = TransportMedia(decoding: Ticks(918_000)..<Ticks(1_080_000), presentationStart: Ticks(918_000))
        let frames = { (payload: UInt8) in
            (0..<80).map { index in
                TransportMedia.AudioFrame(
                    time: Ticks(918_000 + index * 1920), payload: [UInt8](repeating: payload, count: 40)[...])
            }
        }
        (media.audio, media.audioConfiguration) = (frames(1), aac)
        media.furtherAudio = [2, 3].map { TransportMedia.FurtherAudio(frames: frames($0), configuration: aac) }
        media.privateData = (0..<4).flatMap { (page: Int64) in
            (0..<2).map { stream in
                TransportMedia.PrivateDataPacket(
                    time: Ticks(918_000 + page * 18_000), stream: stream,
                    payload: [stream == 0 ? 0x20 : 0x10, 0] + segments(page).joined() + [0xFF])
            }
        }
        var buffer: [UInt8] = []
        let bytes = TransportStreamMuxer(state).segment(media, in: &buffer).bytes
        var reader = RecordedMedia()
        return try reader.read(bytes, near: Ticks(918_000))
    }

    @Test(arguments: [RecordingFormat.mp4, .mkv]) func everyTrackHasItsLanguage(_ format: RecordingFormat) throws {
        let part = try Self.part()
        #expect(part.audio.map(\.number) == [0, 1, 2])
        for service in 0..<2 {
            let packets = part.subtitles.filter { $0.service == service }
            #expect(packets.map { Array($0.bytes) } == (0..<4).map { Self.segments($0)[service] })
            #expect(packets.map(\.time.count) == [918_000, 936_000, 954_000, 972_000])
        }
        #expect(part.audio.map(\.track) == [Self.track("en"), Self.track("de"), Self.track("en", .commentary)])
        var file: [UInt8]
        if format == .mp4 {
            var movie = RecordedMovie()
            try movie.append(part)
            file = movie.head(lasting: Ticks(153_600), chapters: [], tags: []) + part.payload
        } else {
            let tracks = part.audio.map {
                (
                    MatroskaWriter.audioTrack + UInt8($0.number),
                    MatroskaWriter.Audio($0.configuration, track: $0.track)
                )
            }
            var writer = try MatroskaWriter(
                video: nil, audio: Dictionary(uniqueKeysWithValues: tracks),
                subtitles: Self.subtitles.subtitlingServices,
                .init(title: "x", date: 0, duration: Ticks(153_600), tags: [], chapters: []))
            file = writer.head + writer.clusters(part.frames(from: Ticks(918_000)))
            let end = writer.end()
            file += end.tail
            for patch in end.patches {
                file.replaceSubrange(patch.offset..<patch.offset + patch.bytes.count, with: patch.bytes)
            }
        }
        let probe = try FFmpegTool.run(
            "ffprobe",
            [
                "-v", "error", "-count_packets", "-show_entries",
                "stream=codec_name,nb_read_packets:stream_tags=language"
                    + ":stream_disposition=default,hearing_impaired,visual_impaired",
                "-of", "csv=p=0", "INPUT",
            ], input: file)
        let lines = probe.text.split(separator: "\n").map(String.init)
        let marked =
            format == .mkv
            ? ["aac,80,0,0,1,eng", "dvb_subtitle,4,0,1,0,fra", "dvb_subtitle,4,0,0,0,deu"] : ["aac,80,0,0,0,eng"]
        #expect(lines == ["aac,80,1,0,0,eng", "aac,80,0,0,0,deu"] + marked, "\(lines)")
    }
}

/// The names and the journals of recordings.
struct RecordingValueTests {
    private static let paths: [(pattern: String, path: String)] = [
        ("/rec/{channel}/{start:%Y-%m-%d_%H-%M}.mkv", "/rec/news/2026-01-01_12-00"),
        ("rec/{title} {start}.mp4", "rec/A_B_ C 2026-01-01_12-00-06"),
        ("{start:%F %s %%}.ts", "2026-01-01 1767268806 %"),
        ("rec/show.mp4", "rec/show"),
    ]

    @Test(arguments: paths) func path(pattern: String, path: String) throws {
        let start = ProgramDateTime(millisecondsSince1970: 1_767_268_806_000)
        #expect(try RecordingPattern(pattern).path(channel: "news", title: "A/B: C", start: start) == path)
    }

    private static let faults: [(pattern: String, fault: RecordingPattern.Fault)] = [
        ("rec/{channel}", .format), ("rec/{channel}.avi", .format), ("{name}.ts", .field("{name}")),
        ("{channel.ts", .field("{channel")), ("{start:%Q}.ts", .conversion("Q")), ("{start:%}.ts", .conversion("%")),
    ]

    @Test(arguments: faults) func fault(pattern: String, fault: RecordingPattern.Fault) {
        #expect(throws: fault) { try RecordingPattern(pattern) }
    }

    @Test func valuesStayInTheDirectory() throws {
        let start = ProgramDateTime(millisecondsSince1970: 0)
        let pattern = try RecordingPattern("/rec/{title}.ts")
        #expect(pattern.path(channel: nil, title: "../../etc/x", start: start) == "/rec/_._.._etc_x")
        #expect(pattern.root == "/rec")
        #expect(try RecordingPattern("{channel}.ts").root == ".")
        let rows: [(pattern: String, path: String, isInside: Bool)] = [
            ("/rec/{title}.ts", "/rec/news", true), ("/rec/{title}.ts", "/rec/../etc/x", false),
            ("/rec/{channel}/{title}.ts", "/recordings/x", false), ("{title}.ts", "/etc/x", false),
            ("../a/{channel}/{title}.ts", "../a/news/x", true), ("x/{title}.ts", "y/x", false),
            ("/{channel}.ts", "/x", true),
        ]
        for row in rows {
            #expect(try RecordingPattern(row.pattern).isBelowRoot(row.path) == row.isInside, "\(row)")
        }
        let places: [(pattern: String, prefix: String, folder: String, depth: Int)] = [
            ("/rec/{channel}/{start}.ts", "/rec/news/", "/rec/news/", 0), ("{channel}_{title}.ts", "news_", "", 0),
            ("rec/{title}/{channel}/x.ts", "rec/", "rec/", 2), ("/{channel}.ts", "/news", "/", 0),
            ("../a/{channel}-{start}/{title}.ts", "../a/news-", "../a/", 1),
        ]
        for row in places {
            #expect(
                try RecordingPattern(row.pattern).place(of: "news") == (row.prefix, row.folder, row.depth), "\(row)")
        }
        for (pattern, path) in [("/rec/{title}.ts", "/rec/a/b"), ("{title}.ts", "a/b"), ("/{title}.ts", "/a/b")] {
            #expect(try RecordingPattern(pattern).path(ofBase: "a/b") == path)
        }
    }

    private static let boundaries: [(split: RecordingSplit, date: String, boundary: String?)] = [
        (.never, "2026-01-01T12:00:06Z", nil), (.program, "2026-01-01T12:00:06Z", nil),
        (.day, "2026-01-01T12:00:06Z", "2026-01-02T00:00:00Z"),
        (.every(seconds: 3600), "2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z"),
        (.every(seconds: 3600), "1969-12-31T23:30:00Z", "1970-01-01T00:00:00Z"),
    ]

    @Test(arguments: boundaries) func boundary(split: RecordingSplit, date: String, boundary: String?) throws {
        let date = try #require(ProgramDateTime(parsing: date))
        #expect(split.boundary(after: date) == boundary.flatMap { ProgramDateTime(parsing: $0) })
    }

    @Test func retentionRemovesTheOldest() {
        let items = (0..<5).map { RecordingRetention.Item(base: "\($0)", byteCount: 10, time: Int64($0) * 100) }
        let rows: [(retention: RecordingRetention, kept: Set<String>, gone: [String])] = [
            (.init(), [], []), (.init(longest: 250), [], ["0", "1"]), (.init(longest: 250), ["0"], ["1"]),
            (.init(byteLimit: 25), [], ["0", "1", "2"]), (.init(byteLimit: 25), ["1"], ["0", "2", "3"]),
            (.init(longest: 350, byteLimit: 30), [], ["0", "1"]),
        ]
        for row in rows {
            let gone = row.retention.expired(items, at: 400) { row.kept.contains($0.base) }
            #expect(gone.map(\.base) == row.gone, "\(row)")
        }
    }
}
