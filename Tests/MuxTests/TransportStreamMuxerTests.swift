import TestSupport
import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// Synthetic media as a transport stream.
@Suite struct TransportStreamMuxerTests {
    private static let aac = AudioConfiguration(
        codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024, decoderSpecificInfo: [0x11, 0x90])
    private static let program = TransportProgram(video: .h264, audio: .aac)

    private static func segment(_ media: TransportMedia, audioChanges: Int = 0) -> TransportSegment {
        var buffer: [UInt8] = [1, 2, 3]
        return TransportStreamMuxer(program, audioChanges: audioChanges).segment(media, in: &buffer)
    }

    /// Media of whole GOPs: 25 frames a second with random sizes, and AAC.
    private static func media(
        from start: Int64, gops: Int, framesPerGOP: Int, seed: UInt64, step: Int64 = 3600,
        videoSizes: ClosedRange<Int> = 1...3000, audioSizes: ClosedRange<Int> = 1...400
    ) -> TransportMedia {
        var random = SeededGenerator(seed: seed)
        let count = gops * framesPerGOP
        let delay: Int64 = 18_000
        let samples = (0..<count).map { index in
            let size = Int.random(in: videoSizes, using: &random)
            let unit = [UInt8](repeating: index % framesPerGOP == 0 ? 0x65 : 0x41, count: size)
            return TransportMedia.VideoSample(
                decodeTime: Ticks(start + Int64(index) * step),
                presentationTime: Ticks(start + Int64(index) * step + delay),
                isRandomAccessPoint: index % framesPerGOP == 0,
                payload: [0, 0, UInt8(size >> 8), UInt8(size & 0xFF)] + unit)
        }
        let end = start + Int64(count) * step
        let audio = stride(from: start + delay, to: end + delay, by: 1920).map { time in
            TransportMedia.AudioFrame(
                time: Ticks(time),
                payload: [UInt8](repeating: 7, count: Int.random(in: audioSizes, using: &random))[...])
        }
        var media = TransportMedia(decoding: Ticks(start)..<Ticks(end), presentationStart: Ticks(start + delay))
        (media.video, media.audio, media.audioConfiguration) = (samples, audio, aac)
        return media
    }

    struct Shape: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var gops = 4
        var framesPerGOP = 50
        var step: Int64 = 3600
        var start: Int64 = 0
        let chunks: Int
    }

    static let shapes = [
        Shape(testDescription: "GOPs of two seconds", chunks: 4),
        Shape(testDescription: "one GOP of 8 s", gops: 1, framesPerGOP: 200, chunks: 1),
        Shape(testDescription: "GOPs of half a second share chunks", gops: 8, framesPerGOP: 13, chunks: 4),
        Shape(testDescription: "every frame is a random access point", gops: 100, framesPerGOP: 1, chunks: 4),
        Shape(testDescription: "24000/1001 frames a second", framesPerGOP: 48, step: 3754, chunks: 4),
        Shape(testDescription: "one frame a second", gops: 4, framesPerGOP: 2, step: 90_000, chunks: 4),
        Shape(testDescription: "50 frames a second", framesPerGOP: 100, step: 1800, chunks: 4),
        Shape(testDescription: "the clock wraps in the segment", start: 1 << 33 - 200_000, chunks: 4),
        Shape(testDescription: "PCR wraps at the channel's beginning", start: 40_000, chunks: 4),
    ]

    @Test(arguments: shapes) func packetsFollowTheRules(_ shape: Shape) throws {
        let media = Self.media(
            from: shape.start, gops: shape.gops, framesPerGOP: shape.framesPerGOP, seed: 1, step: shape.step)
        let segment = Self.segment(media)
        let scan = try #require(TransportStreamScan(segment.bytes))
        #expect(scan.faults(clockPID: 0x100) == [])
        for pid in [0x100, 0x101] { #expect(scan.margins(of: pid).allSatisfy { $0 > 0 && $0 < 90_000 }) }
        #expect(segment.chunks.count == shape.chunks)
        #expect(segment.chunks.reduce(0) { $0 + $1.randomAccessPoints } == shape.gops)
        let units = scan.packetizedElements(of: 0x100)
        #expect(units.map(\.pts) == media.video.map(\.presentationTime.wire.count))
        for unit in units where unit.randomAccess {
            #expect(scan.packets[unit.packet - 1].pid == 0x1000 && scan.packets[unit.packet - 2].pid == 0)
            #expect(unit.payload.starts(with: [0, 0, 0, 1, 9, 0xF0, 0, 0, 0, 1, 0x65]))
        }
    }

    /// A file begins with the second segment, or ends before it.
    @Test(arguments: [0, 1, 1920, 1921, 7200, 100_000] as [Int64]) func earlyAudioIsApart(by lead: Int64) throws {
        let first = Self.media(from: 0, gops: 1, framesPerGOP: 50, seed: 1)
        var second = Self.media(from: 180_000, gops: 1, framesPerGOP: 50, seed: 2)
        second.audio = second.audio.map { .init(time: $0.time - Ticks(lead), payload: $0.payload) }
        let start = second.presentationStart
        let rest = second.withoutEarlyAudio
        #expect(rest.audio.map(\.time) == second.audio.map(\.time).filter { $0 + Ticks(1920) > start })
        #expect(rest.video.count == second.video.count)
        guard let early = second.earlyAudio else {
            #expect(lead == 0)
            return
        }
        #expect(early.audio.map(\.time) == second.audio.map(\.time).filter { $0 < start } && early.video.isEmpty)
        let muxer = TransportStreamMuxer(Self.program, audioChanges: 0)
        let segment = Self.segment(early)
        #expect(muxer.extent(of: early)?.byteCount == segment.bytes.count && segment.chunks.count == 1)
        let scan = try #require(TransportStreamScan(Self.segment(first).bytes + segment.bytes))
        #expect(scan.faults(clockPID: 0x100) == [])
    }

    /// The sizes of files that begin with a segment, or end before it, need none of its bytes.
    @Test(arguments: 1...60, [TransportProgram(video: .h264, audio: .aac), TransportProgram(video: nil, audio: .aac)])
    func sizesWithoutEarlyAudio(_ seed: UInt64, _ program: TransportProgram) throws {
        var random = SeededGenerator(seed: seed)
        var media = Self.media(
            from: 180_000, gops: Int.random(in: 1...4, using: &random),
            framesPerGOP: Int.random(in: 1...60, using: &random), seed: seed)
        let longestLead: Int64 = Bool.random(using: &random) ? 10_000 : 400_000
        let lead = Ticks(Int64.random(in: 0...longestLead, using: &random))
        media.audio = media.audio.map { .init(time: $0.time - lead, payload: $0.payload) }
        if program.video == nil { media.video = [] }
        let muxer = TransportStreamMuxer(program, audioChanges: 0)
        let size = { (media: TransportMedia) in
            var buffer: [UInt8] = []
            return muxer.segment(media, in: &buffer).bytes.count
        }
        let extent = muxer.earlyAudioExtent(of: media)
        #expect(extent?.byteCount == media.earlyAudio.map(size))
        #expect(extent == nil || extent?.removedByteCount == size(media) - size(media.withoutEarlyAudio))
    }

    @Test(arguments: 1...20) func anyChunkMayFollowAnyOther(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var start: Int64 = 0
        var chunks: [[UInt8]] = []
        for index in 0..<20 {
            let frames = Int.random(in: 1...80, using: &random)
            let media = Self.media(from: start, gops: 3, framesPerGOP: frames, seed: seed << 8 | UInt64(index))
            let segment = Self.segment(media, audioChanges: index)
            for chunk in segment.chunks where Bool.random(using: &random) {
                chunks.append(Array(segment.bytes[chunk.bytes]))
            }
            start = media.decoding.upperBound.count
        }
        let scan = try #require(TransportStreamScan(chunks.flatMap(\.self)))
        #expect(scan.faults(clockPID: 0x100).filter { $0.contains("counter") || $0.contains("indicator") } == [])
    }

    /// Simple tools look for the timestamps of a PES packet in its first packet.
    @Test(arguments: 1...60) func firstPacketHoldsTheHeader(_ size: Int) throws {
        for seed in 1...4 as ClosedRange<UInt64> {
            let media = Self.media(
                from: 0, gops: 3, framesPerGOP: 26, seed: seed, videoSizes: 1...size, audioSizes: 1...size)
            let scan = try #require(
                TransportStreamScan(Self.segment(media).bytes))
            #expect(scan.faults(clockPID: 0x100) == [])
            let starts = scan.packets.filter { $0.startsUnit && [0x100, 0x101].contains($0.pid) }.compactMap(\.payload)
            #expect(starts.allSatisfy { $0.count >= 9 && $0.count >= 9 + Int($0[$0.startIndex + 8]) })
        }
    }

    /// Where the units of a PID have fewer bytes than the counter needs packets, it skips: no header is in two packets.
    @Test(arguments: [1, 2, 3]) func fewBytesSkipTheCounter(frames: Int) throws {
        var media = Self.media(from: 0, gops: 1, framesPerGOP: 30, seed: 1, audioSizes: 1...1)
        // Each begins a packet, because of the gap before it.
        media.audio = (0..<frames).map { media.audio[5 * $0] }
        let segment = Self.segment(media)
        let scan = try #require(TransportStreamScan(segment.bytes + segment.bytes))
        let packets = scan.packets.filter { $0.pid == 0x101 }
        let starts = packets.filter(\.startsUnit)
        let times = media.audio.map(\.time.count)
        #expect(starts.allSatisfy { $0.payload.map { $0.count >= 9 + Int($0[$0.startIndex + 8]) } ?? false })
        #expect(scan.packetizedElements(of: 0x101).map(\.pts) == times + times)
        // One has bytes for 9 packets, two for 16.
        #expect(packets.count == (frames == 1 ? 18 : 32))
        #expect(packets.map(\.discontinuity) == packets.indices.map { frames == 1 && $0 % 9 == 0 })
        #expect(packets[packets.count / 2 - 1].counter == 15 && packets.last?.counter == 15)
        #expect(scan.faults(clockPID: 0x100).filter { $0.contains("counter") } == [])
    }

    private static let after2To32 = Ticks(1 << 32 + 777)
    /// Sections by their number in a segment.
    static let sections: [(when: String, sections: [[UInt8]])] = [
        ("none", []),
        (
            "one whose time begins with 0xFF",
            [SpliceSectionWriter.spliceInsert(eventID: 7, isOut: true, at: after2To32, duration: nil)]
        ),
        (
            "a checksum that ends with 0xFF",
            [
                (0..<4096).lazy.map {
                    SpliceSectionWriter.spliceInsert(eventID: $0, isOut: false, at: after2To32, duration: nil)
                }.first { $0.last == 0xFF } ?? []
            ]
        ),
        ("a long one", [SectionSketch(type: 0xFF, command: [UInt8](repeating: 0xFF, count: 3000)).bytes]),
        (
            "more than 16",
            (0..<17).map { SpliceSectionWriter.spliceInsert(eventID: $0, isOut: true, at: after2To32, duration: .zero) }
        ),
    ]

    /// Readers of cues strip trailing 0xFF of a packet with an adaptation field, so none has one.
    @Test(arguments: sections.indices) func sectionsAreInPacketsOfTheirOwn(_ index: Int) throws {
        let row = Self.sections[index]
        var media = Self.media(from: 0, gops: 3, framesPerGOP: 30, seed: 1)
        media.spliceSections = row.sections
        let segment = Self.segment(media)
        let scan = try #require(TransportStreamScan(segment.bytes))
        #expect(scan.faults(clockPID: 0x100) == [])
        let packets = scan.packets.filter { $0.pid == 0x103 }
        #expect(packets.count.isMultiple(of: 16) && packets.isEmpty == row.sections.isEmpty, "\(row.when)")
        #expect(packets.allSatisfy { $0.payload?.count == 184 }, "\(row.when)")
        let sent = scan.sections(of: 0x103).map(\.bytes)
        #expect(Array(sent.prefix(row.sections.count)) == row.sections, "\(row.when)")
        for filler in sent.dropFirst(row.sections.count) {
            let read = try SpliceInfoSection(filler)
            #expect(read.command == .none && read.cues.isEmpty && filler.count == 20)
        }
        let extent = TransportStreamMuxer(Self.program, audioChanges: 0).extent(of: media)
        #expect(extent?.byteCount == segment.bytes.count)
    }

    /// A client that joined at another sample rate counts the times of later frames of a packet by it.
    @Test(arguments: [(changes: 0, frames: 4), (1, 1), (2, 1)])
    func framesShareAPacketUntilTheAudioChanges(_ row: (changes: Int, frames: Int)) throws {
        let media = Self.media(from: 0, gops: 2, framesPerGOP: 50, seed: 1)
        let scan = try #require(TransportStreamScan(Self.segment(media, audioChanges: row.changes).bytes))
        let times = scan.packetizedElements(of: 0x101).map(\.pts)
        #expect(scan.faults(clockPID: 0x100) == [])
        if row.frames == 1 { #expect(times == media.audio.map(\.time.wire.count)) }
        #expect((times.count - media.audio.count / row.frames).magnitude <= 2)
    }

    /// New pages for each segment would take longer than to write it.
    @Test(arguments: [(capacity: 1 << 22, isUsed: true), (capacity: 1000, isUsed: false)])
    func memoryIsUsedAgain(capacity: Int, isUsed: Bool) {
        let media = Self.media(from: 0, gops: 4, framesPerGOP: 50, seed: 1)
        var buffer = [UInt8](repeating: 9, count: 100)
        buffer.reserveCapacity(capacity)
        let segment = TransportStreamMuxer(Self.program, audioChanges: 0).segment(media, in: &buffer)
        #expect((segment.bytes.capacity >= 1 << 22) == isUsed && buffer.isEmpty)
        #expect(segment == Self.segment(media))
    }

    /// A client may begin with a gradual refresh: decoders show it as soon as it is complete.
    @Test(arguments: [true, false]) func gradualRefreshIsAnEntryPoint(isRefresh: Bool) throws {
        var media = Self.media(from: 0, gops: 1, framesPerGOP: 30, seed: 1)
        media.video = media.video.map {
            TransportMedia.VideoSample(
                decodeTime: $0.decodeTime, presentationTime: $0.presentationTime, isRandomAccessPoint: false,
                payload: $0.payload)
        }
        media.beginsGradualRefresh = isRefresh
        let segment = Self.segment(media)
        #expect(segment.chunks.map(\.isEntryPoint) == [isRefresh])
        #expect(segment.chunks.map(\.randomAccessPoints) == [0])
    }

    @Test func segmentsWithoutVideoKeepTheClock() throws {
        var media = Self.media(from: 0, gops: 2, framesPerGOP: 50, seed: 3)
        media.video = []
        let scan = try #require(
            TransportStreamScan(Self.segment(media).bytes))
        #expect(scan.faults(clockPID: 0x100) == [] && scan.margins(of: 0x101).allSatisfy { $0 > 0 && $0 < 90_000 })
    }

    @Test func tablesChangeWithTheAudioAlone() throws {
        let writer = ProgramTableWriter(Self.program)
        let sections = (0..<34).map { Array(writer.programMap(audioChanges: $0).dropFirst()) }
        for (index, section) in sections.enumerated() {
            let length = Int(section[1] & 15) << 8 | Int(section[2])
            #expect(SectionCRC.isIntact(Array(section.prefix(3 + length))))
            #expect(Int(section[5] >> 1 & 31) == index % 32)
            #expect(section.contains([0x0A, 4, 0x75, 0x6E, 0x64, 0]) == (index % 2 == 1))
        }
        #expect(sections[0] == sections[32] && sections[0].count == 183)
    }

    @Test func audioAfterAGapBeginsAPacket() throws {
        var media = Self.media(from: 0, gops: 1, framesPerGOP: 50, seed: 5)
        let frames = media.audio.filter { !(60_000..<70_000).contains($0.time.count) }
        media.audio = frames
        let bytes = Self.segment(media).bytes
        let times = try #require(TransportStreamScan(bytes)).packetizedElements(of: 0x101).map(\.pts)
        let first = try #require(frames.first { $0.time.count >= 70_000 })
        #expect(times.contains(first.time.count))
    }

    @Test func sectionsMoveToTheChannelsTimeline() throws {
        let time = Ticks(1 << 33 - 5)
        let insert = SpliceSectionWriter.spliceInsert(
            eventID: 7, isOut: true, at: Ticks(90_000), duration: .seconds(30))
        let moved = try SpliceInfoSection(SpliceSectionWriter.section(insert, at: time))
        #expect(moved.spliceTime == time)
        let cue = SpliceCue(.out(autoReturn: true), eventID: 7, duration: .seconds(30))
        #expect(try SpliceInfoSection(insert).cues == [cue] && moved.cues == [cue])
        let end = try SpliceInfoSection(
            SpliceSectionWriter.spliceInsert(eventID: 7, isOut: false, at: time, duration: nil))
        #expect(end.cues == [SpliceCue(.in(endsAnyEvent: true), eventID: 7)] && end.spliceTime == time)
        #expect(throws: MediaError.self) { try SpliceSectionWriter.section(Array(insert.dropLast()), at: time) }
    }
}

extension [UInt8] {
    fileprivate func contains(_ bytes: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: bytes) }
    }
}
