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

    /// Parameter sets of a real stream, and an IDR.
    private static func hevcRefresh() -> [UInt8] {
        let video = ParameterSyntaxWriter.hevcVideoParameterSet(id: 0)
        let picture = ParameterSyntaxWriter.hevcPictureParameterSet()
        return Sample.stream([video, hevcRows[0].nalUnit, picture, [0x26, 0x01, 0xA0, 0x11, 0x22]])
    }
}
