import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Splice

/// Segments of a variant whose video cannot be republished, while another variant can be followed.
@Suite struct ForeignVideoTests {
    private static let aac = MovieBuilder.mp4a([0x11, 0x90])

    private static func fragment(_ name: BoxType, withAudio: Bool) -> (map: [UInt8]?, bytes: [UInt8]) {
        let audio = MovieBuilder.Track(id: 2, timescale: 48_000, handler: "soun", isEnabled: true, entries: [aac])
        let tracks = [MovieBuilder.Track(entries: [(name, [])])] + (withAudio ? [audio] : [])
        let samples = (0..<94).map { MovieBuilder.Sample(duration: 1024, payload: [0x21, UInt8($0), 2]) }
        return (
            MovieBuilder.initialization(tracks),
            MovieBuilder.fragment([MovieBuilder.Traf(id: withAudio ? 2 : 1, runs: [(0x301, samples)])])
        )
    }

    private static func stream(_ type: UInt8) -> [UInt8] {
        var builder = TransportStreamBuilder()
        builder.tables([.init(pid: 0x100, type: type), .init(pid: 0x101, type: 0x0F)])
        for index in 0..<94 {
            builder.pes(pid: 0x101, streamID: 0xC0, pts: Int64(index) * 1920, ElementarySamples.adts(UInt8(index)))
        }
        return builder.cut()
    }

    static let rows: [(when: String, media: (map: [UInt8]?, bytes: [UInt8]), foreign: [String]?)] = [
        ("AV1 beside audio", fragment("av01", withAudio: true), ["av01"]),
        ("VC-1 beside audio in a transport stream", (nil, stream(0xEA)), ["VC-1"]),
        ("a complete multiplex", (nil, EndlessMultiplex(seconds: 2).bytes), nil),
    ]

    @Test(arguments: rows.indices, [true, false]) func foreignVideo(row: Int, isTrial: Bool) throws {
        let row = Self.rows[row]
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .seconds(20), wallClock: 0))
        var input = SegmentInput(
            rendition: .main, mediaSequence: 1, duration: .seconds(2), initialization: row.media.map,
            bytes: row.media.bytes)
        input.isVariantTrial = isTrial
        do throws(MediaError) {
            _ = try engine.handle(.segment(input))
            #expect(row.foreign == nil || !isTrial, "\(row.when): not refused")
        } catch {
            #expect(isTrial && error.reason == .noUsableVideo(streams: row.foreign ?? []), "\(row.when): \(error)")
            #expect(engine.isUnused, "\(row.when)")
        }
    }
}
