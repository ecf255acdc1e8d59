import Support
import Testing

@testable import Demux
@testable import FuzzEntries
@testable import LiveRing
@testable import Media

/// Seeds only help if they get past the first checks.
@Suite("Written seeds") struct SeedTests {
    @Test(
        "Each audio stream is framed into packets",
        arguments: AudioSeeds.streams.indices.filter { AudioSeeds.streams[$0].isUsable })
    func audioIsFramed(_ number: Int) throws {
        let stream = AudioSeeds.streams[number]
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: .zero, dts: nil)
        buffer.bytes += stream.bytes
        var framer = AudioFramer(pid: 257, framing: stream.framing)
        var counts = Counts<DemuxCount>()
        #expect(try !framer.frame(&buffer, isClosed: true, counts: &counts).isEmpty)
    }

    @Test("Each stream with tables has a program", arguments: TableSeeds.streams.indices)
    func tablesAreRead(_ number: Int) throws {
        var demuxer = TransportDemuxer()
        let segments = try [demuxer.feed(TableSeeds.streams[number]), demuxer.finish()]
        #expect(segments.contains { $0.program != nil || !$0.video.isEmpty || !$0.audio.isEmpty })
    }

    @Test("Each init section is applied, and each fragment has two samples of both tracks")
    func moviesAreRead() throws {
        for bytes in MovieSeeds.movies(nil) {
            let end = MovieEntries.initializationEnd(of: bytes)
            var demuxer = FragmentedMP4Demuxer(tracks: .audio)
            try demuxer.initialize(with: Array(bytes[..<end]))
        }
        for segment in MovieSeeds.segments {
            let boxes = try BoxReader.boxes(in: segment[...])
            var reader = FragmentReader(segment, boxes: boxes, defaults: [:])
            let fragment = try reader.fragment(boxes.require("moof"))
            #expect(fragment.tracks.map(\.samples.count) == [2, 2])
        }
    }

    @Test("Each journal is recovered whole", arguments: JournalSeeds.journals().indices)
    func journalsAreRecovered(_ number: Int) throws {
        let text = JournalSeeds.journals()[number]
        let journal = try #require(try RingJournal.read(Array(text.utf8), path: "ring.m3u8"))
        #expect(!journal.isDamaged)
        #expect(journal.entries.count == number * 3)
    }
}
