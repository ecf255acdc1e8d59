import ChannelTestSupport
import Playlist
import TestSupport
import Testing
import Tracker

@testable import Channel
@testable import Demux
@testable import Fetch
@testable import Media
@testable import Splice
@testable import Support

/// An audio-only channel, from its capture to the published segments.
@Suite struct AudioOnlyReplayTests {
    @Test func audioOnlyChannelIsRepublished() async throws {
        let published = try await republish(.audioOnly)
        try expectGolden(published.dvrPlaylist, at: CaptureFixture.audioOnly.expected("playlist.m3u8"))
        try expectGolden(published.dump, at: CaptureFixture.audioOnly.expected("dump.txt"))
        let playlist = try MediaPlaylistParser.parse(Array(published.dvrPlaylist.utf8))
        #expect(published.end == .drained && playlist.hasEndList)
        #expect(playlist.segments.filter(\.isDiscontinuous).count == 2, "the ad, and the return")
        #expect(
            Set(playlist.segments.compactMap(\.map?.uri)).count == 2, "the program gets its old init section back")
        let splice = published.status.splice
        #expect(
            splice.counts[.periods] == 3 && splice.currentPeriod?.video == nil
                && splice.currentPeriod?.audio == "mp4a.40.2")
        #expect(splice.segmentsSkipped == 0 && splice.counts[.silentAudioFrames] == 0 && splice.counts.demux == .init())
    }

    @Test func fragmentsHaveOneContinuousTrack() async throws {
        var next: UInt64?
        for segment in try await republish(.audioOnly).segments {
            let tracks = try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks)
            #expect(tracks.map(\.trackID) == [TrackID.audio], "\(segment.name)")
            let track = try #require(tracks.first)
            if let next { #expect(track.decodeTime == next, "\(segment.name)") }
            next = track.samples.reduce(track.decodeTime ?? 0) { $0 + UInt64($1.duration) }
        }
        #expect(next != nil)
    }
}
