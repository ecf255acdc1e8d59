import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux

@Suite("Init sections")
struct InitWriterTests {
    @Test("the boxes of both tracks are in order")
    func boxLayout() throws {
        let initSection = try InitWriter.write(video: InitSample.video, audio: InitSample.audio)
        let boxes = try BoxReader.boxes(in: initSection.bytes[...])
        #expect(boxes.map(\.type) == ["ftyp", "moov"])
        #expect(Array(boxes[0].body) == Array("iso6\0\0\0\0iso6cmfcmp41".utf8))
        #expect(try boxes[1].children().map(\.type) == ["mvhd", "trak", "trak", "mvex"])
        #expect(try boxes[1].descendant("mvex").children().map(\.body) == [trex(1), trex(2)])
        let tracks = try MovieTrack.tracks(of: initSection.bytes)
        #expect(tracks.map(\.trackID) == [TrackID.video, TrackID.audio])
        #expect(tracks.map(\.timescale.unitsPerSecond) == [90_000, 14_112_000])
        #expect(tracks.map(\.handler) == ["vide", "soun"])
        #expect(tracks[0].sampleEntries[0].configuration.map(\.type) == ["avcC", "pasp"])
        #expect(tracks[1].sampleEntries[0].configuration.map(\.type) == ["esds"])
    }

    private func trex(_ trackID: UInt8) -> ArraySlice<UInt8> {
        [0, 0, 0, 0, 0, 0, 0, trackID, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12)[...]
    }

    @Test("the name depends on the bytes, and the bytes on the configurations")
    func nameDependsOnConfigurations() throws {
        let (video, audio) = (InitSample.video, InitSample.audio)
        let first = try InitWriter.write(video: video, audio: audio)
        #expect(try InitWriter.write(video: video, audio: audio) == first)
        #expect(first.name == "init-\(ContentHash.hexName(of: first.bytes)).mp4")
        #expect(try InitWriter.write(video: video, audio: nil).name != first.name)
        let other = VideoConfiguration(
            codec: .h264, sequenceParameterSets: video.sequenceParameterSets, pictureParameterSets: [bytes("68ee3c80")])
        #expect(try InitWriter.write(video: other, audio: audio).name != first.name)
    }

    static let colorRows: [(when: String, row: Int, boxes: [BoxType])] = [
        ("square samples without color description", 5, ["avcC", "pasp"]),
        ("BT.709", 26, ["avcC", "colr", "pasp"]),
        ("full range without color description", 31, ["avcC", "colr", "pasp"]),
    ]

    @Test("colr and pasp follow the parameter set", arguments: colorRows)
    func colorBoxes(when: String, row: Int, boxes: [BoxType]) throws {
        let configuration = VideoConfiguration(
            codec: .h264, sequenceParameterSets: [h264Rows[row].nalUnit], pictureParameterSets: [])
        let tracks = try MovieTrack.tracks(of: InitWriter.write(video: configuration, audio: nil).bytes)
        #expect(tracks[0].sampleEntries[0].configuration.map(\.type) == boxes, "\(when): \(h264Rows[row].expected)")
    }

    @Test("Dolby Vision and HDR10 pass through")
    func dynamicRangeBoxes() throws {
        let vision: [UInt8] = [1, 0, 0x10, 0x3D, 0x40] + [UInt8](repeating: 0, count: 19)
        var boxes = BoxWriter()
        boxes.box("dvvC") { $0.append(vision) }
        boxes.box("mdcv") { $0.append([UInt8](1...24)) }
        boxes.box("clli") { $0.append([3, 232, 1, 144] as [UInt8]) }
        let configuration = VideoConfiguration(
            codec: .h264, sequenceParameterSets: [h264Rows[5].nalUnit], pictureParameterSets: [],
            dynamicRangeBoxes: boxes.bytes)
        let bytes = try InitWriter.write(video: configuration, audio: nil).bytes
        let entry = try MovieTrack.tracks(of: bytes)[0].sampleEntries[0]
        #expect(entry.configuration.map(\.type) == ["avcC", "dvvC", "mdcv", "clli", "pasp"])
        #expect(try VideoSampleDescription(entry)?.dynamicRangeBoxes == boxes.bytes)
        var store = ParameterSetStore(codec: .h264)
        for kept in [boxes.bytes, []] {
            store.dynamicRangeBoxes = kept
            store.beginAccessUnit()
            _ = store.insert(h264Rows[5].nalUnit[...], .sequence)
            _ = store.insert([0x68, 0xEE, 0x3C, 0x80], .picture)
            store.activate()
            #expect(store.configuration?.dynamicRangeBoxes == kept, "of each sample entry its own")
        }
    }

    static let rejectedRows: [(row: BriefArgument<VideoConfiguration>, field: String)] = [
        (BriefArgument("no sequence parameter set", sets([])), "seq_parameter_set"),
        (
            BriefArgument(
                "more than 31 sequence parameter sets", sets(Array(repeating: h264Rows[0].nalUnit, count: 32))),
            "numOfParameterSets"
        ),
        (
            BriefArgument(
                "a parameter set longer than 65535 bytes",
                sets([h264Rows[0].nalUnit, [UInt8](repeating: 0x67, count: 65_536)])), "parameterSetLength"
        ),
    ]

    private static func sets(_ sets: [[UInt8]]) -> VideoConfiguration {
        VideoConfiguration(codec: .h264, sequenceParameterSets: sets, pictureParameterSets: [])
    }

    @Test("a configuration that cannot be written is rejected", arguments: rejectedRows)
    func rejectedConfiguration(row: BriefArgument<VideoConfiguration>, field: String) {
        let error = #expect(throws: MediaError.self, "\(row.name)") {
            try InitWriter.write(video: row.value, audio: nil)
        }
        #expect(error?.reason == .badParameterSet(field: field), "\(row.name)")
    }
}
