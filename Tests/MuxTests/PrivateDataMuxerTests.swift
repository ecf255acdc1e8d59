import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// DVB subtitles and teletext in the transport stream, as libavformat reads them.
@Suite struct PrivateDataMuxerTests {
    private static func subtitles(_ language: String) -> PrivateDataStream {
        PrivateDataStream(descriptor: [0x59, 8] + Array(language.utf8) + [0x10, 0, 1, 0, 1])
    }

    private static let teletext = PrivateDataStream(descriptor: [0x56, 5] + Array("fra".utf8) + [0x10, 0x88])

    /// Four seconds of stills with a page of each stream every 200 ms.
    private static func media(streams: Int) -> TransportMedia {
        var media = TransportMedia(decoding: Ticks(900_000)..<Ticks(1_260_000), presentationStart: Ticks(918_000))
        media.video = (0..<100).map { (index: Int64) in
            let time = Ticks(900_000 + index * 3600)
            let isIDR = index % 50 == 0
            let type: UInt8 = isIDR ? 0x65 : 0x41
            return TransportMedia.VideoSample(
                decodeTime: time, presentationTime: time + Ticks(18_000), isRandomAccessPoint: isIDR,
                payload: [0, 0, 0, 3, type, 1, 2])
        }
        media.privateData = (0..<20).flatMap { page in
            (0..<streams).map { stream in
                TransportMedia.PrivateDataPacket(
                    time: Ticks(918_000 + Int64(page) * 18_000), stream: stream,
                    payload: [0x10] + [UInt8](repeating: UInt8(page), count: 322))
            }
        }
        return media
    }

    @Test(arguments: [1, 2, 20])
    func payloadsAndTimesAreWhatTheUpstreamSent(_ count: Int) throws {
        let languages = (1..<20).map { "l\(Character(UnicodeScalar(UInt8(96 + $0))))x" }
        let streams = Array(([Self.teletext] + languages.map(Self.subtitles)).prefix(count))
        var state = TransportStreamState(video: .h264, audio: nil, initialization: "a")
        state.insert(streams)
        #expect(state.privateDataStreams == streams)
        let (muxer, media) = (TransportStreamMuxer(state), Self.media(streams: count))
        var buffer: [UInt8] = []
        let segment = muxer.segment(media, in: &buffer)
        #expect(muxer.extent(of: media)?.byteCount == segment.bytes.count)
        for pid in Set(stride(from: 0, to: segment.bytes.count, by: 188).map { Self.pid(segment.bytes, $0) }) {
            let packets = stride(from: 0, to: segment.bytes.count, by: 188).filter {
                Self.pid(segment.bytes, $0) == pid
            }
            let counters = packets.filter { segment.bytes[$0 + 3] & 0x10 != 0 }.map { segment.bytes[$0 + 3] & 15 }
            #expect(zip(counters, counters.dropFirst()).allSatisfy { ($0 + 1) & 15 == $1 }, "PID \(pid)")
        }
        var demuxer = TransportDemuxer()
        let read = try demuxer.feed(segment.bytes)
        #expect(read.program?.privateData == streams)
        let packets = read.metadata.compactMap { item -> TransportMedia.PrivateDataPacket? in
            guard case .privateData(let stream, let payload) = item.content, let time = item.time,
                let index = streams.firstIndex(of: stream)
            else { return nil }
            return .init(time: time, stream: index, payload: payload)
        }
        for stream in 0..<count {
            #expect(packets.filter { $0.stream == stream } == media.privateData.filter { $0.stream == stream })
        }
        // libavformat gives teletext other times.
        let teletext = try OracleDemuxer.packets(segment.bytes).filter { $0.pid == 0x110 }
        let expected = media.privateData.filter { $0.stream == 0 }
        #expect(teletext.map(\.bytes) == expected.map(\.payload))
    }

    private static func pid(_ bytes: [UInt8], _ packet: Int) -> Int {
        Int(bytes[packet + 1] & 0x1F) << 8 | Int(bytes[packet + 2])
    }

    @Test func streamsKeepTheirPIDs() throws {
        var state = TransportStreamState(video: .h264, audio: nil, initialization: "a")
        #expect(state.text.split(separator: ";", omittingEmptySubsequences: false).count == 5)
        state.insert([Self.subtitles("deu")])
        state.insert([Self.teletext, Self.subtitles("deu")])
        #expect(state.privateDataStreams == [Self.subtitles("deu"), Self.teletext])
        let next = state.followed(by: nil, initialization: "b")
        #expect(next.privateDataStreams == state.privateDataStreams)
        #expect(TransportStreamState(text: next.text, discontinuities: 1) == next, "a restart keeps them")
    }

    @Test func programMapHasRoomForItsStreams() {
        var state = TransportStreamState(video: .h264, audio: nil, initialization: "a")
        state.insert(
            (0..<100).map {
                PrivateDataStream(descriptor: [0x59, 8] + [UInt8](repeating: 0x61, count: 8), ordinal: $0)
            })
        #expect(state.privateDataStreams.count == 32)
        state.insert([PrivateDataStream(descriptor: [0x56, 255] + [UInt8](repeating: 0x61, count: 255))])
        #expect(state.privateDataStreams.count == 32)
        let map = ProgramTableWriter(state.program, privateData: state.privateDataStreams).programMap(audioChanges: 0)
        #expect(map.count.isMultiple(of: 184) && map.count <= 6 * 184)
    }

    @Test func storedPacketsAreReadBack() throws {
        let streams = [Self.teletext, Self.subtitles("deu")]
        let messages = [
            PlacedMessage(message: .privateData([1, 0, 2], of: streams[1]), time: Ticks(90)),
            PlacedMessage(message: .privateData([], of: Self.subtitles("xyz")), time: Ticks(91)),
            PlacedMessage(message: .id3([3]), time: Ticks(92)),
            PlacedMessage(message: .privateData([4], of: streams[0]), time: Ticks(93)),
        ]
        let read = try PrivateDataFile.read(PrivateDataFile.write(messages), of: streams)
        #expect(
            read == [
                .init(time: Ticks(90), stream: 1, payload: [1, 0, 2]), .init(time: Ticks(93), stream: 0, payload: [4]),
            ])
        #expect(throws: MediaError.self) { try PrivateDataFile.read([0, 0, 0, 9, 1], of: streams) }
    }
}
