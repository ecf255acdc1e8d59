import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// Audio tracks beside the leading one in the transport stream.
@Suite struct AudioTrackMuxerTests {
    private static func track(_ language: String, _ kind: AudioTrackIdentity.Kind = .main) -> AudioTrackIdentity {
        AudioTrackIdentity(language: LanguageTag(language) ?? .unknown, kind: kind)
    }

    private static func state() -> TransportStreamState {
        let aac = SyntheticPackets.audioConfiguration()
        var state = TransportStreamState(video: .h264, audio: aac, initialization: "a")
        state.insert([(track("de"), aac), (track("en", .commentary), aac)], leading: track("en"))
        return state
    }

    @Test func demuxerFindsTheFramesOfEachTrack() throws {
        let state = Self.state()
        var media = TransportMedia(decoding: Ticks(900_000)..<Ticks(1_080_000), presentationStart: Ticks(918_000))
        media.video = (0..<50).map { index in
            let time = Ticks(900_000 + Int64(index) * 3600)
            return TransportMedia.VideoSample(
                decodeTime: time, presentationTime: time + Ticks(18_000), isRandomAccessPoint: index == 0,
                payload: [0, 0, 0, 3, index == 0 ? 0x65 : 0x41, 1, 2])
        }
        let frames = { (payload: UInt8) in
            (0..<90).map { index in
                TransportMedia.AudioFrame(
                    time: Ticks(918_000 + index * 1920), payload: [UInt8](repeating: payload, count: 40)[...])
            }
        }
        media.audio = frames(1)
        media.audioConfiguration = SyntheticPackets.audioConfiguration()
        media.furtherAudio = [2, 3].map {
            TransportMedia.FurtherAudio(frames: frames($0), configuration: SyntheticPackets.audioConfiguration())
        }
        let muxer = TransportStreamMuxer(state)
        var buffer: [UInt8] = []
        let segment = muxer.segment(media, in: &buffer)
        #expect(muxer.extent(of: media)?.byteCount == segment.bytes.count)
        var demuxer = TransportDemuxer(audio: .all)
        let read = try demuxer.feed(segment.bytes)
        #expect(read.program?.audioTrack == Self.track("en"))
        #expect(read.furtherAudio.map(\.track) == [Self.track("de"), Self.track("en", .commentary)])
        for (packets, payload) in zip([read.audio] + read.furtherAudio.map(\.packets), UInt8(1)...3) {
            #expect(packets.count >= 88 && packets.allSatisfy { $0.payload.allSatisfy { $0 == payload } })
            #expect(packets.first?.pts == Ticks(918_000))
        }
        #expect(read.program?.furtherAudio.map(\.pid) == [0x130, 0x131])
    }

    /// The sizes of files that begin with the segment, or end before it, need none of its bytes.
    @Test(arguments: [1, 1920, 5000, 40_000] as [Int64]) func sizesWithoutEarlyAudio(by lead: Int64) throws {
        var media = TransportMedia(decoding: Ticks(900_000)..<Ticks(1_080_000), presentationStart: Ticks(918_000))
        media.video = (0..<50).map { index in
            let time = Ticks(900_000 + Int64(index) * 3600)
            return TransportMedia.VideoSample(
                decodeTime: time, presentationTime: time + Ticks(18_000), isRandomAccessPoint: index % 25 == 0,
                payload: [0, 0, 0, 3, 0x65, 1, 2])
        }
        let configuration = SyntheticPackets.audioConfiguration()
        let tracks = (0..<3).map { track in
            (0..<90).map { index in
                TransportMedia.AudioFrame(
                    time: Ticks(918_000 + Int64(index) * 1920 - lead * Int64(track)),
                    payload: [UInt8](repeating: 1, count: 300)[...])
            }
        }
        (media.audio, media.audioConfiguration) = (tracks[1], configuration)
        media.furtherAudio = [0, 2].map { .init(frames: tracks[$0], configuration: configuration) }
        let muxer = TransportStreamMuxer(Self.state())
        let sizes = [media, media.withoutEarlyAudio, try #require(media.earlyAudio)].map { media in
            var buffer: [UInt8] = []
            return muxer.segment(media, in: &buffer).bytes.count
        }
        let extent = try #require(muxer.earlyAudioExtent(of: media))
        #expect(extent.byteCount == sizes[2] && extent.removedByteCount == sizes[0] - sizes[1])
    }

    @Test func tracksKeepTheirPIDsAndCodecs() throws {
        let state = Self.state()
        #expect(TransportStreamState(text: state.text, discontinuities: 0) == state, "a restart keeps them")
        var next = state.followed(by: state.audio, initialization: "b")
        let mono = SyntheticPackets.audioConfiguration(rate: 44_100)
        let ac3 = AudioConfiguration(
            codec: .ac3, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1536, decoderSpecificInfo: [])
        next.insert([(Self.track("de"), mono), (Self.track("en", .commentary), ac3)], leading: nil)
        #expect(next.audioTracks.map(\.identity) == state.audioTracks.map(\.identity))
        #expect(next.audioTracks.map(\.changes) == [1, 0] && next.audioTracks.map(\.codec) == [.aac, .aac])
        #expect(next.language == state.language)
    }

    @Test func channelWithOneTrackNamesNoLanguage() {
        var state = TransportStreamState(video: .h264, audio: nil, initialization: "a")
        let (text, map) = (state.text, ProgramTableWriter(state.program).programMap(audioChanges: 0))
        state.insert([], leading: Self.track("en"))
        let tables = ProgramTableWriter(state.program, audioTracks: state.audioTracks, language: state.language)
        #expect(state.text == text && tables.programMap(audioChanges: 0) == map)
    }
}
