import Playlist
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Splice
@testable import liverelay

/// The capture whose messages are numbered by their pictures, taken apart by the offsets of ISO/IEC 23009-1 §5.10.3.3.
@Suite struct EventMessageReplayTests {
    private struct Message {
        let time: Int64
        let duration: UInt64
        let number: Int
        let scheme: String
        let data: [UInt8]
    }

    private func messages(in segment: [UInt8]) -> [Message] {
        var (found, offset) = ([Message](), 0)
        func number(_ at: Int, _ count: Int) -> UInt64 { segment[at..<at + count].reduce(0) { $0 << 8 | UInt64($1) } }
        while offset + 8 <= segment.count {
            let size = Int(number(offset, 4))
            if segment[offset + 4..<offset + 8].elementsEqual("emsg".utf8), segment[offset + 8] == 1 {
                #expect(number(offset + 12, 4) == 90_000)
                let texts = segment[offset + 32..<offset + size].split(
                    separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
                found.append(
                    Message(
                        time: Int64(number(offset + 16, 8)), duration: number(offset + 24, 4),
                        number: Int(number(offset + 28, 4)), scheme: String(decoding: texts[0], as: UTF8.self),
                        data: Array(texts[2])))
            }
            offset += max(size, 8)
        }
        return found
    }

    /// In the order of presentation.
    private func shown(in segment: [UInt8]) throws -> [Int64] {
        let video = try #require(try MovieFragment.fragments(of: segment).flatMap(\.tracks).first)
        var decode = Int64(try #require(video.decodeTime))
        return video.samples.map { sample in
            defer { decode += Int64(sample.duration) }
            return decode + Int64(sample.compositionOffset)
        }.sorted()
    }

    /// `number` in shown.txt: how many pictures come before it.
    private func place(of number: Int) -> Int {
        let (programme, picture) = (number / 10_000, number % 10_000)
        return programme == 2 ? 75 + picture : picture < 125 ? picture : picture - 125 + 75 + 60
    }

    @Test func everyMessageIsAtItsPictureAndThereOnce() async throws {
        let published = try await Replays.shared.of(CaptureFixture("event_messages"))
        let pictures = try published.segments.flatMap { try shown(in: $0.bytes) }
        let found = published.segments.flatMap { messages(in: $0.bytes) }
        #expect(pictures.count == 185)
        #expect(
            found.map(\.number) == [10_030, 10_060, 10_075, 20_010, 20_040, 20_059, 10_125, 10_140, 10_174])
        for message in found {
            #expect(abs(message.time - pictures[place(of: message.number)]) <= 1, "\(message.number)")
        }
        for segment in published.segments {
            let times = try shown(in: segment.bytes)
            for message in messages(in: segment.bytes) {
                #expect(message.time >= times[0] - 1 && message.time <= (times.last ?? 0) + 1, "\(segment.name)")
            }
        }
        let own = found.filter { $0.scheme == "urn:example:tracking" }
        #expect(own.map { String(decoding: $0.data, as: UTF8.self) } == ["first", "half", "last"])
        #expect(own.allSatisfy { $0.duration == 45_045 })
        #expect(found.filter { $0.scheme == EventMessage.id3Scheme }.allSatisfy { $0.duration == 0xFFFF_FFFF })
        let marks = published.status.adMarkers
        #expect(marks.eventMessages == 9 && marks.duplicateEventMessages == 4 && marks.discardedTimedMetadata == 0)
    }

    /// As splice commands of a transport stream are: told when announced, dated at the splice.
    @Test func theBreakIsADateRange() async throws {
        let published = try await Replays.shared.of(CaptureFixture("event_messages"))
        let list = try MediaPlaylistParser.parse(Array(published.whole.utf8))
        let seams = list.segments.filter(\.isDiscontinuous)
        let ranges = list.segments.flatMap(\.dateRanges)
        let (first, last) = (try #require(ranges.first), try #require(ranges.last))
        #expect(list.segments.first?.dateRanges.count == 1, "three seconds ahead")
        #expect(ranges.allSatisfy { $0.id == first.id } && first.startDate == seams.first?.programDateTime)
        #expect(first.plannedDuration == .milliseconds(2002) && first[splice: .out] != nil && first.end == nil)
        let end = try #require(last.end?.millisecondsSince1970)
        let back = try #require(seams.last?.programDateTime?.millisecondsSince1970)
        #expect(abs(end - back) <= 1 && last[splice: .in] != nil)
    }
}
