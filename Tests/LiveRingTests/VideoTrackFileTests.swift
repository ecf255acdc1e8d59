import Foundation
import Playlist
import Testing

@testable import LiveRing
@testable import Support

/// The files of video tracks beside the leading one.
struct VideoTrackFileTests {
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private static let policy = RetentionPolicy(rewind: .seconds(48), liveWindow: .zero, freeReserve: 0)
    private static let tracks = ["720.2000000", "480.1000000"]

    private static func format(_ height: Int) -> SegmentFormat {
        var format = SegmentFormat(
            videoCodec: "avc1.64\(height)", resolution: .init(width: height * 16 / 9, height: height),
            frameRate: "25.000", videoRange: "SDR")
        if height == 720 { format.supplementalCodec = "dvh1.08.03/db2g" }
        return format
    }

    /// Segment `n`, with video of two tracks. The second has its first media in segment 3.
    static func segment(_ n: Int) -> NewSegment {
        var segment = NewSegment.numbered(n)
        segment.format.videoCodec = "avc1.640028"
        segment.format.audioCodec = "mp4a.40.2"
        segment.format.supplementalCodec = "dvh1.08.07/db4h"
        segment.format.resolution = .init(width: 1920, height: 1080)
        segment.resumePoint.videoTracks = tracks
        segment.leadingAudioBytes = 1000
        segment.videoTracks = [720, 480].map { height in
            NewTrack(
                initialization: InitializationFile(name: "init-v\(height).mp4", bytes: Array("v\(height)".utf8)),
                format: format(height), header: Array("\(height)-\(n)".utf8),
                payload: [[UInt8](repeating: 1, count: height)[...]])
        }
        if n < 3 { segment.videoTracks[1] = nil }
        return segment
    }

    private func names(_ prefix: String) -> Set<String> { Set(directory.names.filter { $0.hasPrefix(prefix) }) }

    @Test func filesLeaveWithTheirSegments() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<40 {
            try await ring.publish(Self.segment(n))
            let needed = ring.snapshot.index.entries.flatMap(\.videoFiles).compactMap { $0?.segment.name }
            #expect(names("video-") == Set(needed), "after \(n)")
        }
        let newest = try #require(ring.snapshot.newest)
        let file = try #require(newest.videoFiles[1]?.segment)
        #expect(ring.snapshot.index.trackFile(named: file.name) == file)
        #expect(try ring.snapshot.bytes(of: file) == Array("480-39".utf8) + [UInt8](repeating: 1, count: 480))
        #expect(newest.storedBytes == UInt64(newest.segment.byteCount + 480 + 720 + 12))
        for n in 40..<80 { try await ring.publish(.numbered(n)) }
        #expect(names("video-").isEmpty && names("init-") == ["init-a.mp4"])
    }

    @Test func restartKeepsThemAndALostFileIsAGapOfItsTrack() async throws {
        let before: [UInt8]?
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<8 { try await ring.publish(Self.segment(n)) }
            before = ring.snapshot.masterPlaylist()
        }
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            #expect(ring.resumePoint?.videoTracks == Self.tracks)
            #expect(ring.snapshot.masterPlaylist() == before && before != nil, "with the same formats and bit rates")
        }
        let lost = try #require(names("video-1-5-").first)
        try directory.remove(lost)
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(ring.snapshot.index.listed.filter(\.isGap).isEmpty)
        let gaps = ring.snapshot.index.listed.map { $0.videoFiles.map { $0?.isGap ?? true } }
        #expect(gaps[0] == [false, true] && gaps[4] == [false, false] && gaps[5] == [false, true])
        #expect(ring.snapshot.index.trackFile(named: lost) == nil)
    }

    /// The playlists of all tracks agree but for what they list.
    @Test func playlistsOfTracksAgree() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<8 {
            var segment = Self.segment(n)
            segment.isDiscontinuous = n == 5
            if n == 6 { segment.videoTracks = [] }
            try await ring.publish(segment)
        }
        let whole = try MediaPlaylistParser.parse(try #require(ring.snapshot.dvrPlaylist(.whole)))
        let gaps: [(content: PlaylistContent, numbers: [UInt64])] = [
            (.video(0), []), (.audio(0), []), (.video(1), [6]), (.video(2), [0, 1, 2, 6]),
        ]
        for (content, numbers) in gaps {
            let playlist = try MediaPlaylistParser.parse(try #require(ring.snapshot.dvrPlaylist(.whole, of: content)))
            #expect(playlist.mediaSequence == whole.mediaSequence)
            #expect(playlist.discontinuitySequence == whole.discontinuitySequence)
            #expect(playlist.segments.filter(\.isGap).map(\.mediaSequence) == numbers, "\(content)")
            for (segment, other) in zip(playlist.segments, whole.segments) {
                #expect(segment.duration == other.duration && segment.programDateTime == other.programDateTime)
                #expect(segment.isDiscontinuous == other.isDiscontinuous)
            }
        }
        #expect(ring.snapshot.dvrPlaylist(.whole, of: .video(3)) == nil)
        #expect(ring.snapshot.dvrPlaylist(.whole, of: .audio(1)) == nil)
    }

    @Test func masterListsTheTracksThatHaveMedia() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(ring.snapshot.livePlaylist(of: .video(0)) == nil)
        let audio = [(rendition: Rendition(type: .audio, groupID: "audio", name: "en"), codec: Optional("mp4a.40.2"))]
        for n in 0..<8 {
            try await ring.publish(Self.segment(n))
            let master = try MultivariantPlaylistParser.parse(
                try #require(ring.snapshot.masterPlaylist(audio: audio)))
            #expect(master.variants.map(\.uri) == ["video.m3u8", "video-1.m3u8"] + (n < 3 ? [] : ["video-2.m3u8"]))
            #expect(master.variants.allSatisfy { $0.audio == "audio" && $0.codecs.last == "mp4a.40.2" })
            #expect(master.renditions.map(\.uri) == ["audio-0.m3u8"])
        }
        let range = RewindRange.last(milliseconds: 24_000)
        let bytes = try #require(ring.snapshot.masterPlaylist(range, audio: audio))
        let master = try MultivariantPlaylistParser.parse(bytes)
        let query = range.query
        let names = ["dvr-video", "dvr-video-1", "dvr-video-2"]
        #expect(master.variants.map(\.uri) == names.map { "\($0).m3u8?\(query)" })
        #expect(master.variants.map { $0.resolution?.height } == [1080, 720, 480])
        #expect(master.variants[1].codecs == ["avc1.64720", "mp4a.40.2"])
        let duration = NewSegment.numbered(1).duration
        let bits = (720 + "720-1".utf8.count + 1000) * 8
        #expect(master.variants[1].averageBandwidth == Int((Int64(bits) * 90_000 + duration - 1) / duration))
    }

    /// Entries that are kept as differences have the same tracks.
    @Test func packedEntriesKeepTheirFiles() async throws {
        let ring = try DVRRing.open(directory, policy: RetentionPolicy(rewind: .seconds(6000), freeReserve: 0))
        for n in 0..<600 { try await ring.publish(Self.segment(n)) }
        for n in [0, 5, 127, 128, 300, 599] as [UInt64] {
            let entry = try #require(ring.snapshot.index.entry(numbered: n))
            #expect(entry.videoFiles.count == 2 && entry.leadingAudioBytes == 1000)
            #expect(entry.videoFiles[0]?.format == Self.format(720) && entry.resumePoint.videoTracks == Self.tracks)
        }
    }
}
