import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Which access units are random access points, and of which kind.
@Suite struct RandomAccessTests {
    typealias Sample = ElementarySamples

    /// A recovery point message; `bits` is recovery_frame_cnt or recovery_poc_cnt, and the flags after it.
    private static func recovery(_ bits: String, header: [UInt8] = [0x06]) -> [UInt8] {
        header + [0x06, 0x02] + [UInt8(bits.prefix(8), radix: 2) ?? 0, UInt8(bits.dropFirst(8), radix: 2) ?? 0, 0x80]
    }

    /// A slice of an H.264 picture: I is slice_type 7, P 5; `second` begins another picture of the access unit.
    private static func slice(_ type: Character, header: UInt8 = 0x41, isFirst: Bool = true) -> [UInt8] {
        // first_mb_in_slice 0 or 1, then slice_type.
        let bits = (isFirst ? "1" : "010") + (type == "I" ? "0001000" : "00110") + "10101010"
        return [header, UInt8(bits.prefix(8), radix: 2) ?? 0, 0xAA, 0xAA]
    }

    private static let sets = [Sample.sequenceUnit(0), Sample.pictureUnit(0)]

    static let rows: [(when: String, units: [[UInt8]], kind: RandomAccessPoint?)] = [
        ("an IDR picture", sets + [slice("I", header: 0x65)], .instantaneousRefresh),
        ("an I picture with an exact recovery point", [recovery("1100000000000000"), slice("I")], .recoveryPoint),
        ("an I picture, recovery not exact", [recovery("1000000000000000"), slice("I")], .recoveryPoint),
        ("an I picture, recovery after three frames", [recovery("0010010000000000"), slice("I")], .recoveryPoint),
        ("a P picture that claims to be right at once", [recovery("1100000000000000"), slice("P")], .recoveryPoint),
        (
            "a P picture, recovery after three frames", [recovery("0010010000000000"), slice("P")],
            .gradualRefresh(frames: 3)
        ),
        (
            "one of its slices is a P slice", [recovery("0010010000000000"), slice("I"), slice("P", isFirst: false)],
            .gradualRefresh(frames: 3)
        ),
        (
            "an I field and a P field", [recovery("0010010000000000"), slice("I"), slice("P")], .recoveryPoint
        ),
        ("an I picture after its SPS", sets + [slice("I")], .recoveryPoint),
        ("an I field after its SPS, and a P field", sets + [slice("I"), slice("P")], .recoveryPoint),
        ("an I picture that nothing refers to", sets + [slice("I", header: 0x01)], nil),
        ("a P picture after its SPS", sets + [slice("P")], nil),
        ("an I picture", [slice("I")], nil),
        ("an I picture after a PPS", [Sample.pictureUnit(0), slice("I")], nil),
        ("a recovery point message that is cut off", [[0x06, 0x06, 0x02], slice("I")], nil),
    ]

    @Test(arguments: rows.indices)
    func kindOfAnAccessUnit(_ index: Int) throws {
        let row = Self.rows[index]
        #expect(try kind(row.units, codec: .h264) == row.kind, "\(row.when)")
    }

    static let hevcRows: [(when: String, units: [[UInt8]], kind: RandomAccessPoint?)] = [
        ("IDR", [[19 << 1, 1, 0x80]], .instantaneousRefresh), ("BLA", [[16 << 1, 1, 0x80]], .instantaneousRefresh),
        ("CRA", [[21 << 1, 1, 0x80]], .cleanRandomAccess),
        (
            "a recovery point at once", [recovery("1100000000000000", header: [0x4E, 1]), [2, 1, 0x80]],
            .recoveryPoint
        ),
        (
            "a recovery point four pictures later",
            [recovery("0001000100000000", header: [0x4E, 1]), [2, 1, 0x80]], .gradualRefresh(frames: 4)
        ),
        (
            "a recovery point in the past", [recovery("0111000000000000", header: [0x4E, 1]), [2, 1, 0x80]],
            .recoveryPoint
        ),
        ("any other picture", [[2, 1, 0x80]], nil),
    ]

    @Test(arguments: hevcRows.indices)
    func kindOfAnHEVCAccessUnit(_ index: Int) throws {
        let row = Self.hevcRows[index]
        #expect(try kind(row.units, codec: .hevc) == row.kind, "\(row.when)")
    }

    @Test func containerAnnouncesAnIPicture() throws {
        #expect(try kind([Self.slice("I")], codec: .h264, isMarkedSync: true) == .recoveryPoint)
        #expect(try kind([Self.slice("P")], codec: .h264, isMarkedSync: true) == nil)
    }

    @Test func nothingRefersBeforeAnIPictureWithOneReferenceFrame() throws {
        #expect(try kind([Self.slice("I")], codec: .h264, hasSingleReference: true) == .recoveryPoint)
        #expect(try kind([Self.slice("P")], codec: .h264, hasSingleReference: true) == nil)
    }

    private func kind(
        _ units: [[UInt8]], codec: VideoConfiguration.Codec, isMarkedSync: Bool = false,
        hasSingleReference: Bool = false
    ) throws -> RandomAccessPoint? {
        let bytes = Sample.stream(units)
        var found: [NALUnit] = []
        try AnnexB.scan(bytes, in: bytes.indices, into: &found)
        let roles = found.map { NALUnitRole($0, of: bytes, codec: codec) }
        return CodedPicture(found[...], roles[...], of: bytes, codec: codec)?
            .randomAccess(isMarkedSync: isMarkedSync, hasSingleReference: hasSingleReference)
    }

    /// Frames of a second segment (`R` recovery point, `G` gradual refresh, `I` IDR, `p` any other), ten for each second,
    /// and the number of frames dropped before the period begins; nil if more frames are needed.
    static let choices: [(when: String, frames: String, dropped: Int?)] = [
        ("an IDR picture at once", "Ipppp", 0), ("a recovery point, and no IDR picture", "RppppppppppppppRpp", 0),
        ("an IDR picture before a second is over", "RppppIpppp", 5),
        ("an IDR picture after a second", "RpppppppppI", 10),
        ("an IDR picture after more than a second", "RppppppppppI", 0),
        ("recovery points before an IDR picture", "RpRpRpIppp", 6),
        ("joined before a recovery point", "pppRppppppppppppp", 3),
        ("a recovery point before a gradual refresh is over", "GppppRppppppppppp", 5),
        ("a gradual refresh alone", "Gpppppppppppp", 0), ("less than a second was received", "Rppp", nil),
    ]

    @Test(arguments: choices.indices)
    func periodBeginsAtTheRightFrame(_ index: Int) {
        let row = Self.choices[index]
        var splitter = PeriodSplitter()
        let parts = splitter.split(Self.frames(row.frames), from: SyntheticPackets.segment(), boundary: .plain)
        #expect(splitter.isUndecided == (row.dropped == nil), "\(row.when)")
        guard let dropped = row.dropped else {
            #expect(parts.isEmpty && splitter.isHolding, "\(row.when)")
            #expect(splitter.finish().map(\.units.count) == [row.frames.count], "\(row.when)")
            return
        }
        #expect(parts.map(\.units.count) == [row.frames.count - dropped], "\(row.when)")
        #expect(splitter.counts[.framesBeforeSync] == dropped, "\(row.when)")
        #expect(parts.first?.units.first?.randomAccess != nil, "\(row.when)")
    }

    /// Any division into segments leads to the same frames.
    @Test(arguments: choices.indices, [1, 3, 7])
    func choiceDoesNotDependOnSegments(_ index: Int, count: Int) {
        let frames = Self.frames(Self.choices[index].frames)
        var whole = PeriodSplitter()
        let expected =
            whole.split(frames, from: SyntheticPackets.segment(), boundary: .plain) + whole.finish()
        var splitter = PeriodSplitter()
        var parts: [PeriodPart] = []
        for start in stride(from: 0, to: frames.count, by: count) {
            parts += splitter.split(
                Array(frames[start..<min(start + count, frames.count)]),
                from: SyntheticPackets.segment(UInt64(start / count)), boundary: .plain)
        }
        parts += splitter.finish()
        #expect(parts.flatMap(\.units).map(\.dts) == expected.flatMap(\.units).map(\.dts))
        #expect(splitter.counts[.framesBeforeSync] == whole.counts[.framesBeforeSync])
        let sequences = parts.map { UInt64($0.units[0].dts.count / 9000) / UInt64(count) }
        #expect(parts.map(\.mediaSequence) == sequences)
    }

    @Test("what follows a loss or another configuration is not waited for")
    func changeEndsTheWait() {
        var splitter = PeriodSplitter()
        let first = Self.frames("Rppp")
        #expect(splitter.split(first, from: SyntheticPackets.segment(1), boundary: .plain).isEmpty)
        let parts = splitter.split(Self.frames("Ippp", from: 4), from: SyntheticPackets.segment(2), boundary: .loss)
        #expect(parts.map(\.units.count) == [4, 4])
        #expect(parts.map(\.signal) == [.joined, .loss])
        #expect(parts.map(\.mediaSequence) == [1, 2])
        var other = PeriodSplitter()
        let advertisement = SyntheticPackets.videoPackets(
            4, from: 36_000, every: 9000, configuration: SyntheticPackets.advertisement)
        let changed = other.split(first + advertisement, from: SyntheticPackets.segment(), boundary: .plain)
        #expect(changed.map(\.units.count) == [4, 4])
        #expect(changed.map(\.signal) == [.joined, .configuration])
    }

    /// Random access points that count, in a period, if a segment may last a second: `R`, or `r` if it does not count.
    static let uses: [(when: String, frames: String, counted: String)] = [
        ("no IDR picture", "RppppppppppppRppRpp", "RppppppppppppRppRpp"),
        ("an IDR picture every second", "IppppRppppIppppRpppp", "IpppprppppIpppprpppp"),
        ("none for longer than a segment", "IppppRppppRRpRppIpppR", "IpppprpppprRpRppIpppR"),
    ]

    @Test(arguments: uses.indices)
    func otherPointsCountWithoutIDRPictures(_ index: Int) {
        let row = Self.uses[index]
        var splitter = PeriodSplitter(longestSegment: .seconds(1))
        let parts = splitter.split(Self.frames(row.frames), from: SyntheticPackets.segment(), boundary: .plain)
        let text = (parts + splitter.finish()).flatMap(\.units).map { unit in
            switch (unit.packet.randomAccess, unit.randomAccess) {
            case (.instantaneousRefresh, _): "I"
            case (nil, _): "p"
            case (_, nil): "r"
            default: "R"
            }
        }
        #expect(text.joined() == row.counted, "\(row.when)")
    }

    private static func frames(_ letters: String, from start: Int = 0) -> [VideoPacket] {
        let kinds: [Character: RandomAccessPoint] = [
            "I": .instantaneousRefresh, "R": .recoveryPoint, "G": .gradualRefresh(frames: 4),
        ]
        return letters.enumerated().map { index, letter in
            SyntheticPackets.videoPacket(dts: Int64(start + index) * 9000, sync: kinds[letter])
        }
    }

    @Test("audio of another configuration begins a period at a recovery point, without its leading pictures")
    func splitAtRecoveryPoint() {
        var splitter = PeriodSplitter()
        let frames: [(Int64, Int64, RandomAccessPoint?)] = [
            (0, 1, .recoveryPoint), (1, 2, nil), (2, 5, .recoveryPoint), (3, 3, nil), (4, 4, nil), (5, 6, nil),
        ]
        let packets = frames.map { dts, pts, kind in
            SyntheticPackets.videoPacket(dts: dts * 3600, pts: pts * 3600, sync: kind)
        }
        #expect(splitter.split(packets, from: SyntheticPackets.segment(), boundary: .plain).isEmpty)
        var part = splitter.finish()[0]
        let rest = part.split(at: Ticks(3 * 3600))
        #expect(part.units.map(\.pts.count) == [3600, 7200])
        #expect(rest?.part.units.map(\.pts.count) == [18_000, 21_600])
        #expect(rest?.leadingPictures == 2)
        #expect(rest?.part.units.first?.randomAccess == .instantaneousRefresh)
    }

    @Test("a stream without any random access point says so", arguments: [0, 10])
    func awaitedRandomAccessPoint(first: Int) throws {
        let media = try RandomAccessMedia(["-c:v", "libx264", "-preset", "veryfast", "-x264-params", "keyint=infinite"])
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .seconds(3), wallClock: 0))
        let segments = media.segments(from: first, count: 50)
        let output = try segments.enumerated().flatMap { number, bytes in
            try engine.handle(.segment(SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: bytes)))
        }
        #expect(output.isEmpty == (first > 0))
        #expect(engine.awaitsRandomAccess == (first > 0))
    }

    /// Parameter sets come before a recovery point that begins a period, and not before one that an IDR stream has.
    @Test func recoveryPointFollowsItsParameterSets() {
        let packet = VideoPacket(
            pid: 1, configuration: SyntheticPackets.program, pts: Ticks(0), dts: Ticks(0), randomAccess: .recoveryPoint,
            isDamaged: false, payload: [0, 0, 0, 1, 9], parameterSets: [0, 0, 0, 1, 7])
        var unit = TimedVideo(packet: packet, dts: Ticks(0), pts: Ticks(0))
        #expect(Array(unit.payload) == [0, 0, 0, 1, 9] && unit.randomAccess == nil)
        unit.usesOpenRandomAccess = true
        #expect(Array(unit.payload) == [0, 0, 0, 1, 7, 0, 0, 0, 1, 9] && unit.randomAccess == .recoveryPoint)
        unit.beginsPeriod = true
        #expect(unit.randomAccess == .instantaneousRefresh)
    }
}
