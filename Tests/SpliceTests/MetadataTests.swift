import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

private let videoPID: UInt16 = 256
private let splicePID: UInt16 = 300
private let tagPID: UInt16 = 301

/// An ID3v2.4 tag with one text frame.
private func id3(_ text: String) -> [UInt8] {
    let frame = Array("TIT2".utf8) + [0, 0, 0, UInt8(text.utf8.count + 1), 0, 0, 3] + Array(text.utf8)
    return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
}

private func multiplex(_ write: (inout TransportStreamBuilder) -> Void) -> [UInt8] {
    var builder = TransportStreamBuilder()
    builder.tables([
        .init(pid: videoPID, type: 0x1B), .init(pid: splicePID, type: 0x86), .init(pid: tagPID, type: 0x15),
        .init(pid: 302, type: 0x06),
    ])
    builder.pes(pid: videoPID, pts: 900_000, [0, 0, 1, 9, 0xF0])
    write(&builder)
    builder.pes(pid: videoPID, pts: 903_600, [0, 0, 1, 9, 0xF0])
    return builder.bytes
}

private let insert = SectionSketch.out(event: 7, at: 990_000).bytes

private typealias Row = (
    when: String, write: @Sendable (inout TransportStreamBuilder) -> Void, times: [Int64?], undecodable: Int,
    badSections: Int
)

private let streamRows: [Row] = [
    ("nothing", { _ in }, [], 0, 0),
    ("a section, at the time of the preceding frame", { $0.sections([insert], pid: splicePID) }, [900_000], 0, 0),
    ("two sections in one packet", { $0.sections([insert, insert], pid: splicePID) }, [900_000, 900_000], 0, 0),
    (
        "a section in two packets",
        {
            $0.sections(
                [SectionSketch(type: 0xFF, command: [UInt8](repeating: 0, count: 300)).bytes], pid: splicePID)
        }, [900_000], 0, 0
    ),
    (
        "a damaged section",
        { builder in
            var damaged = insert
            damaged[10] ^= 1
            builder.sections([damaged], pid: splicePID)
        }, [], 0, 1
    ),
    ("a tag", { $0.pes(pid: tagPID, streamID: 0xBD, pts: 905_000, isBounded: true, id3("a")) }, [905_000], 0, 0),
    (
        "a tag in many packets",
        {
            $0.pes(
                pid: tagPID, streamID: 0xBD, pts: 905_000, isBounded: true,
                id3(String(repeating: "x", count: 100)) + Array(repeating: 0, count: 400))
        },
        [905_000], 0, 0
    ),
    (
        "two unbounded tags",
        {
            $0.pes(pid: tagPID, streamID: 0xBD, pts: 905_000, id3("a"))
            $0.pes(pid: tagPID, streamID: 0xBD, pts: 906_000, id3("b"))
        }, [905_000, 906_000], 0, 0
    ),
    ("a tag without a timestamp", { $0.pes(pid: tagPID, streamID: 0xBD, isBounded: true, id3("a")) }, [nil], 0, 0),
    (
        "payload that is not a tag", { $0.pes(pid: tagPID, streamID: 0xBD, pts: 1, isBounded: true, [1, 2, 3]) }, [], 1,
        0
    ),
    ("another stream", { $0.pes(pid: 302, streamID: 0xBD, pts: 1, isBounded: true, id3("a")) }, [], 0, 0),
]

struct MetadataStreamTests {
    @Test(arguments: streamRows.indices)
    func metadataMuxedWithVideo(_ index: Int) throws {
        let row = streamRows[index]
        var demuxer = TransportDemuxer()
        let segment = try demuxer.feed(multiplex(row.write))
        #expect(segment.metadata.map { $0.time?.count } == row.times, "\(row.when)")
        #expect(segment.counts[.badSections] == row.badSections, "\(row.when)")
        #expect(segment.counts[.undecodableUnits] >= row.undecodable, "\(row.when)")
        #expect(segment.counts[.otherPackets] == (row.when == "another stream" ? 1 : 0), "\(row.when)")
    }

    @Test func companionDuplicatesNoMetadata() throws {
        var demuxer = TransportDemuxer(tracks: .audio)
        var builder = TransportStreamBuilder()
        builder.tables([.init(pid: 257, type: 0x0F), .init(pid: splicePID, type: 0x86)])
        builder.pes(pid: 257, streamID: 0xC0, pts: 900_000, [0xFF])
        builder.sections([insert], pid: splicePID)
        #expect(try demuxer.feed(builder.bytes).metadata.isEmpty)
    }

    @Test func lostPacketCostsItsTag() throws {
        var demuxer = TransportDemuxer()
        let segment = try demuxer.feed(
            multiplex { builder in
                let tag = TransportStreamBuilder.pesPacket(
                    streamID: 0xBD, pts: 905_000, isBounded: true,
                    id3(String(repeating: "x", count: 100)) + Array(repeating: 0, count: 400))
                builder.packets(pid: tagPID, Array(tag[..<184]))
                builder.skip(1, pid: tagPID)
                builder.packets(pid: tagPID, startsUnit: false, Array(tag[368...]))
                builder.pes(pid: tagPID, streamID: 0xBD, pts: 906_000, isBounded: true, id3("b"))
            })
        #expect(segment.metadata.map(\.time) == [Ticks(906_000)])
        #expect(segment.counts[.undecodableUnits] > 0)
    }
}

/// Markers on the timeline: 4 s segments whose clock begins at 900 000, published from 18 000 on.
struct PendingMarkersTests {
    private func part(
        _ start: Int64, sequence: UInt64 = 0, date: Int64? = nil, _ metadata: [TimedMetadata] = []
    ) -> [PeriodPart] {
        var finder = PeriodSplitter()
        var parts = finder.split(
            SyntheticPackets.videoPackets(100, from: start), from: SyntheticPackets.segment(sequence, date: date),
            boundary: .plain)
        #expect(parts.attach(metadata) == 0)
        return parts
    }

    private func timeline(_ part: PeriodPart) -> PeriodTimeline {
        PeriodTimeline(first: part.units[0], at: Ticks(18_000))
    }

    @Test func messagesAreHeldUntilTheirTime() {
        let tags: [(Int64, String)] = [(908_000, "b"), (900_000, "a"), (1_350_000, "d"), (890_000, "early")]
        let part = part(900_000, tags.map { TimedMetadata(.id3(id3($0.1)), at: Ticks($0.0)) })[0]
        var markers = PendingMarkers()
        markers.append(part, on: timeline(part))
        let first = markers.messages.dequeue(before: Ticks(378_000))
        #expect(first.map(\.time.count) == [8_000, 18_000, 26_000])
        #expect(first.map(\.message.data) == ["early", "a", "b"].map(id3))
        #expect(markers.messages.dequeue(before: Ticks(378_000)).isEmpty)
        #expect(markers.messages.dequeue(before: Ticks(738_000)).map(\.time.count) == [468_000])
        #expect(markers.messages.counts[.eventMessages] == 4 && markers.messages.counts[.discardedTimedMetadata] == 0)
    }

    /// Subtitles sent ahead of their time would stand in the next period.
    @Test func privateDataEndsWithItsPeriod() {
        let stream = PrivateDataStream(descriptor: [0x59, 1, 0])
        let times: [Int64] = [905_000, 904_000, 1_350_000]
        let part = part(900_000, times.map { TimedMetadata(.privateData(stream, [UInt8($0 & 0xFF)]), at: Ticks($0)) })[
            0]
        var markers = PendingMarkers()
        markers.append(part, on: timeline(part))
        let first = markers.privateData.dequeue(before: Ticks(378_000))
        #expect(
            first.map(\.time.count) == [22_000, 23_000] && markers.messages.dequeue(before: Ticks(1 << 40)).isEmpty)
        markers.beginPeriod()
        #expect(markers.privateData.dequeue(before: Ticks(1 << 40)).isEmpty)
        #expect(markers.counts[.privateDataPackets] == 2 && markers.counts[.discardedTimedMetadata] == 1)
    }

    @Test func numberOfHeldMessagesIsBounded() {
        let tags = (0..<1100).map { TimedMetadata(.id3(id3("x")), at: Ticks(9_000_000 + Int64($0))) }
        let part = part(900_000, tags)[0]
        var markers = PendingMarkers()
        markers.append(part, on: timeline(part))
        #expect(markers.messages.counts[.discardedTimedMetadata] == 1100 - PendingMessages.limit)
        #expect(markers.messages.dequeue(before: Ticks(1 << 40)).count == PendingMessages.limit)
    }

    @Test func bytesOfHeldMessagesAreBounded() {
        var messages = PendingMessages()
        let large = [UInt8](repeating: 0, count: 1 << 20)
        for time in [5, 4, 3, 2, 1].map({ Ticks($0) }) {
            let isNew = messages.add(PlacedMessage(message: .id3(large), time: time))
            #expect(isNew)
        }
        #expect(messages.counts[.discardedTimedMetadata] == 2, "a message is slightly larger than its data")
        messages.discard(before: Ticks(2))
        #expect(messages.counts[.discardedTimedMetadata] == 3)
        #expect(messages.dequeue(before: Ticks(3)).map(\.time.count) == [2])
        messages.discard()
        #expect(
            messages.counts[.eventMessages] == 1 && messages.counts[.discardedTimedMetadata] == 4
                && messages.dequeue(before: Ticks(10)).isEmpty)
    }

    @Test func segmentsAndSplicesHaveDates() throws {
        let splices = [990_000 as Int64, nil].map { SectionSketch.out(event: 7, at: $0).bytes }
        let metadata = try splices.map { TimedMetadata(.splice(try SpliceInfoSection($0)), at: Ticks(945_000)) }
        let part = part(900_000, sequence: 41, date: 7_000, metadata)[0]
        var markers = PendingMarkers()
        markers.append(part, on: timeline(part))
        var dates = ProgramDateTimeClock(wallClock: 0)
        dates.beginPeriod(at: Ticks(18_000))
        dates.record(8_000, at: Ticks(18_000))
        #expect(
            markers.dequeuePlacements(before: Ticks(378_000), dates: dates)
                == [SegmentPlacement(mediaSequence: 41, date: 8_000, upstreamDate: 7_000)])
        #expect(
            markers.dequeueSpliceCommands(before: Ticks(60_000), dates: dates).isEmpty,
            "the command is half a second into the segment")
        #expect(markers.dequeueSpliceCommands(before: Ticks(378_000), dates: dates).map(\.date) == [9_000, 8_500])
    }

    /// Only a receiver with the key knows the times in it, and they are on the upstream's clock.
    @Test func encryptedCommandsMoveWithTheirMedia() throws {
        let sketch = SectionSketch(isEncrypted: true, adjustment: 5, type: 5, command: [0xFF])
        let part = part(
            900_000, [TimedMetadata(.splice(try SpliceInfoSection(sketch.bytes)), at: Ticks(945_000))])[0]
        var markers = PendingMarkers()
        markers.append(part, on: timeline(part))
        let placed = markers.dequeueSpliceCommands(
            before: Ticks(378_000), dates: ProgramDateTimeClock(wallClock: 0))
        #expect(placed.map(\.information.ptsAdjustment) == [Ticks(18_005 - 900_000).wire])
    }

    @Test func eachPartGetsTheMetadataOnItsClock() {
        var finder = PeriodSplitter()
        var parts = finder.split(
            SyntheticPackets.videoPackets(50, from: 900_000)
                + SyntheticPackets.videoPackets(50, from: 126_000, configuration: SyntheticPackets.advertisement),
            from: SyntheticPackets.segment(), boundary: .plain)
        let times: [Int64?] = [126_000, 1_000_000, nil, 1_100_000, 300_000]
        #expect(parts.attach(times.map { TimedMetadata(.id3([]), at: $0.map { Ticks($0) }) }) == 0)
        #expect(
            parts.map { $0.metadata.map { $0.time?.count } } == [[1_000_000, nil, 1_100_000], [126_000, 300_000]])
        #expect(parts.map(\.opensSegment) == [true, false])
        var none: [PeriodPart] = []
        #expect(none.attach([TimedMetadata(.id3([]), at: nil)]) == 1)
    }

    /// The bytes of an emsg box (ISO/IEC 23009-1 §5.10.3.3).
    @Test func emsgBoxBytes() throws {
        let message = EventMessage(scheme: "urn:a", value: "v", duration: Ticks(90_000), number: 5, data: [1, 2])
        var writer = BoxWriter()
        PlacedMessage(message: message, time: Ticks(0x1_0000_0002)).write(to: &writer)
        #expect(
            writer.bytes
                == bytes("0000002A 656D7367 01000000 00015F90 0000000100000002 00015F90 00000005")
                + Array("urn:a".utf8) + [0] + Array("v".utf8) + [0, 1, 2])
        let boxes = (0..<2).map { _ in
            var writer = BoxWriter()
            PlacedMessage(message: .id3([1]), time: Ticks(5)).write(to: &writer)
            return writer.bytes
        }
        #expect(boxes[0] == boxes[1] && boxes[0][24..<28].elementsEqual([255, 255, 255, 255] as [UInt8]))
    }
}
