import ChannelTestSupport
import Foundation
import Playlist
import TestSupport
import Testing

@testable import Capture
@testable import Channel
@testable import Export
@testable import LiveRing
@testable import Media
@testable import Mux
@testable import Support

/// Transport streams of what is in a spool.
@Suite struct TransportStreamRingTests {
    /// A channel on a spool, and all of its segments as transport streams by their names in playlists.
    private static func transportStreams(
        of snapshot: RingSnapshot
    ) async throws -> [(entry: RingEntry, segment: TransportSegment)] {
        let store = TransportStreamStore(byteLimit: 1)
        var segments: [(RingEntry, TransportSegment)] = []
        for entry in snapshot.index.listed where !entry.isGap {
            segments.append((entry, try await store.segment(of: entry, in: snapshot)))
        }
        return segments
    }

    static let captures = [
        "clean", "ssai_tagged", "audio_changes", "video_codecs", "parameter_sets", "event_messages", "audio_only",
        "demuxed_aes128", "packed_audio", "two_switches", "outage",
    ]

    @Test(arguments: captures) func segmentsFollowOneAnother(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let state = try await channel.relay()
        let snapshot = try #require(state.snapshot)
        let segments = try await Self.transportStreams(of: snapshot)
        let scan = try #require(TransportStreamScan(segments.flatMap(\.segment.bytes)))
        let isAudioOnly = state.status.transportStream.videoCodec == nil
        let faults = scan.faults(clockPID: isAudioOnly ? 0x101 : 0x100)
        let hasGaps = snapshot.index.listed.contains(where: \.isGap)
        #expect(faults.filter { !hasGaps || !$0.contains("PCR step") && !$0.contains("table") } == [])
        for pid in isAudioOnly ? [0x101] : [0x100, 0x101] {
            let times = scan.packetizedElements(of: pid).map(\.dts)
            #expect(times.count > 10 && zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(pid)")
        }
    }

    /// One reader asks for no segment again, so the memory of those before the latest is used for the next ones.
    @Test(arguments: [(false, 0), (true, 2)]) func latestSegmentOfOneReaderIsKept(
        hasOneReader: Bool, madeAgain: Int
    ) async throws {
        var channel = try SpooledChannel(of: .clean)
        var snapshot = try #require(try await channel.relay().snapshot)
        snapshot.memory = hasOneReader ? SpoolMemory() : nil
        let store = TransportStreamStore()
        let entries = snapshot.index.listed.prefix(3)
        for entry in entries { _ = try await store.segment(of: entry, in: snapshot) }
        for entry in entries.reversed() { _ = try await store.segment(of: entry, in: snapshot) }
        #expect(store.counts.segments == 3 + madeAgain)
    }

    /// What is recorded when a segment is published says the bytes that a client of an endless stream gets.
    @Test(arguments: captures + ["backup", "broadcast_audio", "gap", "wrap"])
    func sizesAreKnownBeforeTheBytes(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let snapshot = try #require(try await channel.relay().snapshot)
        let store = TransportStreamStore(byteLimit: 1)
        var clock = ClientClock()
        var shift = Ticks.zero
        var isFirst = true
        for (entry, segment) in try await Self.transportStreams(of: snapshot) {
            let extent = try #require(entry.transportStream?.extent, "\(entry.segment.name)")
            #expect(extent.byteCount == segment.bytes.count, "\(entry.segment.name)")
            if extent.earlyAudioByteCount > 0 {
                let alone = try await store.segment(of: entry, in: snapshot, earlyAudio: .alone)
                let rest = try await store.segment(of: entry, in: snapshot, earlyAudio: .removed)
                #expect(extent.earlyAudioByteCount == alone.bytes.count, "\(entry.segment.name)")
                #expect(extent.removedByteCount == segment.bytes.count - rest.bytes.count, "\(entry.segment.name)")
            }
            let placements = segment.chunks.map { clock.append(from: $0.start, lasting: $0.duration) }
            let first = try #require(placements.first)
            #expect(placements.dropFirst().allSatisfy { $0.shift == first.shift && $0.pause.isEmpty })
            if !isFirst {
                shift += Ticks(extent.shift)
                #expect(first.shift == shift, "\(entry.segment.name)")
                #expect((first.pause.upperBound - first.pause.lowerBound).count == extent.pause)
                let state = try #require(entry.transportStream.flatMap { TransportStreamState($0) })
                #expect(TransportTimeShift.clock(first.pause, of: state.program).count == extent.leadByteCount)
            }
            isFirst = false
        }
    }

    /// A spool outlives its program: other bytes for the same segment need another name of the journal's TS-EXTENT.
    @Test func bytesOfTheRecordedLayout() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let snapshot = try #require(try await channel.relay().snapshot)
        let bytes = try await Self.transportStreams(of: snapshot).flatMap(\.segment.bytes)
        #expect(
            ContentHash.hexName(of: bytes) == "05af0409eca92d5d66f9e77110f4d03f",
            "if that is wanted, count TS-EXTENT up")
    }

    @Test(arguments: captures) func playlistsListTheSameSegments(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let snapshot = try #require(try await channel.relay().snapshot)
        let playlist = try MediaPlaylistParser.parse(try #require(snapshot.dvrPlaylist(.whole, of: .transportStream)))
        let fragmented = try MediaPlaylistParser.parse(try #require(snapshot.dvrPlaylist(.whole)))
        #expect(playlist.segments.allSatisfy { $0.map == nil } && PlaylistWriter.version(neededBy: playlist) == 3)
        #expect(playlist.segments.map(\.mediaSequence) == fragmented.segments.map(\.mediaSequence))
        #expect(playlist.segments.map(\.duration) == fragmented.segments.map(\.duration))
        #expect(playlist.segments.map(\.programDateTime) == fragmented.segments.map(\.programDateTime))
        #expect(
            playlist.segments.map(\.uri) == fragmented.segments.map { $0.uri.replacing(".m4s", with: ".ts") })
        // A discontinuity is where the init section changes, and nowhere else.
        let media = zip(playlist.segments, fragmented.segments).filter { !$0.0.isGap }
        let changes = zip(media, media.dropFirst()).map { $0.1.map != $1.1.map }
        #expect(media.dropFirst().map(\.0.isDiscontinuous) == changes)
        for segment in playlist.segments where !segment.isGap {
            #expect(snapshot.index.entry(ofTransportStream: segment.uri)?.mediaSequence == segment.mediaSequence)
        }
        #expect(snapshot.index.entry(ofTransportStream: "seg-1-00000000.ts") == nil)
    }

    @Test func discontinuityNumbersStayWhileTheWindowSlides() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("audio_changes"))
        let index = try #require(try await channel.relay().snapshot).index
        var expected: [UInt64: UInt64] = [:]
        for first in index.listed.indices {
            let playlist = MediaPlaylist.transportStreams(index.listed[first...], targetDuration: index.targetDuration)
            let parsed = try MediaPlaylistParser.parse(Array(PlaylistWriter.write(playlist).utf8))
            for segment in parsed.segments {
                #expect(
                    expected[segment.mediaSequence, default: segment.discontinuitySequence]
                        == segment.discontinuitySequence)
                expected[segment.mediaSequence] = segment.discontinuitySequence
            }
        }
    }

    @Test(arguments: ["ssai_tagged", "audio_changes", "video_codecs"])
    func restartChangesNoByte(_ name: String) async throws {
        let capture = CaptureFixture(name)
        let length = try CaptureDirectory(capture.directory).index.duration
        var channel = try SpooledChannel(of: capture)
        let before = try #require(try await channel.relay(.init(times: .zero..<length / 2)).snapshot)
        let earlier = try await Self.transportStreams(of: before)
        let after = try #require(
            try await channel.relay(.init(times: length / 2..<length + .seconds(30))).snapshot)
        let all = try await Self.transportStreams(of: after)
        #expect(earlier.count > 2 && all.count > earlier.count)
        #expect(all.prefix(earlier.count).map(\.segment) == earlier.map(\.segment))
        #expect(try #require(TransportStreamScan(all.flatMap(\.segment.bytes))).faults(clockPID: 0x100) == [])
        let whole = try await ReplayCache.shared.result(of: capture)
        #expect(whole.status.transportStream.audioChanges >= 0)
    }

    /// MP3, AC-3 and E-AC-3 in a channel of AAC are encoded for all outputs, also by the next process.
    @Test(arguments: ["audio_changes", "packed_audio", "broadcast_audio"])
    func audioKeepsItsCodec(_ name: String) async throws {
        let capture = CaptureFixture(name)
        let length = try CaptureDirectory(capture.directory).index.duration
        var channel = try SpooledChannel(of: capture)
        _ = try await channel.relay(.init(times: .zero..<length / 2))
        let state = try await channel.relay(.init(times: length / 2..<length + .seconds(30)))
        let entries = try #require(state.snapshot).index.listed.filter { !$0.isGap }
        #expect(entries.allSatisfy { $0.format.audioCodec == "mp4a.40.2" })
        #expect(state.status.transportStream.foreignAudioSegments == 0)
    }

    @Test func foreignCodecsAreStillsAndSilence() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("video_codecs"))
        let state = try await channel.relay()
        let snapshot = try #require(state.snapshot)
        #expect(state.status.transportStream.foreignVideoSegments > 0)
        var stills = 0
        for (entry, segment) in try await Self.transportStreams(of: snapshot)
        where entry.format.videoCodec?.hasPrefix("hvc1") == true {
            let units = try #require(TransportStreamScan(segment.bytes)).packetizedElements(of: 0x100)
            #expect(units.allSatisfy { $0.randomAccess } && Set(units.map(\.payload)).count == 1)
            stills += units.count
        }
        #expect(stills > 5)
        let master = try #require(
            snapshot.transportStreamMasterPlaylist(format: SegmentFormat.init(transportStreamOf:parameters:)))
        let text = String(decoding: master, as: UTF8.self)
        #expect(!text.contains("hvc1") && text.contains("avc1") && text.contains("mp4a.40.2"))
    }

    /// What is evicted, or lost, changes no byte of the others.
    @Test(arguments: captures + ["backup", "broadcast_audio"])
    func segmentConsistsOfItsOwnFiles(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let snapshot = try #require(try await channel.relay().snapshot)
        let files = FileManager.default
        for (entry, segment) in try await Self.transportStreams(of: snapshot) {
            let directory = files.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
            try files.createDirectory(at: directory, withIntermediateDirectories: false)
            defer { try? files.removeItem(at: directory) }
            for file in [entry.segment, entry.transportStream?.still].compactMap(\.self) {
                try files.copyItem(
                    atPath: snapshot.path(of: file), toPath: directory.appending(path: file.name).path)
            }
            let alone = RingSnapshot(
                version: 1, index: RingIndex(policy: RetentionPolicy(rewind: nil), targetDuration: 6),
                hasEnded: false, rewindDrops: 0, housekeepingError: nil, directory: directory.path)
            #expect(try TransportStreamSource(alone).write(entry).segment == segment, "\(entry.mediaSequence)")
        }
    }

    /// Of a channel that begins in H.264 and AAC.
    @Test func foreignMediaHasItsFiles() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("video_codecs"))
        let snapshot = try #require(try await channel.relay().snapshot)
        let foreign = snapshot.index.listed.filter { !$0.isGap && $0.format.videoCodec?.hasPrefix("avc1") != true }
        let stills = Set(foreign.map { $0.transportStream?.still })
        #expect(!foreign.isEmpty && !stills.contains(nil))
        #expect(stills.count < foreign.count, "a period has one still")
        let own = snapshot.index.listed.filter { $0.format.videoCodec?.hasPrefix("avc1") == true }
        #expect(own.allSatisfy { $0.transportStream?.still == nil })
    }

    @Test func severalViewersShareTheWork() async throws {
        var channel = try SpooledChannel(of: .clean)
        let snapshot = try #require(try await channel.relay().snapshot)
        let store = TransportStreamStore()
        let entry = try #require(snapshot.index.listed.first)
        let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await store.segment(of: entry, in: snapshot).bytes.count } }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(sizes.count == 1)
        #expect(store.counts.segments == 1)
    }
}

/// Transport streams as files for clients that read slowly.
@Suite struct TransportStreamFileTests {
    @Test("Clients of one segment hold its bytes once", arguments: [50, 100, 200])
    func oneBodyForAll(clients: Int) async throws {
        var channel = try SpooledChannel(of: .clean)
        let snapshot = try #require(try await channel.relay().snapshot)
        let entry = try #require(snapshot.index.listed.first)
        let store = TransportStreamStore(byteLimit: 1 << 20)
        var held: [HeldBytes] = []
        for _ in 0..<clients { held.append(try await store.file(of: entry, in: snapshot)) }
        #expect(store.heldBytes == held[0].bytes.count && store.counts.segments == 1)
        held.removeAll()
        #expect(store.heldBytes == 0)
    }

    @Test("Clients that hold too much get no other segment of the rewind, and the live ones later")
    func heldBytesAreBounded() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let snapshot = try #require(try await channel.relay().snapshot)
        let entries = snapshot.index.listed.filter { !$0.isGap }
        let live = snapshot.liveSegmentCount
        try #require(live > 3 && entries.count > live + 4)
        let size = try await TransportStreamStore().segment(of: entries[0], in: snapshot).bytes.count
        let store = TransportStreamStore(byteLimit: size / 2)
        var held = [try await store.file(of: entries[0], in: snapshot)]
        await #expect(throws: TransportStreamError.busy) { try await store.file(of: entries[1], in: snapshot) }
        _ = try await store.file(of: entries[0], in: snapshot)
        var liveCount = 0
        do {
            for entry in entries.suffix(live) {
                held.append(try await store.file(of: entry, in: snapshot))
                liveCount += 1
            }
        } catch { #expect(error == .busy) }
        #expect(liveCount >= 1 && liveCount < live)
        let largest = held.map(\.bytes.count).max() ?? 0
        #expect(store.heldBytes == held.reduce(0) { $0 + $1.bytes.count } && store.heldBytes < 2 * size + largest)
        held.removeAll()
        _ = try await store.file(of: entries[1], in: snapshot)
    }

    /// One buffer for each use is kept, and none that is too large.
    @Test func memoryOfSegmentsIsKept() {
        let memory = SegmentMemory(byteLimit: 1 << 20)
        memory.store([1, 2, 3], for: .file)
        memory.store([UInt8](repeating: 0, count: 1 << 21), for: .output)
        #expect(memory.removeBuffer(for: .file) == [1, 2, 3] && memory.removeBuffer(for: .file).isEmpty)
        #expect(memory.removeBuffer(for: .output).isEmpty)
    }
}

extension MediaPlaylist {
    /// The playlist of a window.
    fileprivate static func transportStreams(_ entries: RingEntries, targetDuration: Int)
        -> MediaPlaylist
    {
        MediaPlaylist(
            entries: entries, targetDuration: targetDuration, nextMediaSequence: 0, discontinuitySequence: 0
        ) { $0.mediaSegment(in: .transportStream) }
    }
}

extension TransportStreamRingTests {
    /// ffmpeg's errors about a transport stream, without those of its own null muxer.
    private static func decodeErrors(_ bytes: [UInt8]) throws -> [Substring] {
        let arguments = ["-nostdin", "-v", "error", "-i", "INPUT", "-f", "null", "-vsync", "passthrough", "-"]
        return try FFmpegTool.run("ffmpeg", arguments, input: bytes).errors.split(separator: "\n")
            .filter { !$0.contains("null @") && !$0.contains("Last message repeated") }
    }

    @Test(arguments: captures) func ffmpegDecodesEverything(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let snapshot = try #require(try await channel.relay().snapshot)
        let segments = try await Self.transportStreams(of: snapshot)
        #expect(try Self.decodeErrors(segments.flatMap(\.segment.bytes)) == [])
    }

    @Test func clientsShareMovedSegments() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let snapshot = try #require(try await channel.relay().snapshot)
        let entry = try #require(snapshot.index.listed.first)
        let store = TransportStreamStore()
        let segment = try await store.segment(of: entry, in: snapshot)
        for shift in [Ticks.seconds(60), .seconds(60), .seconds(-7)] {
            let placed = await store.place(segment, of: entry, at: .init(pause: Ticks.zero..<Ticks.zero, shift: shift))
            #expect(placed.segment == segment.earlier(by: shift))
        }
        #expect(store.counts.segments == 1)
    }

    @Test func spliceCommandsHaveTheTimesOfTheFrames() async throws {
        var channel = try SpooledChannel(of: CaptureFixture("event_messages"))
        let snapshot = try #require(try await channel.relay().snapshot)
        let bytes = try await Self.transportStreams(of: snapshot).flatMap(\.segment.bytes)
        let sections = try #require(TransportStreamScan(bytes)).sections(of: 0x103)
            .map { try SpliceInfoSection($0.bytes) }
        let first = try #require(snapshot.index.listed.first)
        let range = try #require(snapshot.index.listed.flatMap(\.adMarkers.dateRanges).last)
        let start = Ticks(first.resumePoint.presentationEnd - first.duration)
        let times = [range.startDate, range.end].compactMap { $0?.milliseconds(since: first.programDateTime) }
        #expect(sections.compactMap(\.spliceTime) == times.map { start + .milliseconds($0) })
        let begins = sections.flatMap(\.cues).map { if case .out = $0.kind { true } else { false } }
        #expect(begins == [true, false])
        let moved = TransportTimeShift.packets(bytes[...], earlierBy: .seconds(3))
        let earlier = try #require(TransportStreamScan(moved)).sections(of: 0x103).map {
            try SpliceInfoSection($0.bytes)
        }
        #expect(earlier.map(\.spliceTime) == sections.map { $0.spliceTime.map { $0 - .seconds(3) } })
    }

    /// Joins at random chunks, also while an ad plays.
    @Test(arguments: ["ssai_tagged", "audio_changes", "open_gop"])
    func clientsMayJoinAtAnyIndependentChunk(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let snapshot = try #require(try await channel.relay().snapshot)
        let segments = try await Self.transportStreams(of: snapshot)
        var random = SeededGenerator(seed: 13)
        for _ in 0..<8 {
            let index = Int.random(in: 0..<segments.count - 1, using: &random)
            let segment = segments[index].segment
            // A segment may continue a GOP of the one before.
            guard let chunk = segment.chunks.filter(\.isEntryPoint).randomElement(using: &random) else { continue }
            let bytes = Array(segment.bytes[chunk.bytes.lowerBound...]) + segments[index + 1].segment.bytes
            #expect(try Self.decodeErrors(bytes) == [], "segment \(index)")
            let scan = try #require(TransportStreamScan(bytes))
            let video = try #require(scan.packetizedElements(of: 0x100).first)
            let audio = try #require(scan.packetizedElements(of: 0x101).first)
            // Within a frame of audio, unless the source's audio is earlier.
            #expect((-40_000...2000).contains(audio.pts - video.pts), "\(audio.pts - video.pts)")
        }
    }
}
