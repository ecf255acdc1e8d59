import ChannelTestSupport
import Playlist
import TestSupport
import Testing

@testable import Channel
@testable import Demux
@testable import Media
@testable import Splice
@testable import Support

/// A capture whose event messages are numbered by their frames, parsed by the offsets of ISO/IEC 23009-1 §5.10.3.3.
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

    /// Returns the presentation times of a segment's frames, in order.
    private func presentationTimes(in segment: [UInt8]) throws -> [Int64] {
        let video = try #require(try MovieFragment.fragments(of: segment).flatMap(\.tracks).first)
        var decode = Int64(try #require(video.decodeTime))
        return video.samples.map { sample in
            defer { decode += Int64(sample.duration) }
            return decode + Int64(sample.compositionOffset)
        }.sorted()
    }

    /// Returns the index in shown.txt of the frame that a message is numbered by.
    private func frameIndex(of number: Int) -> Int {
        let (program, frame) = (number / 10_000, number % 10_000)
        return program == 2 ? 75 + frame : frame < 125 ? frame : frame - 125 + 75 + 60
    }

    @Test func everyMessageIsAtItsFrameOnce() async throws {
        let published = try await ReplayCache.shared.result(of: CaptureFixture("event_messages"))
        let times = try published.segments.flatMap { try presentationTimes(in: $0.bytes) }
        let found = published.segments.flatMap { messages(in: $0.bytes) }
        #expect(times.count == 185)
        #expect(
            found.map(\.number) == [10_030, 10_060, 10_075, 20_010, 20_040, 20_059, 10_125, 10_140, 10_174])
        for message in found {
            #expect(abs(message.time - times[frameIndex(of: message.number)]) <= 1, "\(message.number)")
        }
        for segment in published.segments {
            let times = try presentationTimes(in: segment.bytes)
            for message in messages(in: segment.bytes) {
                #expect(message.time >= times[0] - 1 && message.time <= (times.last ?? 0) + 1, "\(segment.name)")
            }
        }
        let own = found.filter { $0.scheme == "urn:example:tracking" }
        #expect(own.map { String(decoding: $0.data, as: UTF8.self) } == ["first", "half", "last"])
        #expect(own.allSatisfy { $0.duration == 45_045 })
        #expect(found.filter { $0.scheme == EventMessage.id3Scheme }.allSatisfy { $0.duration == 0xFFFF_FFFF })
        let counts = published.status.adMarkers.splice
        #expect(counts[.eventMessages] == 9 && counts[.duplicateEventMessages] == 4)
        #expect(counts[.discardedTimedMetadata] == 0)
    }

    /// As with splice commands of a transport stream, the range is listed when it is announced and dated at the splice.
    @Test func adBreakIsDateRange() async throws {
        let published = try await ReplayCache.shared.result(of: CaptureFixture("event_messages"))
        let playlist = try MediaPlaylistParser.parse(Array(published.dvrPlaylist.utf8))
        let discontinuities = playlist.segments.filter(\.isDiscontinuous)
        let ranges = playlist.segments.flatMap(\.dateRanges)
        let (first, last) = (try #require(ranges.first), try #require(ranges.last))
        #expect(playlist.segments.first?.dateRanges.count == 1, "listed three seconds before the break")
        #expect(ranges.allSatisfy { $0.id == first.id } && first.startDate == discontinuities.first?.programDateTime)
        #expect(first.plannedDuration == .milliseconds(2002) && first[splice: .out] != nil && first.end == nil)
        let end = try #require(last.end?.millisecondsSince1970)
        let resumption = try #require(discontinuities.last?.programDateTime?.millisecondsSince1970)
        #expect(abs(end - resumption) <= 1 && last[splice: .in] != nil)
    }
}
