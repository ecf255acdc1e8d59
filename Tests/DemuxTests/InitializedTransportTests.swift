import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// Transport streams whose tables are in EXT-X-MAP sections (RFC 8216 §3.2).
@Suite struct InitializedTransportTests {
    typealias Builder = TransportStreamBuilder
    typealias Sample = ElementarySamples

    private static func audio(_ pid: UInt16, _ language: String) -> Builder.Stream {
        Builder.Stream(pid: pid, type: 0x0F, descriptors: ProgramSelectionTests.language(language, audioType: 0))
    }

    private static func section(_ streams: [Builder.Stream]) -> [UInt8] {
        var builder = Builder()
        builder.tables([TransportRuleTests.video] + streams)
        return builder.cut()
    }

    private static func media(_ pids: [UInt16], _ number: UInt8 = 1, _ write: (inout Builder) -> Void = { _ in })
        -> [UInt8]
    {
        var builder = Builder()
        builder.pes(pid: 0x100, pts: 900_000, Sample.idr(number))
        for pid in pids { builder.pes(pid: pid, streamID: 0xC0, pts: 900_000, Sample.adts(1) + Sample.adts(2)) }
        write(&builder)
        builder.pes(pid: 0x100, pts: 903_600, Sample.plain(number + 1))
        return builder.cut()
    }

    @Test func tablesOfTheSectionApplyToEachSegment() throws {
        let section = Self.section([Self.audio(0x101, "eng"), Self.audio(0x102, "fra")])
        var demuxer = TransportDemuxer(audio: .all)
        for number in 0..<3 {
            try demuxer.initialize(with: section)
            let segment = try demuxer.feed(Self.media([0x101, 0x102], UInt8(number)))
            #expect(segment.audio.count == 2 && segment.audioTrack?.language.text == "en")
            #expect(segment.furtherAudio.map(\.track.language.text) == ["fr"])
            #expect(segment.furtherAudio.map(\.packets.count) == [2])
            #expect(segment.counts == Counts<DemuxCount>() && segment.program?.programNumber == 1)
            if number == 1 { _ = try demuxer.reset() }
        }
    }

    @Test("A segment whose own tables differ is followed by one under those of the section")
    func tablesOfSegmentsAndOfTheSection() throws {
        let section = Self.section([Self.audio(0x101, "eng")])
        var demuxer = TransportDemuxer(audio: .all)
        try demuxer.initialize(with: section)
        let own = Self.section([Self.audio(0x103, "deu")]) + Self.media([0x103])
        #expect(try demuxer.feed(own).audioTrack?.language.text == "de")
        try demuxer.initialize(with: section)
        let segment = try demuxer.feed(Self.media([0x101]))
        #expect(segment.audioTrack?.language.text == "en" && segment.audio.count == 2)
    }

    @Test("Another section takes effect with its segment, and one that is no transport stream has none")
    func otherSections() throws {
        var demuxer = TransportDemuxer(audio: .all)
        try demuxer.initialize(with: Self.section([Self.audio(0x101, "eng")]))
        #expect(try demuxer.feed(Self.media([0x101])).audio.count == 2)
        try demuxer.initialize(with: Self.section([Self.audio(0x102, "fra")]))
        let second = try demuxer.feed(Self.media([0x102]))
        #expect(second.audio.count == 2 && second.audioTrack?.language.text == "fr")
        try demuxer.initialize(with: MovieBuilder.initialization([.init()]))
        #expect(try demuxer.feed(Self.media([0x102])).audio.count == 2)
    }

    @Test func badTablesOfTheSectionAreCounted() throws {
        var builder = Builder()
        builder.tables([TransportRuleTests.video])
        builder.map([TransportRuleTests.video], isIntact: false)
        var demuxer = TransportDemuxer()
        try demuxer.initialize(with: builder.cut())
        #expect(try demuxer.feed(Self.media([])).counts[.badSections] == 1)
        #expect(try demuxer.feed(Self.media([])).counts[.badSections] == 0)
    }
}
