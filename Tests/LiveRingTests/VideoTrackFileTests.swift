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
            .own(
                NewTrack(
                    initialization: InitializationFile(name: "init-v\(height).mp4", bytes: Array("v\(height)".utf8)),
                    format: format(height), header: Array("\(height)-\(n)".utf8),
                    payload: [[UInt8](repeating: 1, count: height)[...]]))
        }
        if n < 3 { segment.videoTracks[1] = .gap }
        return segment
    }

    private func names(_ prefix: String) -> Set<String> { Set(directory.names.filter { $0.hasPrefix(prefix) }) }

    @Test func filesLeaveWithTheirSegments() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<40 {
            try await ring.publish(Self.segment(n))
            let needed = ring.snapshot.index.entries.flatMap(\.videoFiles).compactMap { $0.own?.segment.name }
            #expect(names("video-") == Set(needed), "after \(n)")
        }
        let newest = try #require(ring.snapshot.newest)
        let file = try #require(newest.videoFiles[1].own?.segment)
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
        let gaps = ring.snapshot.index.listed.map { $0.videoFiles.map { $0.own?.isGap ?? true } }
        #expect(gaps[0] == [false, true] && gaps[4] == [false, false] && gaps[5] == [false, true])
        #expect(ring.snapshot.index.trackFile(named: lost) == nil)
    }

    /// The playlists of all tracks agree but for what they list.
    @Test func playlistsOfTracksAgree() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<8 {
            var segment = Self.segment(n)
            segment.isDiscontinuous = n == 5
            if n == 4 { segment.videoTracks[1] = .gap }
            if n == 6 { segment.videoTracks = [] }
            try await ring.publish(segment)
        }
        let whole = try MediaPlaylistParser.parse(try #require(ring.snapshot.dvrPlaylist(.whole)))
        let gaps: [(content: PlaylistContent, first: UInt64, numbers: [UInt64])] = [
            (.video(0), 0, []), (.audio(0), 0, []), (.video(1), 0, []), (.video(2), 3, [4]),
        ]
        for (content, first, numbers) in gaps {
            let playlist = try MediaPlaylistParser.parse(try #require(ring.snapshot.dvrPlaylist(.whole, of: content)))
            #expect(playlist.mediaSequence == whole.mediaSequence + first, "it is listed from when it began")
            #expect(playlist.discontinuitySequence == whole.discontinuitySequence)
            #expect(playlist.segments.filter(\.isGap).map(\.mediaSequence) == numbers, "\(content)")
            for (segment, other) in zip(playlist.segments, whole.segments.dropFirst(Int(first))) {
                #expect(segment.duration == other.duration && segment.programDateTime == other.programDateTime)
                #expect(segment.isDiscontinuous == other.isDiscontinuous)
            }
        }
        #expect(ring.snapshot.dvrPlaylist(.whole, of: .video(3)) == nil)
        #expect(ring.snapshot.dvrPlaylist(.whole, of: .audio(1)) == nil)
    }

    /// A track without a variant of its own lists the files of another one, which are stored once.
    @Test func mediaOfAnotherTrackIsListedAndStoredOnce() async throws {
        func other(_ n: Int) -> NewSegment {
            var segment = Self.segment(n)
            segment.videoTracks = [.other(2), segment.videoTracks[1]]
            if n == 5 { segment.videoTracks = [.other(0), .other(0)] }
            if n == 6 { segment.videoTracks = [.other(2), .gap] }
            return segment
        }
        var listed: [[UInt8]?] = []
        for run in 0..<2 {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<(run == 0 ? 8 : 0) { try await ring.publish(other(n)) }
            let playlists = try (0...2).map { track in
                let text = try #require(ring.snapshot.dvrPlaylist(.whole, of: .video(track)))
                return Dictionary(
                    uniqueKeysWithValues: try MediaPlaylistParser.parse(text).segments.map { ($0.mediaSequence, $0) })
            }
            for n in [3, 4, 7] as [UInt64] {
                let (segment, other) = (playlists[1][n], playlists[2][n])
                #expect(segment?.uri == other?.uri && segment?.map == other?.map)
                #expect(segment?.uri.hasPrefix("video-1-\(n)-") == true)
            }
            #expect(playlists[1][5]?.uri == playlists[0][5]?.uri && playlists[1][5]?.map == playlists[0][5]?.map)
            #expect(playlists.map { $0[6]?.isGap } == [false, true, true])
            #expect(playlists.map { $0[2] == nil } == [false, true, true], "it is listed from when it began")
            let needed = ring.snapshot.index.entries.flatMap(\.videoFiles).compactMap { $0.own?.segment.name }
            #expect(names("video-") == Set(needed) && needed.count == 3)
            listed.append(ring.snapshot.dvrPlaylist(.whole, of: .video(1)))
            let own = ring.snapshot.index.furtherSums.map { $0.formats.isEmpty }
            #expect(own == [true, false], "bit rates and formats are those of its own media")
        }
        #expect(listed[0] == listed[1])
    }

    /// The media of a variant that began on demand is added to segments that are published.
    @Test func mediaThatComesLateIsAdded() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<8 {
            var segment = Self.segment(n)
            segment.videoTracks[1] = .gap
            segment.resumePoint.fragmentSequenceNumber = UInt64(n + 1)
            try await ring.publish(segment)
        }
        let live = { ring.snapshot.livePlaylist(of: .video(2)) }
        #expect(live() == nil && !ring.snapshot.hasMedia(ofVideo: 2) && ring.snapshot.hasMedia(ofVideo: 1))
        for n in 5..<8 {
            let media = try #require(Self.segment(n).videoTracks[1].own)
            var added: [Bool] = []
            for (track, fragment) in [(1, n + 1), (1, n + 1), (2, n + 1), (1, 99)] {
                added.append(
                    try await ring.publish(media, ofVideoTrack: track, afterFragment: UInt64(fragment)))
            }
            #expect(added == [true, false, false, false], "a second time, another track, another segment")
        }
        let playlist = try MediaPlaylistParser.parse(try #require(live()))
        #expect(playlist.mediaSequence == 5 && playlist.segments.count == 3, "it is listed from when it began")
        #expect(playlist.segments.allSatisfy { ring.snapshot.index.trackFile(named: $0.uri) != nil && !$0.isGap })
        #expect(names("video-1-").count == 3 && ring.snapshot.hasMedia(ofVideo: 2))
        let newest = try #require(ring.snapshot.newest)
        #expect(newest.storedBytes == UInt64(newest.segment.byteCount + 480 + 720 + 10))
        #expect(ring.snapshot.index.listedBytes == ring.snapshot.index.listed.reduce(0) { $0 + $1.storedBytes })
        for n in 8..<80 { try await ring.publish(.numbered(n)) }
        #expect(names("video-").isEmpty && names("init-") == ["init-a.mp4"])
        #expect(ring.snapshot.index.furtherSums.allSatisfy { $0.formats.isEmpty && $0.fragmentedMP4.bytes == 0 })
    }

    /// The media that came late is there after a restart, from the next segment on.
    @Test func mediaThatCameLateSurvivesARestart() async throws {
        var before: [UInt8]?
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<9 {
                var segment = Self.segment(n)
                segment.resumePoint.fragmentSequenceNumber = UInt64(n + 1)
                if n < 8 { segment.videoTracks[1] = .gap }
                for late in n == 8 ? 5..<8 : 0..<0 {
                    let media = try #require(Self.segment(late).videoTracks[1].own)
                    #expect(try await ring.publish(media, ofVideoTrack: 1, afterFragment: UInt64(late + 1)))
                }
                try await ring.publish(segment)
            }
            before = ring.snapshot.dvrPlaylist(.whole, of: .video(2))
        }
        let ring = try DVRRing.open(directory, policy: Self.policy)
        let after = try #require(ring.snapshot.dvrPlaylist(.whole, of: .video(2)))
        let playlist = try MediaPlaylistParser.parse(after)
        #expect(playlist.mediaSequence == 5 && playlist.segments.allSatisfy { !$0.isGap })
        #expect(after == before && names("video-1-").count == 4)
    }

    @Test func masterListsVariantsBeforeTheyHaveMedia() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        var declared = Variant(uri: "low.m3u8", bandwidth: 1_200_000)
        declared.codecs = ["avc1.42c01e", "mp4a.40.2"]
        declared.resolution = .init(width: 854, height: 480)
        await ring.declareVariants([Self.tracks[1]: declared])
        try await ring.publish(Self.segment(0))
        let master = try MultivariantPlaylistParser.parse(try #require(ring.snapshot.masterPlaylist()))
        #expect(master.variants.map(\.uri) == ["live.m3u8", "video-1.m3u8", "video-2.m3u8"])
        let variant = try #require(master.variants.last)
        #expect(variant.bandwidth == 1_200_000 && variant.resolution?.height == 480)
        #expect(variant.codecs == ["avc1.42c01e", "mp4a.40.2"])
        declared.codecs = []
        await ring.declareVariants([Self.tracks[1]: declared])
        let other = try MultivariantPlaylistParser.parse(try #require(ring.snapshot.masterPlaylist()))
        #expect(other.variants.last?.codecs == [], "that of the audio alone would say that there is no video")
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
            #expect(entry.videoFiles[0].own?.format == Self.format(720) && entry.resumePoint.videoTracks == Self.tracks)
        }
    }
}
