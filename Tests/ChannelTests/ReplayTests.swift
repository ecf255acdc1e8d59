import Capture
import ChannelTestSupport
import Foundation
import LiveRing
import Playlist
import Support
import TestSupport
import Testing
import Tracker

@testable import Channel
@testable import Demux
@testable import Fetch
@testable import Media
@testable import Splice

@Suite struct ReplayTests {
    static let rows = CaptureRow.all

    @Test func everyCaptureHasARow() throws {
        let known = Self.rows.map(\.capture.name) + CaptureRow.testedElsewhere
        #expect(try CaptureFixture.all().map(\.name) == known.sorted())
    }

    @Test(arguments: rows) func whatIsPublishedIsWhatWasReviewed(_ row: CaptureRow) async throws {
        let published = try await ReplayCache.shared.result(of: row.capture)
        try expectGolden(published.dvrPlaylist, at: row.capture.expected("playlist.m3u8"))
        try expectGolden(published.dump, at: row.capture.expected("dump.txt"))
        try expectGolden(published.events, at: row.capture.expected("events.txt"))
    }

    /// A clean channel, spliced ads, a companion rendition with keys, audio alone, faults, a failover, and the other kinds
    /// of upstreams; or all captures, if the environment says so.
    static let replayedTwice =
        ProcessInfo.processInfo.environment["LIVERELAY_TESTS"] == "all"
        ? rows
        : rows.filter {
            [
                "clean", "ssai_untagged", "ladder_pod", "demuxed_aes128", "audio_only", "segment_404", "backup",
                "dash_periods",
                "raw_stream", "rtp_group", "mp4_file", "ts_file",
            ].contains($0.capture.name)
        }

    @Test func representativeCapturesAreReplayedTwice() { #expect(Self.replayedTwice.count >= 12) }

    @Test(arguments: replayedTwice) func secondReplayGivesTheSameBytes(_ row: CaptureRow) async throws {
        let (first, second) = (try await ReplayCache.shared.result(of: row.capture), try await republish(row.capture))
        #expect(first.dvrPlaylist == second.dvrPlaylist && first.versions == second.versions)
        #expect(first.segments.map(\.bytes) == second.segments.map(\.bytes))
        #expect(first.segments.map(\.initialization) == second.segments.map(\.initialization))
        #expect(!first.segments.isEmpty)
        #expect(first.variants == second.variants)
    }

    /// The rules of `liverelay check`, over every version of live.m3u8 and every frame of its segments.
    @Test(arguments: rows) func ownOutputBreaksNoRule(_ row: CaptureRow) async throws {
        let status = try await ReplayCache.shared.result(of: row.capture).status
        #expect(status.output.brokenRules == [], "\(row.capture.name)")
    }

    /// The rules that relaying a capture shows to be broken. `CaptureCheckTests` has what `liverelay check` finds in it.
    /// More is known here of a body that was cut (40), and of numbers after an end (6); less of a tag that came late (10), and
    /// of a tail that was removed (12).
    private static let brokenByUpstream: [String: [Int]] = [
        "audio_changes": [26],
        "audio_only": [26],
        "cut_at_packet": [40],
        "expired_token": [40],
        "frozen_list": [11],
        "garbage": [40],
        "half_written": [40],
        "html_200": [40],
        "irregular_lists": [2],
        "list_shrinks": [39],
        "media_refused": [14],
        "metered": [40],
        "new_session": [6, 15],
        "numbers_ahead": [7],
        "overlapping_numbers": [8],
        "parameter_sets": [26],
        "reset_new_uris": [6],
        "reset_same_uris": [6],
        "retry_after": [40],
        "seam_times": [26],
        "segment_404": [14],
        "short_body": [40],
        "ssai_untagged": [26],
        "stale_edge": [39],
        "tagged_late": [26],
        "tags_wrong": [26],
        "target_changes": [5],
        "two_switches": [26],
        "video_codecs": [26],
    ]

    @Test(arguments: rows) func upstreamBreaksTheRulesThatCheckFinds(_ row: CaptureRow) async throws {
        let status = try await ReplayCache.shared.result(of: row.capture).status
        let found = status.upstream.brokenRules.map(\.rule)
        #expect(found == Self.brokenByUpstream[row.capture.name] ?? [], "\(row.capture.name)")
    }

    /// The variants of a capture that were followed on demand.
    @Test func whatVariantsListIsWhatWasReviewed() async throws {
        let capture = CaptureFixture("ladder_pod")
        let published = try await ReplayCache.shared.result(of: capture)
        #expect(published.variants.count == 2)
        try expectGolden(published.variants.joined(), at: capture.expected("variants.txt"))
        let counts = try #require(published.status.splice.variants)
        #expect(counts.allSatisfy { $0.gaps == 0 && $0.segments > 3 })
    }

    @Test(arguments: rows) func periodsBecomeDiscontinuitiesAndInitSections(_ row: CaptureRow) async throws {
        let published = try await ReplayCache.shared.result(of: row.capture)
        let playlist = try MediaPlaylistParser.parse(Array(published.dvrPlaylist.utf8))
        #expect(published.end == (row.isEndless ? nil : .drained) && playlist.hasEndList != row.isEndless)
        #expect(published.status.splice.counts[.periods] == row.periods)
        #expect(playlist.segments.filter(\.isDiscontinuous).count == row.periods - 1)
        #expect(Set(playlist.segments.compactMap(\.map?.uri)).count == row.initSections)
    }

    @Test(arguments: rows) func statusCountsOnlyWhatTheCaptureLost(_ row: CaptureRow) async throws {
        let status = try await ReplayCache.shared.result(of: row.capture).status
        let splice = status.splice
        #expect(
            splice.counts[.adjustedTimestamps] == 0 && splice.counts[.inferredTimestamps] == 0
                && splice.segmentsSkipped == row.segmentsSkipped)
        #expect(splice.segmentsNotWritten == 0 && status.upstream.counts.lost == row.segmentsLost)
        let lost = splice.counts[.framesBeforeSync] + splice.counts[.leadingPictures]
        #expect(lost + splice.counts.demux[.undecodableUnits] == row.lostFrames.count, "\(row.lostFrames.because)")
        #expect(splice.counts[.timestampGaps] == row.timestampGaps.count)
        #expect(splice.timestampGapSeconds == row.timestampGaps.seconds)
    }

    @Test(arguments: rows) func everyFrameIsPublished(_ row: CaptureRow) async throws {
        guard let presented = try row.presentedFrameCount else { return }
        let frames = try await ReplayCache.shared.result(of: row.capture).segments.reduce(0) { sum, segment in
            try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks).filter { $0.trackID == TrackID.video }
                .reduce(sum) { $0 + $1.samples.count }
        }
        #expect(frames == presented - row.lostFrames.count - row.lateFrames + row.repeatedFrames)
    }

    /// CONFORMANCE 30: exact to the tick, across every splice, in both tracks.
    @Test(arguments: rows.filter { !$0.hasOutageGaps }) func decodeTimeIsTheSumOfAllDurations(_ row: CaptureRow)
        async throws
    {
        var next: [UInt32: UInt64] = [:]
        let published = try await ReplayCache.shared.result(of: row.capture)
        for segment in published.segments {
            let tracks = try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks)
            let all = row.isAudioOnly ? [TrackID.audio] : [TrackID.video, TrackID.audio]
            #expect(tracks.map(\.trackID) == all, "\(segment.name): every track has a traf")
            for track in tracks {
                let decodeTime = try #require(track.decodeTime)
                if let expected = next[track.trackID] { #expect(decodeTime == expected, "\(segment.name)") }
                next[track.trackID] = decodeTime + track.samples.reduce(0) { $0 + UInt64($1.duration) }
            }
        }
        #expect(next.count == (row.isAudioOnly ? 1 : 2))
    }

    /// The first frame of each period has the same composition offset, so presentation times are as continuous as decode
    /// times.
    @Test(arguments: rows.filter { !$0.isAudioOnly && !$0.skipsFrames && !$0.hasOutageGaps })
    func presentationContinuesAtEverySplice(_ row: CaptureRow) async throws {
        let published = try await ReplayCache.shared.result(of: row.capture)
        let playlist = try MediaPlaylistParser.parse(Array(published.dvrPlaylist.utf8))
        var presentationEnd: Int64?
        for (entry, segment) in zip(playlist.segments, published.segments) {
            let video = try #require(try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks).first)
            var decode = Int64(try #require(video.decodeTime))
            var presented: [(start: Int64, duration: Int64)] = []
            for sample in video.samples {
                presented.append((decode + Int64(sample.compositionOffset), Int64(sample.duration)))
                decode += Int64(sample.duration)
            }
            if let presentationEnd {
                let step = abs(try #require(presented.map(\.start).min()) - presentationEnd)
                #expect(step <= presented[0].duration / 2, "\(segment.name) steps by \(step) ticks")
            }
            if entry.isDiscontinuous { #expect(video.samples[0].compositionOffset == 18_000, "\(segment.name)") }
            presentationEnd = presented.map { $0.start + $0.duration }.max()
        }
    }

    @Test(arguments: rows) func listedSegmentsNeverChange(_ row: CaptureRow) async throws {
        let versions = try await ReplayCache.shared.result(of: row.capture).versions
        #expect(versions.count > 1)
        for (old, new) in zip(versions, versions.dropFirst()) {
            #expect(new.mediaSequence >= old.mediaSequence && new.targetDuration == old.targetDuration)
            let known = Dictionary(uniqueKeysWithValues: old.segments.map { ($0.mediaSequence, $0) })
            for segment in new.segments {
                guard let before = known[segment.mediaSequence] else { continue }
                #expect(before.uri == segment.uri && before.duration == segment.duration && before.map == segment.map)
                #expect(before.discontinuitySequence == segment.discontinuitySequence)
            }
        }
    }
}

/// The frames of whole captures, compared with what ffprobe counts.
@Suite struct FrameCountTests {
    @Test(arguments: [CaptureFixture.clean, .ssaiTagged, .ssaiUntagged, .wrap])
    func everyFrameOfTheUpstreamIsPublishedOnce(_ capture: CaptureFixture) async throws {
        let published = try await ReplayCache.shared.result(of: capture)
        let frames = try published.segments.map { segment in
            try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks).filter { $0.trackID == TrackID.video }
                .reduce(0) { $0 + $1.samples.count }
        }
        let delivered = try listedBodies(of: capture).suffix(published.status.upstream.counts[.segmentsDelivered])
        let counted = try delivered.map { try countFrames(in: capture.file("body/\($0)")) }
        #expect(frames == counted, "segment by segment")
    }

    /// Returns every segment that any playlist of the capture lists, in order.
    private func listedBodies(of capture: CaptureFixture) throws -> [String] {
        var names: [UInt64: String] = [:]
        for exchange in try CaptureDirectory(capture.directory).index.exchanges {
            guard case .answer(let answer) = exchange.ending, case .text(let text) = answer.body else { continue }
            for segment in try MediaPlaylistParser.parse(Array(text.utf8)).segments {
                names[segment.mediaSequence] = segment.uri
            }
        }
        return names.sorted { $0.key < $1.key }.map(\.value)
    }

    private func countFrames(in file: URL) throws -> Int {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries",
            "stream=nb_read_packets", "-of", "csv=p=0", file.path,
        ]
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let digits = String(decoding: answer, as: UTF8.self).split { !$0.isNumber }.first
        return try #require(digits.flatMap { Int($0) })
    }
}
