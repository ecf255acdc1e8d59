import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Streams that announce no random access point.
@Suite struct AssumedRefreshTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Frames of each segment, four a second: "I" is an IDR picture, "p" no random access point. A segment that
        /// begins with "/" follows a loss, one that begins with "*" has other parameter sets.
        let segments: [String]
        /// First frames of the periods, counted from 0 over all segments.
        let begins: [Int]
        var assumed = 0

        var testDescription: String { when }
    }

    /// A segment of 4 s.
    private static let none = "pppppppppppppppp"

    static let rows = [
        Row(when: "nothing for 8 s", segments: [none, none], begins: []),
        Row(when: "nothing for 20 s", segments: [none, none, none, none, none], begins: [42], assumed: 1),
        Row(when: "an IDR picture after 9 s", segments: [none, none, "ppppIppppppppppp", none], begins: [36]),
        Row(
            when: "an IDR picture less than a second after the wait",
            segments: [none, none, "ppppppppppppIppp", none], begins: [44]),
        Row(
            when: "a loss after the wait: the next period begins at once",
            segments: [none, none, none, none, "/" + none, none], begins: [42, 64], assumed: 2),
        Row(
            when: "another stream has to be waited for again",
            segments: [none, none, none, none, "*" + none, none], begins: [42], assumed: 1),
        Row(
            when: "a stream with random access points begins at these again",
            segments: [none, none, none, none, "IpppIpppIpppIppp", "/" + none, "ppppIppppppppppp"], begins: [42, 100],
            assumed: 1),
    ]

    @Test(arguments: rows)
    func begins(row: Row) {
        var splitter = PeriodSplitter(longestGap: .milliseconds(3999), longestSegment: .milliseconds(4499))
        var (number, parts) = (0, [PeriodPart]())
        for segment in row.segments {
            let packets = segment.filter { "Ip".contains($0) }.map { letter in
                defer { number += 1 }
                return SyntheticPackets.videoPacket(
                    dts: Int64(number) * 22_500, sync: letter == "I" ? .instantaneousRefresh : nil,
                    configuration: segment.hasPrefix("*") ? SyntheticPackets.advertisement : SyntheticPackets.program)
            }
            let boundary: SegmentBoundary = segment.hasPrefix("/") ? .loss : .plain
            parts += splitter.split(packets, from: SyntheticPackets.segment(), boundary: boundary)
        }
        parts += splitter.finish()
        #expect(parts.filter { $0.signal != nil }.map { Int($0.units[0].dts.count / 22_500) } == row.begins)
        #expect(splitter.counts[.assumedRandomAccessPoints] == row.assumed)
    }

    /// Each segment begins with the parameter sets, and says that it is a gradual refresh.
    @Test func segmentsBeginWithParameterSets() throws {
        var splitter = PeriodSplitter(longestGap: .milliseconds(3999), longestSegment: .milliseconds(4499))
        var parts: [PeriodPart] = []
        for number in 0..<6 {
            let packets = SyntheticPackets.videoPackets(16, from: Int64(number) * 360_000, every: 22_500, group: 1000)
                .map { SyntheticPackets.videoPacket(dts: $0.dts?.count ?? 0) }
            parts += splitter.split(packets, from: SyntheticPackets.segment(), boundary: .plain)
        }
        let sets = SyntheticPackets.program.inBandParameterSets + [0, 0, 0, 5, 0x06, 6, 1, 0x84, 0x80]
        #expect(parts.count == 4)
        for part in parts {
            #expect(part.units[0].payload.starts(with: sets))
            #expect(part.units[0].randomAccess?.streamAccessPointType == 4)
            #expect(part.units.dropFirst().allSatisfy { $0.randomAccess == nil })
        }
    }

    /// What is published of intra refresh without its messages decodes to the frames that were sent, once the image was
    /// refreshed. ffmpeg decodes HEVC from any frame; H.264 only from a random access point.
    @Test(arguments: [
        (
            [
                "-c:v", "libx264", "-preset", "veryfast", "-x264-params", "intra-refresh=1:keyint=50:bframes=0",
                "-bsf:v",
                "filter_units=remove_types=6",
            ], isDecodedAnywhere: false
        ),
        (
            [
                "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                "log-level=none:pools=1:frame-threads=1:intra-refresh=1:keyint=50:bframes=0:repeat-headers=1", "-bsf:v",
                "filter_units=remove_types=39",
            ], isDecodedAnywhere: true
        ),
    ])
    func framesAreThoseOfTheInput(video: [String], isDecodedAnywhere: Bool) throws {
        let media = try RandomAccessMedia(video, seconds: 20)
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .milliseconds(2500), wallClock: 0))
        var output: [SplicedSegment] = []
        for (number, bytes) in media.segments(from: 10, count: 50).enumerated() {
            output += try engine.handle(
                .segment(SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: bytes)))
        }
        output += try engine.handle(.ended(.main))
        let fragments = output.flatMap { $0.fragment.header + $0.fragment.payloads.joined() }
        let samples = try MovieFragment.fragments(of: fragments).flatMap { $0.tracks[0].samples }
        // The parameter sets come with frame 50.
        #expect((190...200).contains(samples.count), "\(samples.count)")
        #expect(output.allSatisfy { !$0.isIndependent } && engine.counts[.openSegments] == output.count)
        #expect(engine.counts[.assumedRandomAccessPoints] == 1 && engine.warnings == [.noRandomAccessPoint])
        let first = try #require(output.first)
        let found = try RandomAccessMedia.decoded(first.initSection.bytes + fragments).map(\.hash)
        let range = (isDecodedAnywhere ? 500 - samples.count : 0)..<500
        let expected = try RandomAccessMedia.decoded(media.segment(range)).map(\.hash)
        // A refresh takes 2 s at most.
        #expect(found.count >= 190 && found.suffix(120) == expected.suffix(120), "\(found.count)")
    }
}
