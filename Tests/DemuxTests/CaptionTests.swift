import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// CEA-608 and CEA-708 captions are messages inside the video (ATSC A/53 Part 4 §6.2.3), which stay unchanged.
@Suite struct CaptionTests {
    typealias Sample = ElementarySamples

    /// user_data_registered_itu_t_t35 with cc_data that contains zeros, and therefore emulation prevention.
    static let message: [UInt8] =
        [0x04, 0x1A, 0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0xC5, 0xFF, 0xFC, 0x94, 0x2C]
        + [0xFD, 0x80, 0x80, 0xFA, 0x00, 0x00, 0x03, 0x00, 0xFA, 0x00, 0x00, 0x03, 0x00, 0xFF, 0x80]

    static let rows: [(when: String, codec: VideoConfiguration.Codec, units: [[UInt8]])] = [
        ("H.264", .h264, [[0x06] + message, Sample.slice(2)]),
        ("H.264, two messages", .h264, [[0x06] + message, [0x06, 0x05, 0x01, 0x00, 0x80], Sample.slice(2)]),
        ("HEVC, before the picture", .hevc, [[0x4E, 0x01] + message, [0x02, 0x01, 0xD0, 0x22, 0x33]]),
        ("HEVC, after the picture", .hevc, [[0x02, 0x01, 0xD0, 0x22, 0x33], [0x50, 0x01] + message]),
    ]

    @Test(arguments: rows.indices)
    func captionsStayInTheVideo(_ index: Int) throws {
        let row = Self.rows[index]
        var builder = TransportStreamBuilder()
        builder.tables([.init(pid: 0x100, type: row.codec == .h264 ? 0x1B : 0x24)])
        let first = row.codec == .h264 ? Sample.idr(1) : Self.hevcRefresh()
        builder.pes(pid: 0x100, pts: 0, first)
        let delimiter: [UInt8] = row.codec == .h264 ? Sample.delimiter : [0x46, 0x01, 0x50]
        builder.pes(pid: 0x100, pts: 3600, Sample.stream([delimiter] + row.units))
        let output = try TransportDemuxer.all([builder.cut()])
        let units = try #require(output.video.last).payload
        #expect(ComparableFrame.lengthPrefixed(units) == row.units, "\(row.when)")
    }

    /// cc_data of one message: the constructs after the header.
    private static func message(_ constructs: [UInt8], identifier: String = "GA94", flags: UInt8 = 0x40) -> [UInt8] {
        [0xB5, 0x00, 0x31] + Array(identifier.utf8) + [0x03, flags | UInt8(constructs.count / 3), 0xFF] + constructs
            + [0xFF]
    }

    static let channelRows: [(when: String, message: [UInt8], channels: [String])] = [
        ("pop-on captions in field 1", message([0xFC, 0x94, 0x20]), ["CC1"]),
        ("roll-up of the second channel", message([0xFC, 0x1C, 0x25]), ["CC2"]),
        ("field 2, with the codes of field 1", message([0xFD, 0x94, 0x20]), ["CC3"]),
        ("field 2, second channel", message([0xFD, 0x9D, 0x2F]), ["CC4"]),
        ("both fields", message([0xFC, 0x94, 0x26, 0xFD, 0x15, 0x26]), ["CC1", "CC3"]),
        ("null bytes", message([0xFC, 0x80, 0x80, 0xFD, 0x80, 0x80]), []),
        ("characters, which say no channel", message([0xFC, 0xC1, 0xC2]), []),
        ("text mode", message([0xFC, 0x94, 0x2A]), []),
        ("an encoder that erases an empty display", message([0xFC, 0x94, 0x2C]), []),
        ("wrong parity", message([0xFC, 0x14, 0x20]), []),
        ("not valid", message([0xF8, 0x94, 0x20]), []),
        ("a packet with service 1", message([0xFF, 0x02, 0x21, 0xFE, 0x41, 0x00]), ["SERVICE1"]),
        (
            "a packet with two services", message([0xFF, 0x03, 0x22, 0xFE, 0x41, 0x42, 0xFE, 0x41, 0x00]),
            ["SERVICE1", "SERVICE2"]
        ),
        ("a packet whose rest is in the next picture", message([0xFF, 0x0A, 0x62]), ["SERVICE3"]),
        ("an extended service number", message([0xFF, 0x02, 0xE1, 0xFE, 0x3F, 0x41]), ["SERVICE63"]),
        ("a null service block", message([0xFF, 0x02, 0x00, 0xFE, 0x00, 0x00]), []),
        ("a service block without bytes", message([0xFF, 0x02, 0x20, 0xFE, 0x00, 0x00]), []),
        ("both standards", message([0xFC, 0x94, 0x20, 0xFF, 0x02, 0x21, 0xFE, 0x41, 0x00]), ["CC1", "SERVICE1"]),
        ("user data of another kind", message([0xFC, 0x94, 0x20], identifier: "DTG1"), []),
        ("no caption data", message([0xFC, 0x94, 0x20], flags: 0), []),
        ("cut off in a construct", Array(message([0xFC, 0x94, 0x20]).dropLast(2)), []),
        ("cut off in the header", [0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0x41], []),
    ]

    @Test(arguments: channelRows)
    func channelsAreRecognized(when: String, message: [UInt8], channels: [String]) {
        #expect(CaptionData.channels(in: message).instreamIDs == channels, "\(when)")
    }

    static let pictureRows: [(when: String, codec: VideoConfiguration.Codec, units: [[UInt8]])] = [
        ("H.264", .h264, [[0x06] + sei, Sample.slice(2)]),
        ("H.264, after other user data", .h264, [[0x06, 0x04, 0x02, 0xB5, 0x00] + sei, Sample.slice(2)]),
        ("HEVC, before the picture", .hevc, [[0x4E, 0x01] + sei, [0x02, 0x01, 0xD0, 0x22, 0x33]]),
        ("HEVC, after the picture", .hevc, [[0x02, 0x01, 0xD0, 0x22, 0x33], [0x50, 0x01] + sei]),
    ]
    private static let sei: [UInt8] = {
        let data = message([0xFC, 0x94, 0x20])
        return [0x04, UInt8(data.count)] + data + [0x80]
    }()

    @Test(arguments: pictureRows.indices)
    func captionsOfAPictureAreFound(_ index: Int) throws {
        let row = Self.pictureRows[index]
        var builder = TransportStreamBuilder()
        builder.tables([.init(pid: 0x100, type: row.codec == .h264 ? 0x1B : 0x24)])
        builder.pes(pid: 0x100, pts: 0, row.codec == .h264 ? Sample.idr(1) : Self.hevcRefresh())
        let delimiter: [UInt8] = row.codec == .h264 ? Sample.delimiter : [0x46, 0x01, 0x50]
        builder.pes(pid: 0x100, pts: 3600, Sample.stream([delimiter] + row.units))
        let output = try TransportDemuxer.all([builder.cut()])
        #expect(output.video.map(\.captions.instreamIDs) == [[], ["CC1"]], "\(row.when)")
    }

    /// Parameter sets of a real stream, and an IDR.
    private static func hevcRefresh() -> [UInt8] {
        let video = ParameterSyntaxWriter.hevcVideoParameterSet(id: 0)
        let picture = ParameterSyntaxWriter.hevcPictureParameterSet()
        return Sample.stream([video, hevcRows[0].nalUnit, picture, [0x26, 0x01, 0xA0, 0x11, 0x22]])
    }

    @Test func pairsOfCEA608AreRead() {
        let captions = Self.message([0xFC, 0x94, 0x20, 0xFD, 0x80, 0x80, 0xF8, 0x94, 0x2F, 0xFF, 0x02, 0x21])
        let pairs = [CEA608Pair(field: 0, first: 0x94, second: 0x20), CEA608Pair(field: 1, first: 0x80, second: 0x80)]
        let sei = [4, UInt8(captions.count)] + captions + [0x80]
        let rows: [(when: String, codec: VideoConfiguration.Codec, payload: [UInt8])] = [
            ("H.264", .h264, Self.lengthPrefixed([[0x06] + sei, Sample.slice(2)])),
            ("HEVC, after the picture", .hevc, Self.lengthPrefixed([[0x02, 0x01, 0xD0], [0x50, 0x01] + sei])),
            (
                "MPEG-2", .mpeg2,
                [0, 0, 1, 0x00, 0x00, 0x08, 0, 0, 1, 0xB2] + captions.dropFirst(3) + [0, 0, 1, 0x01, 0x22, 0x33]
            ),
        ]
        for row in rows { #expect(CEA608Pair.pairs(of: row.payload[...], codec: row.codec) == pairs, "\(row.when)") }
    }

    private static func lengthPrefixed(_ units: [[UInt8]]) -> [UInt8] {
        units.flatMap { unit -> [UInt8] in [0, 0, UInt8(unit.count >> 8), UInt8(unit.count & 0xFF)] + unit }
    }
}
