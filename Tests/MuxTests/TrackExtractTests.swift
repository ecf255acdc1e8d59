import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// One track of a segment as a file of its own.
@Suite struct TrackExtractTests {
    private static func samples(_ count: Int, size: Int, duration: UInt32, byte: UInt8) -> [MuxSample] {
        (0..<count).map { index in
            MuxSample(
                duration: duration, compositionOffset: byte == 1 ? 18_000 : 0, isSync: index == 0 || byte != 1,
                payload: [UInt8](repeating: byte &+ UInt8(index), count: size + index)[...])
        }
    }

    private static let video = MuxTrack(
        trackID: TrackID.video, decodeTime: 7, samples: samples(50, size: 90, duration: 3600, byte: 1))
    private static let audio = MuxTrack(
        trackID: TrackID.audio, decodeTime: 9, samples: samples(80, size: 20, duration: 301_056, byte: 100))

    @Test(arguments: TrackExtract.Track.allCases)
    func trackIsWhatAFragmentOfItAloneWouldBe(_ track: TrackExtract.Track) throws {
        let message = PlacedMessage(message: .id3([1, 2, 3]), time: Ticks(5))
        let both = FragmentWriter.write(sequenceNumber: 3, video: Self.video, audio: Self.audio, messages: [message])
        let alone = FragmentWriter.write(
            sequenceNumber: 3, video: track == .video ? Self.video : nil, audio: track == .audio ? Self.audio : nil,
            messages: track == .video ? [message] : [])
        let file = both.header + both.payloads.joined()
        for head in [file, both.header] {
            let extract = try #require(
                try TrackExtract.segment(of: track, inFileThatBegins: head, byteCount: file.count))
            #expect(extract.header == alone.header)
            #expect(Array(file[extract.payload]) == Array(alone.payloads.joined()))
        }
    }

    @Test func firstFrameIsAFragment() throws {
        let both = FragmentWriter.write(sequenceNumber: 3, video: Self.video, audio: Self.audio)
        let first = MuxTrack(trackID: TrackID.video, decodeTime: 7, samples: Array(Self.video.samples.prefix(1)))
        let alone = FragmentWriter.write(sequenceNumber: 1, video: first, audio: nil)
        let file = both.header + both.payloads.joined()
        for head in [file, both.header] {
            let extract = try #require(try TrackExtract.firstFrame(inFileThatBegins: head, byteCount: file.count))
            #expect(extract.header == alone.header)
            #expect(Array(file[extract.payload]) == Array(alone.payloads.joined()))
        }
        #expect(throws: MediaError.self) { try TrackExtract.firstFrame(inFileThatBegins: both.header, byteCount: 10) }
        let late = MuxTrack(trackID: TrackID.video, decodeTime: 7, samples: Array(Self.video.samples.dropFirst()))
        for fragment in [
            FragmentWriter.write(sequenceNumber: 3, video: late, audio: nil),
            FragmentWriter.write(sequenceNumber: 3, video: nil, audio: Self.audio),
        ] {
            #expect(
                try TrackExtract.firstFrame(inFileThatBegins: fragment.header, byteCount: fragment.byteCount) == nil)
        }
    }

    @Test func trackThatIsNotThere() throws {
        let fragment = FragmentWriter.write(sequenceNumber: 3, video: Self.video, audio: nil)
        #expect(
            try TrackExtract.segment(of: .audio, inFileThatBegins: fragment.header, byteCount: fragment.byteCount)
                == nil)
        #expect(throws: MediaError.self) {
            try TrackExtract.segment(of: .video, inFileThatBegins: Array(fragment.header.prefix(90)), byteCount: 90)
        }
        #expect(throws: MediaError.self) {
            try TrackExtract.segment(of: .video, inFileThatBegins: fragment.header, byteCount: 10)
        }
    }

    @Test(arguments: TrackExtract.Track.allCases)
    func initSectionHasOneTrack(_ track: TrackExtract.Track) throws {
        let configuration = SyntheticPackets.audioConfiguration()
        let section = try InitWriter.write(video: nil, audio: configuration).bytes
        let extract = try TrackExtract.initSection(of: track, in: section)
        #expect(extract == (track == .audio ? section : nil))
    }
}
