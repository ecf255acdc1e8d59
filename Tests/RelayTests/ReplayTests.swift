import Foundation
import LiveRing
import Playlist
import TestSupport
import Testing
import Tracker

@testable import Splice
@testable import liverelay

@Suite struct ReplayTests {
    static let captures: [CaptureFixture] = [.clean, .ssaiTagged, .ssaiUntagged, .wrap, .demuxedAES128]

    @Test(arguments: captures) func whatIsPublishedIsWhatWasReviewed(_ capture: CaptureFixture) async throws {
        let published = try await republish(capture)
        try expectGolden(published.whole, at: capture.expected("playlist.m3u8"))
        try expectGolden(published.dump, at: capture.expected("dump.txt"))
        try expectGolden(published.events, at: capture.expected("events.txt"))
    }

    @Test(arguments: captures) func twoReplaysGiveTheSameBytes(_ capture: CaptureFixture) async throws {
        let (first, second) = (try await republish(capture), try await republish(capture))
        #expect(first.whole == second.whole && first.versions == second.versions)
        #expect(first.segments.map(\.bytes) == second.segments.map(\.bytes))
        #expect(first.segments.map(\.initialization) == second.segments.map(\.initialization))
        #expect(!first.segments.isEmpty)
    }

    /// Runs, where they begin (media sequence of the output), and what the source has from where it was joined.
    static let expectations: [(capture: CaptureFixture, runs: Int, inits: Int)] = [
        (.clean, 1, 1), (.ssaiTagged, 5, 4), (.ssaiUntagged, 5, 4), (.wrap, 1, 1), (.demuxedAES128, 1, 1),
    ]

    @Test(arguments: expectations.indices) func runsBecomeDiscontinuitiesAndInitSections(_ index: Int) async throws {
        let row = Self.expectations[index]
        let published = try await republish(row.capture)
        let playlist = try MediaPlaylistParser.parse(Array(published.whole.utf8))
        #expect(published.end == .drained && playlist.hasEndList, "\(row.capture)")
        #expect(published.status.splice.runs == row.runs, "\(row.capture)")
        #expect(playlist.segments.filter(\.isDiscontinuous).count == row.runs - 1, "\(row.capture)")
        #expect(Set(playlist.segments.compactMap(\.map?.uri)).count == row.inits, "\(row.capture)")
    }

    @Test(arguments: captures) func theSanitizerChangesNothingOnCleanInput(_ capture: CaptureFixture) async throws {
        let status = try await republish(capture).status.splice
        #expect(status.sanitized == 0 && status.timesFilled == 0 && status.segmentsSkipped == 0)
        #expect(status.picturesBeforeSync == 0 && status.picturesWithoutSync == 0 && status.demux == .init())
        #expect(status.audioDepartures == 0 && status.audioFramesOfSilence <= status.runs)
    }

    /// CONFORMANCE 30: to the tick, over every splice, in both tracks.
    @Test(arguments: captures) func decodeTimeIsTheSumOfAllDurations(_ capture: CaptureFixture) async throws {
        var next: [UInt32: UInt64] = [:]
        let published = try await republish(capture)
        for segment in published.segments {
            let tracks = try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks)
            #expect(tracks.map(\.trackID) == [1, 2], "\(segment.name): no traf goes missing")
            for track in tracks {
                let decodeTime = try #require(track.decodeTime)
                if let expected = next[track.trackID] { #expect(decodeTime == expected, "\(segment.name)") }
                next[track.trackID] = decodeTime + track.samples.reduce(0) { $0 + UInt64($1.duration) }
            }
        }
        #expect(next.count == 2)
    }

    /// Rule 1 of the layout of time: each run's first picture bears the same composition offset, so what is shown is as
    /// continuous as what is decoded.
    @Test(arguments: captures) func presentationContinuesAtEverySplice(_ capture: CaptureFixture) async throws {
        let published = try await republish(capture)
        let playlist = try MediaPlaylistParser.parse(Array(published.whole.utf8))
        var shownUntil: Int64?
        for (entry, segment) in zip(playlist.segments, published.segments) {
            let video = try #require(try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks).first)
            var decode = Int64(try #require(video.decodeTime))
            var shown: [(start: Int64, duration: Int64)] = []
            for sample in video.samples {
                shown.append((decode + Int64(sample.compositionOffset), Int64(sample.duration)))
                decode += Int64(sample.duration)
            }
            if let shownUntil {
                let step = abs(try #require(shown.map(\.start).min()) - shownUntil)
                #expect(step <= shown[0].duration / 2, "\(segment.name) steps by \(step) ticks")
            }
            if entry.isDiscontinuous { #expect(video.samples[0].compositionOffset == 18_000, "\(segment.name)") }
            shownUntil = shown.map { $0.start + $0.duration }.max()
        }
    }

    @Test(arguments: captures) func noVersionOfThePlaylistBreaksARule(_ capture: CaptureFixture) async throws {
        let versions = try await republish(capture).versions
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

/// What somebody else counts in the bodies that were taken.
@Suite struct FrameCountTests {
    @Test(arguments: [CaptureFixture.clean, .ssaiTagged, .ssaiUntagged, .wrap])
    func everyPictureOfTheSourceIsPublishedOnce(_ capture: CaptureFixture) async throws {
        let published = try await republish(capture)
        let pictures = try published.segments.map { segment in
            try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks).filter { $0.trackID == TrackID.video }
                .reduce(0) { $0 + $1.samples.count }
        }
        let taken = try listedBodies(of: capture).suffix(published.status.upstream.segmentsDelivered)
        let counted = try taken.map { try countedPictures(in: capture.file("body/\($0)")) }
        #expect(pictures == counted, "segment by segment")
    }

    /// Every segment that any list of the capture names, in order.
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

    private func countedPictures(in file: URL) throws -> Int {
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
