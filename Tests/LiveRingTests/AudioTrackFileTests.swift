import Foundation
import Playlist
import Testing

@testable import LiveRing
@testable import Support

/// The files of audio tracks beside the leading one.
struct AudioTrackFileTests {
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private static let policy = RetentionPolicy(rewind: .seconds(48), liveWindow: .zero, freeReserve: 0)

    /// Segment `n`, with audio of two tracks from segment 2 on.
    static func segment(_ n: Int) -> NewSegment {
        var segment = NewSegment.numbered(n)
        guard n >= 2 else { return segment }
        segment.resumePoint.audioTracks = ["de.0.0", "fr.0.0"].map {
            AudioTrackPoint(identity: $0, configuration: "aac/48000/2/1024/1190", decodeTime: UInt64(n))
        }
        segment.audioTracks = ["d", "f"].map { language in
            NewTrack(
                initialization: InitializationFile(name: "init-x\(language).mp4", bytes: Array("x\(language)".utf8)),
                header: Array("\(language)\(n)".utf8), payload: [[1, 2]])
        }
        return segment
    }

    private func names(_ prefix: String) -> Set<String> { Set(directory.names.filter { $0.hasPrefix(prefix) }) }

    @Test func filesLeaveWithTheirSegments() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<40 {
            try await ring.publish(Self.segment(n))
            let needed = ring.snapshot.index.entries.flatMap(\.audioFiles).compactMap { $0?.segment.name }
            #expect(names("audio-") == Set(needed), "after \(n)")
        }
        #expect(names("init-") == ["init-a.mp4", "init-xd.mp4", "init-xf.mp4"])
        let newest = try #require(ring.snapshot.newest)
        let file = try #require(newest.audioFiles[1]?.segment)
        #expect(ring.snapshot.index.trackFile(named: file.name) == file)
        #expect(try ring.snapshot.bytes(of: file) == Array("f39".utf8) + [1, 2])
        #expect(newest.storedBytes == UInt64(newest.segment.byteCount + 2 * file.byteCount))
        for n in 40..<80 { try await ring.publish(.numbered(n)) }
        #expect(names("audio-").isEmpty && names("init-") == ["init-a.mp4"])
    }

    @Test func restartKeepsThemAndALostFileIsAGapOfItsTrack() async throws {
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<8 { try await ring.publish(Self.segment(n)) }
        }
        let lost = try #require(names("audio-1-5-").first)
        try directory.remove(lost)
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(ring.resumePoint?.audioTracks == Self.segment(7).resumePoint.audioTracks)
        #expect(ring.snapshot.index.listed.filter(\.isGap).isEmpty)
        let gaps = ring.snapshot.index.listed.map { $0.audioFiles.map { $0?.isGap ?? true } }
        #expect(gaps[0] == [] && gaps[4] == [false, false] && gaps[5] == [false, true])
        #expect(ring.snapshot.index.trackFile(named: lost) == nil)
    }

    /// The playlists of all tracks agree but for what they list.
    @Test func playlistsOfTracksAgree() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<8 {
            var segment = Self.segment(n)
            segment.isDiscontinuous = n == 5
            segment.format.audioCodec = n == 6 ? nil : "mp4a.40.2"
            if n == 7 { segment.audioTracks[1] = nil }
            try await ring.publish(segment)
        }
        let whole = try MediaPlaylistParser.parse(try #require(ring.snapshot.dvrPlaylist(.whole)))
        let gaps: [(content: PlaylistContent, numbers: [UInt64])] = [
            (.video(0), []), (.audio(0), [6]), (.audio(1), [0, 1]), (.audio(2), [0, 1, 7]),
        ]
        for (content, numbers) in gaps {
            let text = try #require(ring.snapshot.dvrPlaylist(.whole, of: content))
            let playlist = try MediaPlaylistParser.parse(text)
            #expect(playlist.mediaSequence == whole.mediaSequence)
            #expect(playlist.discontinuitySequence == whole.discontinuitySequence)
            #expect(playlist.segments.filter(\.isGap).map(\.mediaSequence) == numbers, "\(content)")
            for (segment, other) in zip(playlist.segments, whole.segments) {
                #expect(segment.duration == other.duration && segment.programDateTime == other.programDateTime)
                #expect(segment.isDiscontinuous == other.isDiscontinuous)
                guard !segment.isGap else { continue }
                let isMade = SpoolName.extract(named: segment.uri).map { $0.file == other.uri }
                #expect(isMade ?? (ring.snapshot.index.trackFile(named: segment.uri) != nil), "\(segment.uri)")
            }
        }
        #expect(ring.snapshot.dvrPlaylist(.whole, of: .audio(3)) == nil)
    }

    @Test func masterHasOneVariantWithoutAudioAndTheTracks() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(ring.snapshot.livePlaylist(of: .video(0)) == nil)
        for n in 0..<8 {
            var segment = Self.segment(n)
            segment.format.resolution = .init(width: 1280, height: 720)
            try await ring.publish(segment)
        }
        let audio = ["en", "de", "fr"].map { Rendition(type: .audio, groupID: "audio", name: $0) }
        for (range, prefix) in [(nil, ""), (RewindRange.last(milliseconds: 24_000), "dvr-")] {
            let query = range.map { "?\($0.query)" } ?? ""
            let bytes = try #require(
                ring.snapshot.masterPlaylist(range, audio: audio.map { (rendition: $0, codec: "ac-3") }))
            let master = try MultivariantPlaylistParser.parse(bytes)
            #expect(master.variants.map(\.uri) == ["\(prefix)video.m3u8\(query)"])
            #expect(master.variants[0].codecs.last == "ac-3" && master.variants[0].audio == "audio")
            #expect(master.renditions.map(\.uri) == (0..<3).map { "\(prefix)audio-\($0).m3u8\(query)" })
        }
    }
}
