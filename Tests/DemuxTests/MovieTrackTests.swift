import Support
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Track selection, sample entries and init sections of fragmented MP4.
@Suite("Tracks of an init section")
struct MovieTrackTests {
    typealias Sample = MovieBuilder.Sample
    typealias Traf = MovieBuilder.Traf
    typealias Track = MovieBuilder.Track

    private static let idr: [UInt8] = [0x65, 0x88, 0x84]

    private static func videoSample(_ units: [[UInt8]], lengthSize: Int = 4) -> Sample {
        Sample(
            payload: units.flatMap { unit in
                (0..<lengthSize).map { $0 == lengthSize - 1 ? UInt8(unit.count) : 0 } + unit
            })
    }

    private static func videoFragment(_ samples: [Sample], entry: UInt32? = nil) -> [UInt8] {
        MovieBuilder.fragment([Traf(descriptionIndex: entry, runs: [(0x301, samples)])])
    }

    private static func frames(_ id: UInt32 = 2, duration: UInt32 = 1024, count: Int = 2) -> [UInt8] {
        let samples = (0..<count).map { Sample(duration: duration, payload: [0x21, UInt8($0), 2]) }
        return MovieBuilder.fragment([Traf(id: id, runs: [(0x301, samples)])])
    }

    private static func audioTrack(
        _ entry: (type: BoxType, boxes: [UInt8]), id: UInt32 = 2, timescale: UInt32 = 48_000, isEnabled: Bool = true
    ) -> Track {
        Track(id: id, timescale: timescale, handler: "soun", isEnabled: isEnabled, entries: [entry])
    }

    private func demux(
        _ segment: [UInt8], _ tracks: [Track], selection: TrackSelection = .both
    ) throws(MediaError) -> DemuxedSegment {
        try FragmentedMP4Demuxer.all(
            [segment], initialization: MovieBuilder.initialization(tracks), tracks: selection)
    }

    // MARK: - Video

    static let expected = VideoConfiguration(
        codec: .h264, sequenceParameterSets: [MovieBuilder.parameterSets.sequence],
        pictureParameterSets: [MovieBuilder.parameterSets.picture])

    @Test("lengths of one, two and four bytes", arguments: [1, 2, 4])
    func lengths(size: Int) throws {
        let track = Track(entries: [MovieBuilder.avc1(lengthSize: UInt8(size))])
        let found = try demux(Self.videoFragment([Self.videoSample([Self.idr], lengthSize: size)]), [track])
        let units = ComparableFrame.lengthPrefixed(try #require(found.video.first?.payload))
        #expect(units == [MovieBuilder.parameterSets.sequence, MovieBuilder.parameterSets.picture, Self.idr])
        #expect(found.video.map(\.randomAccess) == [.instantaneousRefresh])
    }

    @Test("delimiters, filler, trailing zeros and repeated sets are dropped; sets of avc3 are used")
    func units() throws {
        let (sequence, picture) = MovieBuilder.parameterSets
        let sample = Self.videoSample([[0x09, 0xF0], sequence, picture, Self.idr + [0, 0], [0x0C, 0xFF, 0x80]])
        for entry in [MovieBuilder.avc1(), MovieBuilder.avc1("avc3", sets: false)] {
            let found = try demux(Self.videoFragment([sample]), [Track(entries: [entry])])
            let packet = try #require(found.video.first)
            #expect(packet.configuration == Self.expected)
            #expect(ComparableFrame.lengthPrefixed(packet.payload) == [sequence, picture, Self.idr])
        }
    }

    @Test("parameter sets that are not those of the init section are counted, and used", arguments: ["avc1", "avc3"])
    func foreignSets(type: String) throws {
        let (sequence, picture) = MovieBuilder.parameterSets
        var other = sequence
        other[3] += 1
        let samples = [sequence, other, sequence].map { Self.videoSample([$0, picture, Self.idr]) }
        let entry = MovieBuilder.avc1(BoxType(stringLiteral: type), sets: type == "avc1")
        let found = try demux(Self.videoFragment(samples), [Track(entries: [entry])])
        #expect(found.counts[.foreignParameterSets] == (type == "avc1" ? 1 : 0))
        #expect(found.video.map { $0.configuration == found.video[0].configuration } == [true, false, true])
    }

    @Test("parameter sets that chance makes of damaged bytes are not used")
    func damagedSets() throws {
        let chance: [UInt8] = [0x68, 0x69, 0x73, 0x74]
        var samples = [[Self.idr], [[0x41, 0x9A, 2], chance], [Self.idr]].map { Self.videoSample($0) }
        let whole = try demux(Self.videoFragment(samples), [Track()])
        #expect(whole.video.map(\.configuration.pictureParameterSets.count) == [1, 1, 2], "used if nothing is damaged")
        samples[1].payload += [0, 0, 9]
        let damaged = try demux(Self.videoFragment(samples), [Track()])
        #expect(damaged.video.map(\.isDamaged) == [false, true, false])
        #expect(damaged.video.allSatisfy { $0.configuration == Self.expected })
    }

    @Test("the sync kind follows the NAL units, not the sample flags")
    func sync() throws {
        var claimed = Self.videoSample([[0x41, 0x9A, 2]])
        claimed.flags = 0x0200_0000
        let recovery = Self.videoSample([[0x06, 6, 1, 0xC4, 0x80], [0x41, 0x9A, 2]])
        let found = try demux(Self.videoFragment([Self.videoSample([Self.idr]), claimed, recovery]), [Track()])
        #expect(found.video.map(\.randomAccess) == [.instantaneousRefresh, nil, .recoveryPoint])
    }

    @Test("without parameter sets, frames are counted and dropped")
    func noSets() throws {
        let track = Track(entries: [MovieBuilder.avc1("avc3", sets: false)])
        let found = try demux(Self.videoFragment([Self.videoSample([Self.idr])]), [track])
        #expect(found.video.isEmpty)
        #expect(found.counts[.undecodableUnits] == 1)
    }

    // MARK: - Audio

    struct AudioRow: CustomTestStringConvertible, Sendable {
        let when: String
        let entry: @Sendable () -> (type: BoxType, boxes: [UInt8])
        var duration: UInt32 = 1024
        let codec: AudioConfiguration.Codec
        var rate = 48_000
        var channels = 2
        var samples = 1024
        let name: String

        var testDescription: String { when }
    }

    private static func entry(_ type: BoxType, _ box: BoxType, _ body: String) -> (type: BoxType, boxes: [UInt8]) {
        (type, MovieBuilder.box(box, bytes(body)))
    }

    static let audioRows: [AudioRow] = [
        AudioRow(when: "AAC LC", entry: { MovieBuilder.mp4a([0x11, 0x90]) }, codec: .aac, name: "mp4a.40.2"),
        AudioRow(
            when: "AAC LC of 960 samples", entry: { MovieBuilder.mp4a([0x11, 0x94]) }, duration: 960, codec: .aac,
            samples: 960, name: "mp4a.40.2"),
        AudioRow(
            when: "HE-AAC, hierarchical signaling: the coded rate is half of the output rate",
            entry: { MovieBuilder.mp4a(bytes("2b118800")) }, duration: 2048, codec: .aac, rate: 24_000,
            name: "mp4a.40.5"),
        AudioRow(
            when: "HE-AAC with parametric stereo", entry: { MovieBuilder.mp4a(bytes("eb098800")) }, duration: 2048,
            codec: .aac, rate: 24_000, channels: 1, name: "mp4a.40.29"),
        AudioRow(
            when: "5.1", entry: { MovieBuilder.mp4a([0x11, 0xB0]) }, codec: .aac, channels: 6, name: "mp4a.40.2"),
        AudioRow(
            when: "MPEG-2 AAC", entry: { MovieBuilder.mp4a(objectType: 0x67, [0x11, 0x90]) }, codec: .aac,
            name: "mp4a.40.2"),
        AudioRow(
            when: "AC-3", entry: { entry("ac-3", "dac3", "103d40") }, duration: 1536, codec: .ac3, channels: 6,
            samples: 1536, name: "ac-3"),
        AudioRow(
            when: "E-AC-3", entry: { entry("ec-3", "dec3", "06002 00400".filter { $0 != " " } + "00") },
            duration: 1536, codec: .eac3, samples: 1536, name: "ec-3"),
        AudioRow(
            when: "Opus", entry: { entry("Opus", "dOps", "00 02 0138 00 00 bb80 0000 00") }, duration: 960,
            codec: .opus, samples: 960, name: "opus"),
        AudioRow(
            when: "FLAC",
            entry: {
                entry(
                    "fLaC", "dfLa",
                    "00000000 80000022 1200 1200 000000 000000 0bb802f0 00000000"
                        + String(repeating: "00", count: 16))
            }, duration: 4608, codec: .flac, samples: 4608, name: "fLaC"),
        AudioRow(
            when: "FLAC with varying blocks: the most frequent duration",
            entry: {
                entry(
                    "fLaC", "dfLa",
                    "00000000 80000022 0010 1200 000000 000000 0bb802f0 00000000"
                        + String(repeating: "00", count: 16))
            }, duration: 4096, codec: .flac, samples: 4096, name: "fLaC"),
    ]

    @Test(arguments: audioRows)
    func audio(row: AudioRow) throws {
        let found = try demux(Self.frames(duration: row.duration, count: 3), [Self.audioTrack(row.entry())])
        let configuration = try #require(found.audio.first?.configuration)
        #expect(configuration.codec == row.codec)
        #expect(configuration.sampleRate.hertz == row.rate)
        #expect(configuration.channelCount == row.channels)
        #expect(configuration.samplesPerFrame == row.samples)
        #expect(configuration.codecString == row.name)
        #expect(found.audio.map(\.payload) == [[0x21, 0, 2], [0x21, 1, 2], [0x21, 2, 2]])
        // The others are transcoded.
        guard ![.flac, .opus].contains(row.codec) else { return }
        let written = try InitWriter.write(video: nil, audio: configuration)
        var again = FragmentedMP4Demuxer()
        try again.initialize(with: written.bytes)
        let segment = Self.frames(
            TrackID.audio, duration: UInt32(TrackTimescale.audio) / UInt32(row.rate) * UInt32(row.samples))
        #expect(
            try again.feed(segment).audio.first?.configuration == configuration,
            "our own init section describes the same configuration")
    }

    // MARK: - Selection

    @Test func selection() throws {
        let (aac, video) = (MovieBuilder.mp4a([0x11, 0x90]), Track())
        let segment = Self.videoFragment([Self.videoSample([Self.idr])]) + Self.frames(2) + Self.frames(3, count: 5)
        let both = [Self.audioTrack(aac, isEnabled: false), Self.audioTrack(aac, id: 3), video]
        #expect(try demux(segment, both).audio.count == 5, "the track that plays by default")
        #expect(try demux(segment, both).video.count == 1)
        #expect(try demux(segment, both).counts[.otherPackets] == 1)
        #expect(try demux(segment, both, selection: .video).audio.isEmpty)
        #expect(try demux(segment, both, selection: .audio).video.isEmpty)
        #expect(try demux(segment, [video, Self.audioTrack(aac)]).audio.count == 2)
        let unknown = Self.audioTrack(("alac", []), id: 3)
        #expect(try demux(segment, [video, unknown]).video.count == 1, "unsupported audio is dropped")
        #expect(try demux(segment, [video, unknown, Self.audioTrack(aac)]).audio.count == 2)
        #expect(try demux(segment, [video, Self.audioTrack(MovieBuilder.mp4a([]))]).video.count == 1)
    }

    struct RefusalRow: CustomTestStringConvertible, Sendable {
        let when: String
        let tracks: @Sendable () -> [Track]
        var entry: UInt32?
        let reason: MediaError.Reason

        var testDescription: String { when }
    }

    private static let cenc = MovieBuilder.box(
        "sinf",
        MovieBuilder.box("frma", Array("avc1".utf8)) + MovieBuilder.box("schm", [0, 0, 0, 0] + Array("cenc".utf8)))
    static let refusals: [RefusalRow] = [
        RefusalRow(
            when: "encrypted video", tracks: { [Track(entries: [MovieBuilder.avc1("encv", inside: cenc)])] },
            reason: .protectedTrack(scheme: "cenc")),
        RefusalRow(
            when: "encrypted audio beside clear video", tracks: { [Track(), audioTrack(("enca", []))] },
            reason: .protectedTrack(scheme: "enca")),
        RefusalRow(
            when: "encrypted from this fragment on",
            tracks: { [Track(entries: [MovieBuilder.avc1(), MovieBuilder.avc1("encv", inside: cenc)])] }, entry: 2,
            reason: .protectedTrack(scheme: "cenc")),
        RefusalRow(
            when: "a missing sample entry", tracks: { [Track()] }, entry: 7,
            reason: .badParameterSet(field: "sample_description_index")),
        RefusalRow(
            when: "unsupported video", tracks: { [Track(entries: [("av01", [])])] },
            reason: .noSupportedTrack(sampleEntries: ["av01"])),
        RefusalRow(
            when: "unsupported video and audio",
            tracks: { [Track(entries: [("av01", [])]), audioTrack(("ac-4", []))] },
            reason: .noSupportedTrack(sampleEntries: ["av01"])),
        RefusalRow(
            when: "encrypted video beside clear audio",
            tracks: {
                [
                    Track(entries: [MovieBuilder.avc1("encv", inside: cenc)]),
                    audioTrack(MovieBuilder.mp4a([0x11, 0x90])),
                ]
            }, reason: .protectedTrack(scheme: "cenc")),
        RefusalRow(
            when: "no decoder configuration", tracks: { [Track(entries: [("avc1", [])])] },
            reason: .badParameterSet(field: "avcC")),
        RefusalRow(
            when: "a rate out of range", tracks: { [audioTrack(MovieBuilder.mp4a(bytes("1780000890")))] },
            reason: .badParameterSet(field: "samplingFrequency")),
        RefusalRow(when: "no tracks", tracks: { [] }, reason: .noSupportedTrack(sampleEntries: [])),
        RefusalRow(
            when: "a timescale of 0", tracks: { [Track(timescale: 0)] }, reason: .badParameterSet(field: "timescale")),
    ]

    @Test(arguments: refusals)
    func refusal(row: RefusalRow) {
        do throws(MediaError) {
            _ = try demux(Self.videoFragment([Self.videoSample([Self.idr])], entry: row.entry), row.tracks())
            Issue.record("not refused")
        } catch {
            #expect(error.reason == row.reason)
        }
    }

    @Test(
        "audio that cannot be republished beside other tracks is named",
        arguments: [
            (["ac-4"], ["ac-4"]), (["mp4a"], []), (["mp4a", "ac-4", "mhm1"], ["ac-4", "mhm1"]), ([], []),
        ])
    func unsupportedAudio(entries: [String], named: [String]) throws {
        let audio = entries.map { name in
            name == "mp4a"
                ? Self.audioTrack(MovieBuilder.mp4a([0x11, 0x90])) : Self.audioTrack((BoxType(stringLiteral: name), []))
        }
        var demuxer = FragmentedMP4Demuxer()
        try demuxer.initialize(with: MovieBuilder.initialization([Track()] + audio))
        let found = try demuxer.feed(Self.videoFragment([Self.videoSample([Self.idr])]))
        #expect(found.unsupportedAudio == named && found.declaresAudio == entries.contains("mp4a"))
    }

    @Test("audio beside video in a codec that cannot be republished is sound alone")
    func unsupportedVideo() throws {
        let tracks = [
            Track(entries: [("av01", [])]), Track(id: 3, entries: [("vp09", [])]),
            Self.audioTrack(MovieBuilder.mp4a([0x11, 0x90])),
        ]
        var demuxer = FragmentedMP4Demuxer()
        try demuxer.initialize(with: MovieBuilder.initialization(tracks))
        let found = try demuxer.feed(Self.frames())
        #expect(found.audio.count == 2 && found.isAudioOnly && found.unsupportedVideo == ["av01", "vp09"])
        #expect(throws: MediaError.self) { try demux(Self.frames(), tracks, selection: .video) }
    }

    @Test("fragments before any init section")
    func missing() {
        #expect(throws: MediaError(.missingInitialization, section: "RFC 8216 §3.3")) {
            var demuxer = FragmentedMP4Demuxer()
            _ = try demuxer.feed(Self.videoFragment([Self.videoSample([Self.idr])]))
        }
    }

    // MARK: - Another init section

    @Test("another timescale continues the clock, another sample entry is another configuration")
    func otherInitialization() throws {
        let other = (sequence: h264Rows[14].nalUnit, picture: bytes("68ce3c80"))
        let record: [UInt8] =
            [1, 0x64, 0, 30, 0xFF, 0xE1, 0, UInt8(other.sequence.count)] + other.sequence + [1, 0, 4]
        let second = Track(
            id: 5, timescale: 1000, entries: [("avc1", MovieBuilder.box("avcC", record + other.picture))])
        var demuxer = FragmentedMP4Demuxer()
        try demuxer.initialize(with: MovieBuilder.initialization([Track()]))
        let samples = [Self.videoSample([Self.idr]), Self.videoSample([Self.idr])]
        let first = try demuxer.feed(Self.videoFragment(samples))
        try demuxer.initialize(with: MovieBuilder.initialization([Track()]))
        try demuxer.initialize(with: MovieBuilder.initialization([second]))
        let next = try demuxer.feed(
            MovieBuilder.fragment([Traf(id: 5, decodeTime: nil, runs: [(0x301, samples)])]))
        #expect(first.video.map { $0.dts?.count } == [0, 3600])
        #expect(next.video.map { $0.dts?.count } == [7200, 331_200])
        #expect(Set(first.video.map(\.configuration)) == [Self.expected])
        #expect(next.video.allSatisfy { $0.configuration.sequenceParameterSets == [other.sequence] })
    }
}
