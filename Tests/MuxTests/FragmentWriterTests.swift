import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux

@Suite("Fragments")
struct FragmentWriterTests {
    /// Samples of a track, and the optional fields that its `traf` needs.
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Duration, composition offset and whether it is a sync sample.
        let samples: [(UInt32, Int32, Bool)]
        let headerFlags: UInt32
        let trunFlags: UInt32
        /// Total size of `tfhd` and `trun` with their box headers.
        let size: Int

        var testDescription: String { when }
    }

    static let rows: [Row] = [
        Row(
            when: "an IDR and a dependent frame, constant frame rate", samples: [(3600, 0, true), (3600, 0, false)],
            headerFlags: 0x02_0028, trunFlags: 0x205, size: 24 + 24 + 2 * 4),
        Row(
            when: "B-frames", samples: [(3600, 7200, true), (3600, 14_400, false), (3600, 0, false)],
            headerFlags: 0x02_0028, trunFlags: 0xA05, size: 24 + 24 + 3 * 8),
        Row(
            when: "a reorder delay above the composition delay", samples: [(3600, -3600, true), (3600, 3600, false)],
            headerFlags: 0x02_0028, trunFlags: 0xA05, size: 24 + 24 + 2 * 8),
        Row(
            when: "a variable frame rate", samples: [(3600, 0, true), (7200, 0, false)],
            headerFlags: 0x02_0020, trunFlags: 0x305, size: 20 + 24 + 2 * 8),
        Row(
            when: "a second IDR", samples: [(3600, 0, true), (3600, 0, false), (3600, 0, true)],
            headerFlags: 0x02_0028, trunFlags: 0x601, size: 24 + 20 + 3 * 8),
        Row(
            when: "an IDR that is not the first", samples: [(3600, 0, false), (3600, 0, true)],
            headerFlags: 0x02_0028, trunFlags: 0x601, size: 24 + 20 + 2 * 8),
        Row(
            when: "audio: all sync", samples: [(301_056, 0, true), (301_056, 0, true)],
            headerFlags: 0x02_0028, trunFlags: 0x201, size: 24 + 20 + 2 * 4),
        Row(
            when: "a gap covered by the duration of the sample before it",
            samples: [(301_056, 0, true), (7_056_000, 0, true)],
            headerFlags: 0x02_0020, trunFlags: 0x301, size: 20 + 20 + 2 * 8),
        Row(
            when: "no sync sample", samples: [(3600, 0, false), (3600, 0, false)],
            headerFlags: 0x02_0028, trunFlags: 0x201, size: 24 + 20 + 2 * 4),
        Row(
            when: "one sample", samples: [(3600, 0, true)], headerFlags: 0x02_0028, trunFlags: 0x201,
            size: 24 + 20 + 4),
        Row(when: "no sample at all", samples: [], headerFlags: 0x02_0020, trunFlags: 0x201, size: 20 + 20),
    ]

    @Test("only varying values are written per sample", arguments: rows)
    func onlyVaryingValuesArePerSample(_ row: Row) throws {
        let track = track(row.samples)
        let fragment = FragmentWriter.write(sequenceNumber: 1, video: track, audio: nil)
        let moof = try BoxReader.boxes(in: whole(fragment)[...]).require("moof")
        let traf = try moof.descendant("traf").children()
        #expect(traf.map(\.type) == ["tfhd", "tfdt", "trun"])
        let (header, trun) = (try traf.require("tfhd"), try traf.require("trun"))
        #expect(word(header, 0) == row.headerFlags)
        #expect(word(trun, 0) == 1 << 24 | row.trunFlags)
        #expect(word(try traf.require("tfdt"), 0) == 1 << 24)
        #expect(header.body.count + trun.body.count + 16 == row.size)
        let read = try #require(MovieFragment.fragments(of: whole(fragment)).first?.tracks.first)
        expectEqual(read, track)
    }

    @Test("random access points that are no sync samples are in sample groups")
    func sampleGroups() throws {
        let kinds: [RandomAccessPoint?] = [
            .recoveryPoint, nil, nil, .gradualRefresh(frames: 12), .cleanRandomAccess, nil, .instantaneousRefresh,
            .gradualRefresh(frames: 70_000),
        ]
        let track = MuxTrack(
            trackID: 1, decodeTime: 0,
            samples: kinds.map { MuxSample(duration: 1, compositionOffset: 0, randomAccess: $0, payload: [1]) })
        let fragment = FragmentWriter.write(sequenceNumber: 1, video: track, audio: nil)
        let traf = try BoxReader.boxes(in: whole(fragment)[...]).require("moof").descendant("traf").children()
        #expect(traf.map(\.type) == ["tfhd", "tfdt", "trun", "sgpd", "sbgp", "sgpd", "sbgp"])
        let groups = traf.filter { ["sgpd", "sbgp"].contains($0.type) }.map { Array($0.body) }
        #expect(groups[0] == bytes("01000000 72617020 00000001 00000001 00"))
        #expect(
            groups[1]
                == bytes(
                    "00000000 72617020 00000004 00000001 00010001 00000003 00000000 00000001 00010001 00000003 00000000"
                )
        )
        #expect(groups[2] == bytes("01000000 726f6c6c 00000002 00000002 000c 7fff"))
        #expect(
            groups[3]
                == bytes(
                    "00000000 726f6c6c 00000004 00000003 00000000 00000001 00010001 00000003 00000000 00000001 00010002"
                )
        )
        let flags = try TrackRun(traf.require("trun"), try TrackFragmentHeader(traf, [:]).defaults, limit: 99).entries
            .map(\.flags)
        #expect(
            flags == [
                0x0201_0000, 0x0101_0000, 0x0101_0000, 0x0101_0000, 0x0201_0000, 0x0101_0000, 0x0200_0000, 0x0101_0000,
            ])
    }

    @Test("a fragment has the expected bytes")
    func fragmentBytes() {
        let video = MuxTrack(
            trackID: 1, decodeTime: 0x1_0000_0002,
            samples: [
                MuxSample(duration: 3600, compositionOffset: 18_000, isSync: true, payload: [0xAA, 0xAB]),
                MuxSample(duration: 3600, compositionOffset: -1, isSync: false, payload: [0xBB]),
            ])
        let audio = MuxTrack(
            trackID: 2, decodeTime: 5,
            samples: [MuxSample(duration: 301_056, compositionOffset: 0, isSync: true, payload: [0xCC, 0xCD, 0xCE])])
        let fragment = FragmentWriter.write(sequenceNumber: 7, video: video, audio: audio)
        let expected = bytes(
            "00000018 73747970 69736f36 00000000 69736f36 6d736468"
                + "000000c0 6d6f6f66 00000010 6d666864 00000000 00000007"
                + "0000005c 74726166 00000018 74666864 00020028 00000001 00000e10 01010000"
                + "00000014 74666474 01000000 00000001 00000002"
                + "00000028 7472756e 01000a05 00000002 000000c8 02000000 00000002 00004650 00000001 ffffffff"
                + "0000004c 74726166 00000018 74666864 00020028 00000002 00049800 02000000"
                + "00000014 74666474 01000000 00000000 00000005"
                + "00000018 7472756e 01000201 00000001 000000cb 00000003"
                + "0000000e 6d646174")
        #expect(fragment.header == expected)
        #expect(fragment.payloads == [[0xAA, 0xAB], [0xBB], [0xCC, 0xCD, 0xCE]])
        #expect(fragment.byteCount == expected.count + 6)
    }

    @Test("a chunk after the first has no styp, and its offsets count from moof")
    func laterChunkHasNoStyp() throws {
        let track = track([(3600, 0, true), (3600, 0, false)])
        let (first, later) = (
            FragmentWriter.write(sequenceNumber: 1, video: track, audio: nil),
            FragmentWriter.write(sequenceNumber: 1, video: track, audio: nil, startsSegment: false)
        )
        #expect(Array(first.header.dropFirst(24)) == later.header)
        let both = whole(first) + whole(later)
        let read = try MovieFragment.fragments(of: both)
        #expect(read.count == 2)
        for fragment in read { expectEqual(fragment.tracks[0], track) }
    }

    @Test("mdat above 4 GiB has a 64-bit size")
    func largePayloadHas64BitSize() throws {
        let payload = [UInt8](repeating: 7, count: 1 << 24)[...]
        let samples = (0..<257).map { _ in
            MuxSample(duration: 1, compositionOffset: 0, isSync: true, payload: payload)
        }
        let track = MuxTrack(trackID: 1, decodeTime: 0, samples: samples)
        let fragment = FragmentWriter.write(sequenceNumber: 1, video: track, audio: nil, startsSegment: false)
        #expect(Array(fragment.header.suffix(16)) == bytes("00000001 6d646174 0000000101000010"))
        let moof = fragment.header.count - 16
        #expect(moof == 8 + 16 + 8 + 24 + 20 + 20 + 257 * 4)
        #expect(Array(fragment.header[92..<96]) == bytes("00000474"), "the payload begins after the longer header")
    }

    @Test("written fragments read back equal", arguments: 0..<40)
    func fragmentsRoundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (video, audio) = (randomTrack(1, &random), randomTrack(2, &random))
        let fragment = FragmentWriter.write(
            sequenceNumber: UInt32.random(in: 0...UInt32.max, using: &random), video: video, audio: audio)
        let read = try #require(MovieFragment.fragments(of: whole(fragment)).first)
        #expect(read.tracks.map(\.trackID) == [1, 2])
        expectEqual(read.tracks[0], video)
        expectEqual(read.tracks[1], audio)
        #expect(whole(fragment).count == fragment.byteCount)
    }

    private func randomTrack(_ trackID: UInt32, _ random: inout SeededGenerator) -> MuxTrack {
        let varies = Bool.random(using: &random)
        let samples = (0..<Int.random(in: 1...60, using: &random)).map { index in
            MuxSample(
                duration: varies ? UInt32.random(in: 1...9000, using: &random) : 3600,
                compositionOffset: varies ? Int32.random(in: -9000...90_000, using: &random) : 0,
                isSync: index == 0 || Int.random(in: 0..<10, using: &random) == 0,
                payload: (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }[...])
        }
        let decodeTime = UInt64.random(in: 0...UInt64(Int64.max), using: &random)
        return MuxTrack(trackID: trackID, decodeTime: decodeTime, samples: samples)
    }

    private func track(_ samples: [(UInt32, Int32, Bool)]) -> MuxTrack {
        let samples = samples.enumerated().map { index, sample in
            MuxSample(
                duration: sample.0, compositionOffset: sample.1, isSync: sample.2,
                payload: [UInt8](repeating: UInt8(index), count: index + 1)[...])
        }
        return MuxTrack(trackID: 1, decodeTime: 1 << 40, samples: samples)
    }

    private func whole(_ fragment: Fragment) -> [UInt8] { fragment.header + fragment.payloads.joined() }

    private func word(_ box: Box, _ index: Int) -> UInt32 {
        box.body.dropFirst(4 * index).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func expectEqual(_ read: TrackFragment, _ written: MuxTrack) {
        #expect(read.trackID == written.trackID)
        #expect(read.decodeTime == written.decodeTime)
        let samples = read.samples.map {
            MuxSample(
                duration: $0.duration, compositionOffset: $0.compositionOffset, isSync: $0.isSync,
                payload: $0.payload)
        }
        #expect(samples == written.samples)
        #expect(read.samples.allSatisfy { [FragmentWriter.syncFlags, FragmentWriter.nonSyncFlags].contains($0.flags) })
    }
}
