import TestSupport
import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux

@Suite("Boxes")
struct BoxReaderTests {
    static let sizes: [(when: String, bytes: String, bodies: [Int]?)] = [
        ("two boxes", "00000009 66726565 01 00000008 66726565", [1, 0]),
        ("a 64-bit size", "00000001 66726565 0000000000000011 01", [1]),
        ("a size of 0: up to the end", "00000000 6d646174 010203", [3]),
        ("nothing", "", []),
        ("longer than the remaining bytes", "0000000a 66726565 01", nil),
        ("shorter than its header", "00000007 66726565", nil),
        ("a 64-bit size shorter than its header", "00000001 66726565 000000000000000f", nil),
        ("a 64-bit size beyond any file", "00000001 66726565 ffffffffffffffff", nil),
        ("a truncated header", "00000008 6672", nil),
    ]

    @Test("sizes", arguments: sizes)
    func size(when: String, hex: String, bodies: [Int]?) {
        do throws(MediaError) {
            #expect(try BoxReader.boxes(in: bytes(hex)[...]).map(\.body.count) == bodies, "\(when)")
        } catch {
            #expect(bodies == nil && error.reason == .truncated, "\(when)")
        }
    }

    @Test func types() {
        #expect(BoxType("moof").code == 0x6D6F_6F66)
        #expect(BoxType("url ").description == "url ")
        #expect(BoxType(code: 0x0061_0A7F).description == ".a..")
    }

    private func media() throws -> (initSection: [UInt8], segment: [UInt8]) {
        let fragment = FragmentWriter.write(
            sequenceNumber: 7,
            video: MuxTrack(
                trackID: TrackID.video, decodeTime: 18_000,
                samples: [
                    MuxSample(
                        duration: 3600, compositionOffset: 18_000, isSync: true, payload: Array("foobar".utf8)[...]),
                    MuxSample(duration: 3600, compositionOffset: -1, isSync: false, payload: Array("a".utf8)[...]),
                ]),
            audio: MuxTrack(
                trackID: TrackID.audio, decodeTime: 294,
                samples: [MuxSample(duration: 301_056, compositionOffset: 0, isSync: true, payload: [])]))
        let initSection = try InitWriter.write(video: InitSample.video, audio: InitSample.audio)
        return (initSection.bytes, fragment.header + fragment.payloads.joined())
    }

    @Test("a dump lists tracks, fragments and samples")
    func dump() throws {
        let (initSection, segment) = try media()
        let lines = FragmentDump.text(initSection: initSection, segment: segment).split(separator: "\n")
        try #require(lines.count == 8)
        #expect(lines[0].hasPrefix("track 1 vide avc1 timescale=90000 720x576 avcC="))
        #expect(lines[0].contains(" pasp="))
        #expect(lines[1].hasPrefix("track 2 soun mp4a timescale=14112000 channels=2 rate=48000 esds="))
        #expect(
            lines[2...] == [
                "fragment 7: styp moof mdat",
                "  track 1 tfdt=18000 samples=2",
                "    dts=18000 duration=3600 offset=+18000 sync size=6 85944171f73967e8",
                "    dts=21600 duration=3600 offset=-1 delta size=1 af63dc4c8601ec8c",
                "  track 2 tfdt=294 samples=1",
                "    dts=294 duration=301056 offset=+0 sync size=0 cbf29ce484222325",
            ])
    }

    @Test("truncated and damaged input always yields a dump")
    func damage() throws {
        let (initSection, segment) = try media()
        let whole = FragmentDump.text(initSection: initSection, segment: segment)
        #expect(!whole.contains("malformed"))
        for end in segment.indices {
            let text = FragmentDump.text(initSection: initSection, segment: Array(segment[..<end]))
            #expect(text != whole, "cut at \(end)")
        }
        for index in initSection.indices {
            _ = FragmentDump.text(initSection: Array(initSection[..<index]), segment: segment)
            var (damagedInit, damagedSegment) = (initSection, segment)
            damagedInit[index] = 0xFF
            if index < segment.count { damagedSegment[index] = 0xFF }
            _ = FragmentDump.text(initSection: damagedInit, segment: damagedSegment)
        }
    }
}
