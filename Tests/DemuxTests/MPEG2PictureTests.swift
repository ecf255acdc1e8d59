import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// Frames of MPEG-2 video, whose pictures may be fields.
@Suite struct MPEG2PictureTests {
    typealias Sample = ElementarySamples

    /// 720 x 576, 16:9, 25 frames per second.
    static let sequence: [[UInt8]] = [
        [0xB3, 0x2D, 0x02, 0x40, 0x33, 0xFF, 0xFF, 0xE0, 0x18], [0xB5, 0x14, 0x82, 0x00, 0x01, 0x00, 0x00],
    ]
    static let (openGroup, closedGroup): ([UInt8], [UInt8]) = (
        [0xB8, 0, 8, 0, 0x80], [0xB8, 0, 8, 0, 0xC0]
    )

    /// - Parameters:
    ///   - type: picture_coding_type: 1 I, 2 P, 3 B.
    ///   - structure: picture_structure: 1 top field, 2 bottom field, 3 frame.
    static func picture(_ type: UInt8, _ structure: UInt8 = 3, reference: UInt8 = 0) -> [[UInt8]] {
        [
            [0x00, reference >> 2, reference << 6 | type << 3, 0x11],
            [0xB5, 0x81, 0x11, 0x10 | structure, 0x80, 0x00], [0x01, 0x22, 0x33], [0x02, 0x44, 0x55],
        ]
    }

    private static func stream(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 1] as [UInt8] + $0 } }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Units of each PES packet.
        let packets: [[[UInt8]]]
        /// What each frame is: C closed group, O open group, - none, and r if others may refer to it.
        let frames: [String]
        var testDescription: String { when }
    }

    static let rows = [
        Row(
            when: "frames", packets: [sequence + [closedGroup] + picture(1), picture(2), picture(3)],
            frames: ["Cr", "-r", "-"]),
        Row(
            when: "an open group of pictures",
            packets: [sequence + [openGroup] + picture(1), picture(3), picture(2)], frames: ["Or", "-", "-r"]),
        Row(when: "no group header", packets: [sequence + picture(1), picture(2)], frames: ["Or", "-r"]),
        Row(
            when: "an I picture without a sequence header", packets: [sequence + picture(1), picture(1)],
            frames: ["Or", "-r"]),
        Row(
            when: "two fields in one PES packet",
            packets: [sequence + [closedGroup] + picture(1, 1) + picture(2, 2), picture(2, 1) + picture(2, 2)],
            frames: ["Cr", "-r"]),
        Row(
            when: "a PES packet for each field",
            packets: [sequence + [closedGroup] + picture(1, 1), picture(2, 2), picture(3, 2), picture(3, 1)],
            frames: ["Cr", "-"]),
        Row(
            when: "a field whose other one is missing",
            packets: [
                sequence + picture(1, 1), picture(2, 2), picture(2, 1), picture(2, 1, reference: 1),
                picture(2, 2, reference: 1),
            ],
            frames: ["Or", "-r", "-r"]),
        Row(
            when: "user data after the headers",
            packets: [sequence + [[0xB2, 1, 2]] + [openGroup] + picture(1), picture(2) + [[0xB7]]],
            frames: ["Or", "-r"]),
    ]

    @Test(arguments: rows) func framesAre(_ row: Row) throws {
        var builder = TransportStreamBuilder()
        builder.tables([.init(pid: 0x100, type: 0x02)])
        for (index, units) in row.packets.enumerated() {
            builder.pes(pid: 0x100, pts: Int64(index) * 3600, Self.stream(units))
        }
        let output = try TransportDemuxer.all([builder.cut()])
        #expect(output.video.map(Self.name) == row.frames)
        // Everything comes out as it was.
        #expect(output.video.flatMap(\.payload) == Self.stream(row.packets.flatMap { $0 }))
        #expect(output.counts[.undecodableUnits] == 0)
    }

    private static func name(_ packet: VideoPacket) -> String {
        let point =
            switch packet.randomAccess {
            case .instantaneousRefresh: "C"
            case .cleanRandomAccess: "O"
            case nil: "-"
            default: "?"
            }
        return point + (packet.isReference ? "r" : "")
    }

    static let headers: [(when: String, units: [[UInt8]], says: String)] = [
        ("PAL in 16:9", sequence, "720x576 64:45 25:1 mp4v.61"),
        ("without an extension", [sequence[0]], "720x576 64:45 25:1 mp4v.61"),
        (
            "ATSC, square samples",
            [[0xB3, 0x78, 0x04, 0x38, 0x14, 0xFF, 0xFF, 0xE0, 0x18], [0xB5, 0x14, 0x42, 0, 1, 0, 0]],
            "1920x1080 1:1 30000:1001 mp4v.61"
        ),
        (
            "4:2:2, wider than twelve bits",
            [[0xB3, 0x00, 0x04, 0x38, 0x27, 0xFF, 0xFF, 0xE0, 0x18], [0xB5, 0x18, 0x54, 0x80, 1, 0, 0]],
            "4096x1080 45:128 60000:1001 mp4v.65"
        ),
        ("an unknown rate", [[0xB3, 0x2D, 0x02, 0x40, 0x1F, 0xFF, 0xFF, 0xE0, 0x18]], "720x576 1:1 nil mp4v.61"),
    ]

    @Test(arguments: headers) func sequenceHeader(when: String, units: [[UInt8]], says: String) throws {
        let description = try VideoDescription(
            VideoConfiguration(
                codec: .mpeg2, sequenceParameterSets: [units[0]], pictureParameterSets: Array(units.dropFirst())))
        func text(_ ratio: VideoDescription.Ratio?) -> String {
            ratio.map { "\($0.numerator):\($0.denominator)" } ?? "nil"
        }
        let found =
            "\(description.width)x\(description.height) \(text(description.sampleAspectRatio)) "
            + "\(text(description.frameRate)) \(description.codecString)"
        #expect(found == says, "\(when)")
    }

    @Test func damagedHeadersNeverTrap() {
        for unit in Self.sequence + [Self.openGroup] + Self.picture(1, 1) {
            for length in 1...unit.count {
                let cut = Array(unit.prefix(length))
                let bytes = Self.stream(Self.sequence + [cut] + Self.picture(1))
                var builder = TransportStreamBuilder()
                builder.tables([.init(pid: 0x100, type: 0x02)])
                builder.pes(pid: 0x100, pts: 0, bytes)
                builder.pes(pid: 0x100, pts: 3600, bytes)
                #expect(throws: Never.self) { try TransportDemuxer.all([builder.cut()]) }
            }
        }
    }
}
