import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Tags of packed audio: the timestamp is not metadata, other frames are.
@Test func tagsOfPackedAudio() throws {
    func frame(_ id: String, _ body: [UInt8]) -> [UInt8] {
        Array(id.utf8) + [0, 0, 0, UInt8(body.count), 0, 0] + body
    }
    func tag(_ frames: [UInt8]) -> [UInt8] { Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frames.count)] + frames }
    let time = frame("PRIV", Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0])
    let title = frame("TIT2", [3, 0x61])
    let rows: [(when: String, tags: [UInt8], metadata: [[UInt8]])] = [
        ("only the timestamp", tag(time), []), ("a title in the same tag", tag(time + title), [tag(title)]),
        ("a title in a tag of its own", tag(time) + tag(title), [tag(title)]),
    ]
    for row in rows {
        var demuxer = PackedAudioDemuxer()
        let segment = try demuxer.feed(row.tags + ElementarySamples.adts(1) + ElementarySamples.adts(2))
        #expect(segment.metadata == row.metadata.map { TimedMetadata(.id3($0), at: Ticks(256)) }, "\(row.when)")
        #expect(!segment.audio.isEmpty, "\(row.when)")
    }
}
