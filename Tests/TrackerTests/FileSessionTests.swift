import Playlist
import Testing

@testable import Demux
@testable import Fetch
@testable import Media
@testable import MediaTestSupport
@testable import Support
@testable import Tracker

/// A session whose upstream turns out to be a media file.
@Suite struct FileSessionTests {
    /// An origin of one file.
    struct Origin: Sendable {
        enum Kind: Sendable {
            case ranges
            /// The whole file to every request.
            case whole
            /// As `whole`, though it says that it has ranges.
            case falseRanges
            /// A transport stream that has a length and no end.
            case stream
            /// The whole file, without its size.
            case withoutSize
        }

        static let url = "http://origin.example/movie"
        let file: [UInt8]
        var kind = Kind.ranges
        /// Requests that are answered with 503.
        var failures: Set<Int> = []

        func respond(_ request: FetchRequest, _ number: Int) -> ReplayDriver.Response {
            let latency = Duration.milliseconds(20)
            if failures.contains(number) {
                return .init(end: (.success(FetchAnswer(status: 503, finalURL: Self.url, body: [1])), latency))
            }
            var headers = [FetchAnswer.Header(name: "Content-Length", value: "\(file.count)")]
            if kind == .withoutSize { headers = [] }
            if kind != .whole { headers.append(.init(name: "Accept-Ranges", value: "bytes")) }
            // What is read forward is answered as by an origin with ranges.
            guard let range = request.byteRange?.range, kind == .ranges || request.wholeByteCount != nil else {
                if request.acceptsFile, FetchAnswer.isMediaFile(file, headers: headers) {
                    let body = Array(file.prefix(2048))
                    return .init(
                        end: (
                            .success(FetchAnswer(status: 200, finalURL: Self.url, headers: headers, body: body)),
                            latency
                        ))
                }
                if request.acceptsStream, StreamPart.isStream(file) {
                    let part = StreamPart(finalURL: Self.url, bytes: file)
                    return .init(parts: [(latency, { @Sendable in part })], end: nil)
                }
                return .init(end: (.failure(FetchError(.tooLarge, url: Self.url)), latency))
            }
            let part = range.lowerBound..<min(range.upperBound, UInt64(file.count))
            let answer = FetchAnswer(
                status: 206, finalURL: Self.url,
                headers: [
                    .init(
                        name: "Content-Range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.count)")
                ], body: Array(file[part]))
            return .init(end: (.success(answer), latency))
        }
    }

    /// What a session asked for and delivered.
    struct Run {
        var requests: [FetchRequest] = []
        var segments: [(segment: TrackedSegment, at: Duration)] = []
        var losses = 0
        var end: SessionEnd?
        var isStream = false

        init(_ origin: Origin, seconds: Int = 60, _ change: (inout UpstreamSession.Policy) -> Void = { _ in })
            async throws
        {
            var policy = UpstreamSession.Policy(variant: .highest)
            change(&policy)
            var driver = ReplayDriver(session: UpstreamSession(upstream: Origin.url, policy: policy))
            var (requests, segments, losses, isStream) = (
                [FetchRequest](), [(segment: TrackedSegment, at: Duration)](), 0, false
            )
            end = try await driver.run(
                until: .seconds(seconds),
                respond: { request, _ in
                    requests.append(request)
                    return origin.respond(request, requests.count)
                },
                perform: { output, now in
                    switch output {
                    case .delivery(let delivery):
                        if case .segment(let segment) = delivery.content { segments.append((segment, now)) }
                        if case .lost = delivery.content { losses += 1 }
                    case .status(let status): isStream = isStream || status.stream != nil
                    case .event, .probe: break
                    }
                    return .published
                })
            (self.requests, self.segments, self.losses, self.isStream) = (requests, segments, losses, isStream)
        }

        /// The video frames, by their bytes.
        func frames() throws -> [[UInt8]] {
            var demuxer: any SegmentDemuxer =
                segments.first?.segment.map == nil ? TransportDemuxer() : FragmentedMP4Demuxer()
            var frames: [[UInt8]] = []
            for (segment, _) in segments {
                if segment.segment.isDiscontinuous { frames += try demuxer.reset().video.map { Array($0.payload) } }
                if let map = segment.map { try demuxer.initialize(with: map) }
                let ranges = segment.segment.byteRange.flatMap(\.range).map { [$0] } ?? []
                frames += try demuxer.feed(segment.body, of: ranges).video.map { Array($0.payload) }
            }
            return frames + (try demuxer.finish().video.map { Array($0.payload) })
        }
    }

    private static func file(_ output: [String] = [], seconds: String = "12") throws -> [UInt8] {
        try FileMedia.make(seconds: seconds, output: output)
    }

    /// The frames of a file, read at once.
    private static func frames(of file: [UInt8]) throws -> [[UInt8]] {
        let run = try FileRun(file)
        return run.frames
    }

    private struct FileRun {
        let frames: [[UInt8]]
        init(_ file: [UInt8]) throws {
            let count = UInt64(file.count)
            var index = try MediaFileIndex(
                beginning: Array(file.prefix(Int(MediaFileIndex.windowBytes))), byteCount: count,
                FileCutting(maxBytes: 32 << 20))
            while let range = index.neededRange { try index.append(Array(file[range])) }
            var demuxer: any SegmentDemuxer =
                index.initialization == nil ? TransportDemuxer() : FragmentedMP4Demuxer()
            var packets: [VideoPacket] = []
            for segment in index.segments {
                if let map = index.initialization { try demuxer.initialize(with: map.bytes) }
                packets += try demuxer.feed(Array(file[segment.range]), of: [segment.range]).video
            }
            packets += try demuxer.finish().video
            frames = packets.map { Array($0.payload) }
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var output: [String] = []
        /// Requests, but for those of segments.
        var others: Int
        var kind = Origin.Kind.ranges
        var failures: Set<Int> = []
        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "moov last", others: 2),
        Row(when: "moov first", output: ["-movflags", "+faststart"], others: 2),
        Row(
            when: "fragments with an index",
            output: ["-movflags", "+frag_keyframe+empty_moov+default_base_moof+global_sidx"], others: 2),
        Row(when: "fragments", output: ["-movflags", "+frag_keyframe+empty_moov"], others: 2),
        Row(when: "transport stream", output: ["-f", "mpegts"], others: 2),
        Row(when: "answers that fail once", others: 8, failures: [1, 3, 5]),
        Row(when: "no ranges, moov first", output: ["-movflags", "+faststart"], others: 3, kind: .whole),
        Row(when: "no ranges, and moov not far away", others: 3, kind: .whole),
        Row(when: "ranges that are not there", others: 3, kind: .falseRanges),
        Row(
            when: "no ranges, fragments with an index",
            output: ["-movflags", "+frag_keyframe+empty_moov+default_base_moof+global_sidx"], others: 3, kind: .whole),
        Row(
            when: "no ranges, fragments", output: ["-movflags", "+frag_keyframe+empty_moov"], others: 3, kind: .whole),
    ]

    @Test(arguments: rows) func finishedFileIsAVOD(_ row: Row) async throws {
        let file = try Self.file(row.output)
        let run = try await Run(Origin(file: file, kind: row.kind, failures: row.failures))
        #expect(run.end == .drained && run.losses == 0)
        #expect(try run.frames() == Self.frames(of: file))
        #expect(run.requests.count { $0.byteRange == nil } == 1 || !row.failures.isEmpty)
        #expect(run.requests.dropFirst(2).allSatisfy { ($0.wholeByteCount != nil) == (row.kind != .ranges) })
        // The index is in the first part of so small a file, or one more part has it. No map is requested again.
        #expect(run.requests.count - run.segments.count <= row.others + 2, "\(run.requests.map(\.byteRange))")
        #expect(!run.segments.contains { $0.segment.segment.isDiscontinuous })
    }

    /// Puts a box of 17 MiB before the media, as much as a window that is read forward does not have.
    private static func withDistantIndex(_ file: [UInt8]) -> [UInt8] {
        let size = 17 << 20
        return Array(file.prefix(32)) + [1, 0x10, 0, 0] + Array("free".utf8) + [UInt8](repeating: 0, count: size - 8)
            + file.dropFirst(32)
    }

    @Test func originWithoutRangesThatCannotBeReadForwardIsRefused() async throws {
        let file = try Self.file()
        #expect(file.prefix(8).elementsEqual([0, 0, 0, 32] + Array("ftyp".utf8)))
        let unknown = try await Run(Origin(file: file, kind: .withoutSize))
        #expect(unknown.end == .failed(TrackerError(.noByteRanges, url: Origin.url)) && unknown.requests.count == 2)
        let distant = try await Run(Origin(file: Self.withDistantIndex(file), kind: .whole))
        #expect(distant.end == .failed(TrackerError(.unusableFile(.movie(.movieAfterMedia)), url: Origin.url)))
        #expect(distant.requests.count == 3 && distant.segments.isEmpty)
    }

    @Test(arguments: [Origin.Kind.whole, .stream]) func transportStreamWithoutRangesIsAStream(_ kind: Origin.Kind)
        async throws
    {
        let run = try await Run(Origin(file: try Self.file(["-f", "mpegts"]), kind: kind), seconds: 20)
        #expect(run.isStream && !run.segments.isEmpty)
    }

    @Test func brokenFileIsRefusedWithItsReason() async throws {
        let file = Array(try Self.file().dropLast(20))
        let run = try await Run(Origin(file: file))
        #expect(run.end == .failed(TrackerError(.unusableFile(.movie(.noMovie)), url: Origin.url)))
    }

    static let loops: [(output: [String], kind: Origin.Kind)] = [
        ([], .ranges), (["-movflags", "+frag_keyframe+empty_moov"], .ranges), (["-f", "mpegts"], .ranges), ([], .whole),
    ]

    @Test(arguments: loops.indices) func loopedFileIsALiveChannel(_ index: Int) async throws {
        let (output, kind) = Self.loops[index]
        let file = try Self.file(output, seconds: "10")
        let run = try await Run(Origin(file: file, kind: kind), seconds: 40) { $0.loopsFiles = true }
        #expect(run.end == nil && run.losses == 0)
        let (frames, once) = (try run.frames(), try Self.frames(of: file))
        #expect(frames.count > 3 * once.count)
        #expect(frames == (0..<frames.count).map { once[$0 % once.count] })
        let numbers = run.segments.map(\.segment.segment.mediaSequence)
        #expect(numbers == Array(numbers[0]..<numbers[0] + UInt64(numbers.count)))
        // No more than three target durations, or eight seconds, before their time.
        var media = Duration.zero
        for (segment, at) in run.segments {
            #expect(media <= at + .seconds(13))
            media += segment.segment.duration
        }
    }

    @Test func backupIsPacedAndEnds() async throws {
        let file = try Self.file(seconds: "30")
        let run = try await Run(Origin(file: file)) { $0.pacesFiles = true }
        #expect(run.end == .drained && run.losses == 0)
        #expect(try run.frames().count == Self.frames(of: file).count)
        #expect(run.segments.last.map { $0.at > .seconds(15) } == true)
    }

    @Test func fileTooShortToLoopIsRefused() async throws {
        let file = try FileMedia.make(seconds: "0.48")
        let run = try await Run(Origin(file: file)) { $0.loopsFiles = true }
        guard case .failed(let error) = run.end, case .unusableFile = error.reason else {
            Issue.record("\(String(describing: run.end))")
            return
        }
    }
}
