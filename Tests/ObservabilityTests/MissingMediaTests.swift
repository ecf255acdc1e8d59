import Channel
import Demux
import Logging
import Splice
import TestSupport
import Testing

@testable import Observability

/// What an operator reads of media that is not published, or not as it seems.
@Suite struct MissingMediaTests {
    private typealias Stream = TransportStreamBuilder.Stream

    private static let ac4 = Stream(pid: 0x102, type: 0x06, descriptors: [0x05, 4] + Array("AC-4".utf8))
    private static let aac = Stream(pid: 0x101, type: 0x0F)
    private static let h264 = Stream(pid: 0x100, type: 0x1B)
    private static let mpeg2 = Stream(pid: 0x103, type: 0x02)
    private static let vc1 = Stream(pid: 0x104, type: 0xEA)

    private static let programs: [(streams: [Stream], warning: String?)] = [
        ([h264, aac], nil),
        ([h264, aac, ac4], "not all audio is published, because AC-4 cannot be republished"),
        ([h264, ac4], "no audio is published, because AC-4 cannot be republished"),
        ([vc1, h264, aac], "not all video is published, because VC-1 cannot be republished"),
        (
            [vc1, aac, ac4],
            "no video is published, because VC-1 cannot be republished; not all audio is published, because AC-4 cannot be "
                + "republished"
        ),
        (
            [mpeg2, aac],
            "browsers and Apple's players show no MPEG-2 video: give /live.ts to televisions, VLC, mpv or Kodi"
        ),
    ]

    @Test(arguments: programs.indices) func programIsWarnedOf(_ row: Int) throws {
        let (streams, warning) = Self.programs[row]
        var builder = TransportStreamBuilder()
        builder.tables(streams)
        var demuxer = TransportDemuxer()
        let program = try #require(try demuxer.feed(builder.cut() + builder.cut()).program)
        let line = ChannelPipeline.Event.programSelected(program, of: .main).logLine(isDuringOutage: false)
        #expect(program.warning == warning && line.level == (warning == nil ? .info : .warning))
    }

    private static let warnings: [(SpliceWarning, says: String)] = [
        (.unsupportedVideo(["av01"]), "No video is published, because av01 in fragmented MP4 cannot be republished"),
        (.unsupportedAudio(["ac-4", "mhm1"]), "because ac-4, mhm1 in fragmented MP4 cannot be republished"),
        (.noRandomAccessPoint, "No random access point has come"),
        (.videoTimedOut, "goes on with its audio alone"),
    ]

    @Test(arguments: warnings.indices) func warningIsLogged(_ row: Int) {
        let (warning, says) = Self.warnings[row]
        let line = ChannelPipeline.Event.warned(warning).logLine(isDuringOutage: true)
        #expect(line.level == .warning && line.text.contains(says), "\(line.text)")
    }
}
