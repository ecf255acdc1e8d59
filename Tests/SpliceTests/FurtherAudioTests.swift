import Support
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Audio tracks beside the leading one: what each segment has of them.
@Suite struct FurtherAudioTests {
    /// A second of the leading track, which has audio with the payload 9.
    struct Part: Sendable {
        /// The source's time of its first frame; another than the end of the part before begins a period.
        let start: Int64
        var beginsPeriod = false
        /// The payload of the track's own frames; nil if it has none.
        var own: UInt8?
        var sampleRate: SampleRate = 48_000
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let parts: [Part]
        /// The payloads in each segment in order, without repetitions; 0 stands for silence.
        let payloads: [[UInt8]]
        /// Segments with the track's own audio, and those with the leading audio.
        let counts: (own: Int, leading: Int)

        var testDescription: String { when }
    }

    private static let second: Int64 = 90_000

    static let rows: [Row] = [
        Row(
            when: "its own audio",
            parts: [Part(start: 0, beginsPeriod: true, own: 1), Part(start: second, own: 2)],
            payloads: [[1], [2]], counts: (2, 0)),
        Row(
            when: "an ad without it",
            parts: [
                Part(start: 0, beginsPeriod: true, own: 1), Part(start: 900 * second, beginsPeriod: true),
                Part(start: 901 * second), Part(start: second, beginsPeriod: true, own: 2),
            ], payloads: [[1], [9], [9], [2]], counts: (2, 2)),
        Row(
            when: "it stops inside a period",
            parts: [Part(start: 0, beginsPeriod: true, own: 1), Part(start: second), Part(start: 2 * second, own: 2)],
            payloads: [[1], [0], [2]], counts: (3, 0)),
        Row(
            when: "it begins inside a period that began without it",
            parts: [Part(start: 0, beginsPeriod: true), Part(start: second, own: 2)], payloads: [[9], [2]],
            counts: (1, 1)),
        Row(
            when: "its configuration changes inside a period",
            parts: [
                Part(start: 0, beginsPeriod: true, own: 1), Part(start: second, own: 2, sampleRate: 44_100),
                Part(start: 9 * second, beginsPeriod: true, own: 3, sampleRate: 44_100),
            ], payloads: [[1], [0], [3]], counts: (3, 0)),
    ]

    private static let german = AudioTrackIdentity(language: LanguageTag("de") ?? .unknown)

    private static func packets(_ payload: UInt8, from start: Int64, sampleRate: SampleRate) -> [AudioPacket] {
        let configuration = SyntheticPackets.audioConfiguration(rate: sampleRate)
        let step = configuration.frameDuration.count
        return (0..<(second / step)).map { index in
            AudioPacket(
                pid: 258, configuration: configuration, pts: Ticks(start + index * step).wire, isDamaged: false,
                payload: [payload])
        }
    }

    @Test(arguments: rows)
    func segments(_ row: Row) throws {
        var tracks = FurtherAudioTracks(
            policy: .copy, fillsSilence: true, longestSegment: .seconds(6), byteLimit: 1 << 20, position: .beginning)
        let leadingConfiguration = SyntheticPackets.audioConfiguration()
        var (timeline, written): (PeriodTimeline?, [[UInt8]]) = (nil, [])
        var end = Ticks(18_000)
        for (index, part) in row.parts.enumerated() {
            var demuxed = RenditionDemuxer.Demuxed(
                flushed: DemuxedSegment(), boundary: part.beginsPeriod ? .tagged : .plain, packets: DemuxedSegment(),
                isContinuous: !part.beginsPeriod)
            let own = part.own.map { Self.packets($0, from: part.start, sampleRate: part.sampleRate) } ?? []
            demuxed.packets.furtherAudio = [FurtherAudio(track: Self.german, packets: own)]
            try tracks.append(demuxed, discontinuitySequence: UInt64(index))
            let (start, stop) = (Ticks(part.start), Ticks(part.start + Self.second))
            let span = AudioVideoMatcher.VideoSpan(
                start: start, end: stop, discontinuitySequence: UInt64(index), beginsPeriod: part.beginsPeriod,
                clockStart: part.beginsPeriod ? start : nil)
            if part.beginsPeriod {
                tracks.appendLate(before: span, leading: [])
                let unit = TimedVideo(packet: SyntheticPackets.videoPacket(dts: part.start), dts: start, pts: start)
                timeline = PeriodTimeline(first: unit, at: end)
            }
            let leading = Self.packets(9, from: part.start, sampleRate: 48_000).map {
                TimedAudio(packet: $0, pts: Ticks(wire: $0.pts ?? .zero, near: start))
            }
            tracks.adopt(span, on: try #require(timeline), leading: leading, leadingConfiguration)
            let segment = tracks.write(from: end, to: end + Ticks(Self.second), sequenceNumber: UInt32(index))
            end = end + Ticks(Self.second)
            let payloads = segment.flatMap(\.fragment.payloads).map { $0.count == 1 ? $0[$0.startIndex] : 0 }
            written.append(payloads.reduce(into: []) { if $0.last != $1 { $0.append($1) } })
        }
        #expect(written == row.payloads)
        let counts = try #require(tracks.counts.first?.counts)
        #expect((counts[.segments], counts[.leadingSegments]) == row.counts)
        let position = try #require(tracks.positions.first)
        #expect(abs(position.decodeTime - PeriodTimeline.audioTime(end)) < 700_000, "it ends with its video")
    }

    /// Video waits for a rendition as long as the patience, and not again before it has caught up.
    @Test func lateRenditionIsNotAwaitedAgain() throws {
        var tracks = FurtherAudioTracks(
            policy: .copy, fillsSilence: true, longestSegment: .seconds(6), byteLimit: 1 << 20,
            renditions: [Self.german], patience: .seconds(1), position: .beginning)
        let unit = TimedVideo(packet: SyntheticPackets.videoPacket(dts: 0), dts: .zero, pts: .zero)
        let timeline = PeriodTimeline(first: unit, at: Ticks(18_000))
        let span = { (index: Int64) in
            AudioVideoMatcher.VideoSpan(
                start: Ticks(index * Self.second), end: Ticks((index + 1) * Self.second), discontinuitySequence: 0,
                beginsPeriod: index == 0)
        }
        let isAwaited = tracks.awaitsAudio(for: span(0))
        #expect(isAwaited)
        tracks.adopt(span(0), on: timeline, leading: [], SyntheticPackets.audioConfiguration())
        let isAwaitedAgain = tracks.awaitsAudio(for: span(1))
        #expect(isAwaitedAgain, "a second is within the patience")
        tracks.adopt(span(1), on: timeline, leading: [], SyntheticPackets.audioConfiguration())
        let isAwaitedLater = tracks.awaitsAudio(for: span(2))
        #expect(!isAwaitedLater, "two are not")
        #expect(tracks.positions.isEmpty, "it begins with its first audio")
        try tracks.end(0)
        tracks.adopt(span(2), on: timeline, leading: [], SyntheticPackets.audioConfiguration())
        let isAwaitedAtEnd = tracks.awaitsAudio(for: span(3))
        #expect(!isAwaitedAtEnd, "it has ended")
    }

    @Test func tracksKeepTheirPlaces() throws {
        let languages = ["de", "fr", "es"].compactMap { LanguageTag($0) }
        let known = languages.map {
            AudioTrackPosition(
                identity: AudioTrackIdentity(language: $0), configuration: SyntheticPackets.audioConfiguration(),
                decodeTime: 7)
        }
        var position = TimelinePosition.beginning
        position.audioTracks = known
        var tracks = FurtherAudioTracks(
            policy: .copy, fillsSilence: true, longestSegment: .seconds(6), byteLimit: 1 << 20, position: position)
        var demuxed = RenditionDemuxer.Demuxed(
            flushed: DemuxedSegment(), boundary: .plain, packets: DemuxedSegment(), isContinuous: true)
        let others = (0..<20).map { AudioTrackIdentity(language: .unknown, ordinal: $0) }
        demuxed.packets.furtherAudio = (others + [known[2].identity]).map { FurtherAudio(track: $0, packets: []) }
        try tracks.append(demuxed, discontinuitySequence: 0)
        #expect(tracks.positions == known, "a track without a sample has no position")
        #expect(tracks.counts.count == AudioTrackChoice.limit)
        tracks.resume(at: position)
        #expect(tracks.positions == known)
    }
}
