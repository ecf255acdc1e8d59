import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// How much may come again after a reset, in these tables.
private let reach = Ticks.seconds(60)

/// `|` marks a segment after a loss, `!` one after a reset; the digits are the capture's segments, of 50 frames each.
private let rows: [(when: String, upstream: String, published: String, duplicates: Int, discontinuities: Int)] = [
    ("nothing is sent twice", "0 1 2 3", "0 1 2 3", 0, 0),
    ("a reset that lists the last two again", "0 1 2 !1 2 3 4", "0 1 2 3 4", 100, 0),
    ("a reset that lists only what was published, then goes on", "0 1 2 !1 2", "0 1 2", 100, 0),
    ("a reset that leaves a gap", "0 1 !3 4", "0 1 3 4", 0, 1),
    ("two resets in a row", "0 1 !0 1 2 !2 3", "0 1 2 3", 150, 0),
    ("duplicates that end in a gap", "0 1 2 !1 |4", "0 1 2 4", 50, 1),
    ("older, unknown segments first", "2 3 !0 1 2 3 4", "2 3 0 1 4", 100, 2),
    ("older segments first, a reset among them", "3 !0 !2 3 4", "3 0 2 4", 50, 3),
    ("repeated without a loss", "0 1 0 1", "0 1 0 1", 0, 1),
    ("repeated after a loss", "0 1 2 |1 2 3", "0 1 2 1 2 3", 0, 1),
    ("all of it repeated after a loss, with further losses", "0 1 2 |0 |2 3", "0 1 2 0 2 3", 0, 2),
]

@Test(arguments: rows.indices)
func publishedMediaIsNotPublishedAgain(index: Int) throws {
    let row = rows[index]
    let bodies = try CaptureFixture.clean.bodies("clean-")
    var inputs: [SpliceInput] = []
    for (number, word) in row.upstream.split(separator: " ").enumerated() {
        let body = bodies[try #require(word.last?.wholeNumberValue)]
        inputs.append(
            .segment(
                SegmentInput(
                    rendition: .main, mediaSequence: UInt64(number),
                    isAfterDiscontinuity: !(word.first?.isNumber ?? false),
                    repeatable: word.hasPrefix("!") ? reach : .zero, bytes: body)))
    }
    let output = TortureOutput(inputs + [.ended(.main)])
    #expect(output.videoSamples.count == row.published.split(separator: " ").count * 50, "\(row.when)")
    #expect(output.counts[.duplicateFrames] == row.duplicates, "\(row.when)")
    #expect(output.segments.count(where: \.isDiscontinuous) == row.discontinuities, "\(row.when)")
    #expect(output.counts[.adjustedTimestamps] == 0, "\(row.when)")
    // Audio continues where the video does.
    let frames = output.segments.compactMap { $0.audio?.count }.reduce(0, +)
    #expect(abs(frames * 1024 - output.videoSamples.count * 48_000 / 25) <= 4 * 1024, "\(row.when): \(frames)")
    #expect(output.counts[.silentAudioFrames] <= 2 * row.discontinuities, "\(row.when)")
}

/// Segments of two frames: program `M` has one clock; the clock of ads `a` and `b` restarts with each.
/// Before a segment, `|` stands for a loss, `!` for a reset after which 13 s may come again, and `*` for a tag.
private let orderRows: [(when: String, upstream: String, published: String)] = [
    ("an ad listed again with the segments around it", "M0 *a0 *M1 !M0 *a0 *M1 M2", "M0 *a0 *M1 M2"),
    ("the same untagged", "M0 a0 M1 !M0 a0 M1 M2", "M0 a0 M1 M2"),
    ("an ad presented again, after duplicates", "M0 *a0 *M1 !M1 *a0 *M2", "M0 *a0 *M1 *a0 *M2"),
    ("the same untagged", "M0 a0 M1 !M1 a0 M2", "M0 a0 M1 a0 M2"),
    ("another ad after duplicates", "M0 *a0 *M1 !M1 *b0 *M2", "M0 *a0 *M1 *b0 *M2"),
    ("the same untagged", "M0 a0 M1 !M1 b0 b1 M2", "M0 a0 M1 b0 b1 M2"),
    ("duplicates that begin inside an ad", "M0 *a0 a1 *b0 !a1 *b0 b1 *M1", "M0 *a0 a1 *b0 b1 *M1"),
    ("older segments, then an ad presented again", "M5 *a0 *M6 !M3 *a0 *M7", "M5 *a0 *M6 !M3 *a0 *M7"),
    ("older segments, then duplicates", "M5 M6 !M3 M4 M5 M6 M7", "M5 M6 !M3 M4 M7"),
    ("a loop of which a part was lost", "a0 a1 *a0 a1 *a0 !a1 *a0", "a0 a1 *a0 a1 *a0 !a1 *a0"),
    ("an ad presented twice, and all listed again", "*a0 *M0 *a0 *M1 !M0 *a0 *M1 M2", "*a0 *M0 *a0 *M1 M2"),
    ("an ad presented twice, and its end listed again", "*a0 a1 *M0 *a0 a1 !a1 *M1", "*a0 a1 *M0 *a0 a1 *M1"),
    ("an ad presented a third time after a loss", "*a0 a1 *M0 *a0 a1 !a0 a1", "*a0 a1 *M0 *a0 a1 !a0 a1"),
    ("older segments of another clock", "a0 a1 !M3 M4 a0", "a0 a1 !M3 M4 a0"),
    ("a loss before an ad that was presented", "M0 *a0 a1 *M1 M2 |*a0 a1 *M4", "M0 *a0 a1 *M1 M2 |a0 a1 *M4"),
    ("a loss of its first segment", "M0 *a0 a1 a2 *M1 |a1 a2 *M2", "M0 *a0 a1 a2 *M1 |a1 a2 *M2"),
    ("a loss of the last segment of its first showing", "*a0 a1 |M0 *a0 a1 a2 *M1", "*a0 a1 |M0 *a0 a1 a2 *M1"),
    ("a loop that is lost and goes on", "a0 a1 a2 *a0 a1 |a2 *a0 a1", "a0 a1 a2 *a0 a1 |a2 *a0 a1"),
    ("a loop, and its newest segment again", "a0 a1 a2 *a0 a1 a2 !a2 *a0 a1 a2", "a0 a1 a2 *a0 a1 a2 *a0 a1 a2"),
    ("the same untagged", "a0 a1 a2 a0 a1 a2 !a2 a0 a1 a2", "a0 a1 a2 a0 a1 a2 a0 a1 a2"),
    ("a loss after duplicates", "M0 M1 M2 !M1 |M3", "M0 M1 M2 |M3"),
    ("a loss among duplicates", "M0 M1 M2 M3 !M1 |M3 M4", "M0 M1 M2 M3 M4"),
    ("a loss among older segments", "M4 M5 !M1 |M3 M4 M5 M6", "M4 M5 !M1 |M3 M6"),
    (
        "a loss after a reset to new media, then an ad presented again", "M0 *a0 *M1 !b0 |*a0 *M2",
        "M0 *a0 *M1 !b0 |a0 *M2"
    ),
    (
        "media presented longer ago than can be listed", "a0 a1 M0 M1 M2 M3 M4 M5 M6 !a0 a1",
        "a0 a1 M0 M1 M2 M3 M4 M5 M6 !a0 a1"
    ),
    ("media presented just as long ago", "a0 M0 M1 M2 M3 M4 M5 !a0 M0", "a0 M0 M1 M2 M3 M4 M5"),
]

@Test(arguments: orderRows.indices) func duplicatesAreRecognizedInOrder(index: Int) {
    let row = orderRows[index]
    var filter = DuplicateFilter()
    let published = row.upstream.split(separator: " ").compactMap { word -> String? in
        var packets = DemuxedSegment()
        let name = Array(word.suffix(2))
        let begin = (name[0] == "M" ? 9_000_000 : 90_000) + 180_000 * Int64(name[1].wholeNumberValue ?? 0)
        packets.video = [begin, begin + 90_000].map {
            SyntheticPackets.videoPacket(
                dts: $0, sync: $0 == begin ? .instantaneousRefresh : .none, payload: Array(word.suffix(2).utf8))
        }
        let isReset = word.hasPrefix("!")
        let boundary: SegmentBoundary = isReset || word.hasPrefix("|") ? .loss : word.hasPrefix("*") ? .tagged : .plain
        var demuxed = RenditionDemuxer.Demuxed(flushed: DemuxedSegment(), boundary: boundary, packets: packets)
        filter.removeDuplicates(
            from: &demuxed, of: segment(0), repeatable: isReset ? .seconds(13) : .zero)
        #expect(filter.beginsWithDuplicates == demuxed.packets.video.isEmpty, "\(row.when): \(word)")
        let loss = isReset ? "!" : "|"
        let prefix = demuxed.boundary == .loss ? loss : demuxed.boundary == .tagged ? "*" : ""
        return demuxed.packets.video.isEmpty ? nil : prefix + String(name)
    }
    #expect(published.joined(separator: " ") == row.published, "\(row.when)")
}

/// `a` and `b` are two sources of one channel; the digits are segments, as above.
private let sourceRows: [(when: String, upstream: String, published: String, duplicates: Int)] = [
    ("a source that is in step", "a0 a1 b2 b3", "0 1 2 3", 0),
    ("a source that lists what was published", "a0 a1 a2 b1 b2 b3", "0 1 2 3", 100),
    ("there and back", "a0 a1 b0 b1 b2 a1 a2 a3", "0 1 2 3", 200),
    ("a source that is ahead", "a0 a1 b3 b4", "0 1 3 4", 0),
]

@Test(arguments: sourceRows.indices)
func mediaOfOneSourceIsNotPublishedAgainFromAnother(index: Int) throws {
    let row = sourceRows[index]
    let bodies = try CaptureFixture.clean.bodies("clean-")
    let engine = SpliceEngine(
        SpliceConfiguration(hasAudioRendition: false, longestSegment: .seconds(6), wallClock: 0))
    var engines = ["a": engine, "b": engine]
    var (current, segments): (String, [SplicedSegment]) = ("a", [])
    for (number, word) in row.upstream.split(separator: " ").enumerated() {
        let source = String(word.prefix(1))
        if source != current {
            segments += try engines[current]?.pause() ?? []
            let (position, published) = (try #require(segments.last).position, engines[current]?.published)
            engines[source]?.resume(at: position, datedUntil: nil, after: published, repeatable: reach)
            current = source
        }
        let body = bodies[try #require(word.last?.wholeNumberValue)]
        let input = SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: body)
        segments += try engines[source]?.handle(.segment(input)) ?? []
    }
    segments += try engines[current]?.handle(.ended(.main)) ?? []
    let frameCount = try segments.reduce(0) { sum, segment in
        let whole = segment.fragment.header + segment.fragment.payloads.flatMap { $0 }
        return try MovieFragment.fragments(of: whole).flatMap(\.tracks).filter { $0.trackID == TrackID.video }
            .reduce(sum) { $0 + $1.samples.count }
    }
    #expect(frameCount == row.published.split(separator: " ").count * 50, "\(row.when)")
    let counts = engines.values.reduce(SpliceCounts()) { $0 + $1.counts }
    #expect(counts[.duplicateFrames] == row.duplicates && counts[.framesBeforeSync] == 0, "\(row.when)")
}

/// An earlier process received the capture's segments `earlier` and was killed after it published the first
/// `published` output segments; the next process receives `later`.
private let processRows: [(when: String, earlier: String, published: Int, later: String, duplicates: Int)] = [
    ("all of the segment was published", "0 1 2", 3, "2 3 4", 50),
    ("the last output segments were not", "0 1 2", 1, "0 1 2 3 4", 50),
    ("no published segment is listed any more", "0 1", 2, "3 4", 0),
    ("it joins two segments back", "0 1 2", 3, "1 2 3 4", 100),
]

@Test(arguments: processRows.indices)
func whatAnEarlierProcessPublishedIsNotPublishedAgain(index: Int) throws {
    let row = processRows[index]
    let bodies = try CaptureFixture.clean.bodies("clean-")
    func spliced(
        _ words: String, after published: PublishedMedia?
    ) throws -> (all: [SplicedSegment], counts: SpliceCounts) {
        var engine = SpliceEngine(
            SpliceConfiguration(
                hasAudioRendition: false, longestSegment: .seconds(6), wallClock: 0, published: published))
        var segments: [SplicedSegment] = []
        for number in words.split(separator: " ").compactMap({ Int($0) }) {
            let isFirst = published != nil && number == words.first?.wholeNumberValue
            let input = SegmentInput(
                rendition: .main, mediaSequence: UInt64(number), repeatable: isFirst ? reach : .zero,
                bytes: bodies[number])
            segments += try engine.handle(.segment(input))
            if published != nil, number == words.first?.wholeNumberValue {
                #expect(engine.beginsWithDuplicates == (row.duplicates > 0), "\(row.when)")
            }
        }
        return (try segments + engine.handle(.ended(.main)), engine.counts)
    }
    let earlier = try spliced(row.earlier, after: nil).all.prefix(row.published)
    // In the text form of the journal.
    let kept = earlier.compactMap { $0.upstreamEnd.frames.flatMap { PublishedFrames(text: $0.text) } }
    #expect(kept == earlier.compactMap(\.upstreamEnd.frames) && kept.count == row.published)
    #expect(earlier.map(\.upstreamEnd.mediaSequence) == earlier.indices.map { UInt64($0) })
    let later = try spliced(row.later, after: PublishedMedia(kept))
    #expect(later.counts[.duplicateFrames] == row.duplicates, "\(row.when)")
    // The audio of published video does not wait for other video: an ad may have its times.
    let audio = later.counts[.duplicateAudioFrames]
    #expect(abs(audio * 1024 - row.duplicates * 48_000 / 25) <= 4 * 1024, "\(row.when): \(audio)")
    let (listed, published) = (
        row.later.split(separator: " ").count * 50, later.all.reduce(0) { $0 + $1.duration.count }
    )
    #expect(published == Int64(listed - row.duplicates) * 3600, "\(row.when)")
}

/// An earlier process stopped at 990,000 ticks in the segment `last`. The next one joins with the segment `first` of another
/// variant, which begins at `time` and lasts 2 s.
private let variantRows:
    [(when: String, last: UpstreamSegment?, first: UpstreamSegment, time: Int64, isDuplicate: Bool)] = [
        ("its date", segment(7, 5000), segment(9, 5100), 900_000, true),
        ("its number", segment(7), segment(7), 900_000, true),
        ("another number", segment(7), segment(8), 900_000, false),
        ("another date", segment(7, 5000), segment(7, 7000), 900_000, false),
        ("another clock", segment(7), segment(7), 9_000_000, false),
        ("not known", nil, segment(7), 900_000, false),
    ]

private func segment(_ number: UInt64, _ date: Int64? = nil) -> UpstreamSegment {
    UpstreamSegment(mediaSequence: number, date: date)
}

@Test(arguments: variantRows.indices) func segmentOfAnotherVariantIsNotPublishedAgain(index: Int) throws {
    let row = variantRows[index]
    var filter = DuplicateFilter()
    filter.published = PublishedMedia([try #require(PublishedFrames(text: "990000/900000/500/77"))], until: row.last)
    var packets = DemuxedSegment()
    packets.video = [row.time, row.time + 90_000].map {
        SyntheticPackets.videoPacket(
            dts: $0, sync: $0 == row.time ? .instantaneousRefresh : .none, payload: [1, 2, 3])
    }
    var demuxed = RenditionDemuxer.Demuxed(flushed: DemuxedSegment(), boundary: .plain, packets: packets)
    filter.removeDuplicates(from: &demuxed, of: row.first, repeatable: reach)
    #expect(filter.counts[.duplicateFrames] == (row.isDuplicate ? 2 : 0), "\(row.when)")
}

/// An earlier process published a segment of two programs twice, because the upstream is a loop, and stopped after it.
@Test(arguments: [(segment(7), 6), (segment(8), 0)])
func segmentOfSeveralProgramsIsNotPublishedAgain(_ row: (joined: UpstreamSegment, duplicates: Int)) throws {
    let main = [900_000, 20_000_000, 1_080_000].map { (begin: Int64) in
        [begin, begin + 90_000].map {
            SyntheticPackets.videoPacket(
                dts: $0, sync: $0 == begin ? .instantaneousRefresh : .none, payload: [UInt8(truncatingIfNeeded: begin)])
        }
    }
    let published = try main.map { frames in
        let key = try #require(frames.first.flatMap { PublishedMedia.KeyFrame($0) })
        let last = try #require(frames.last?.decodeTime).count
        return try #require(PublishedFrames(text: "\(last)/\(key.time.count)/\(key.byteCount)/\(key.beginning)"))
    }
    var filter = DuplicateFilter()
    filter.published = PublishedMedia(published + published, until: segment(7))
    var packets = DemuxedSegment()
    packets.video = main.flatMap { $0 }
    var demuxed = RenditionDemuxer.Demuxed(flushed: DemuxedSegment(), boundary: .plain, packets: packets)
    filter.removeDuplicates(from: &demuxed, of: row.joined, repeatable: reach)
    #expect(filter.counts[.duplicateFrames] == row.duplicates)
}

@Test(arguments: ["", "x", "1/2", "1/2/3", "1/2/3/-4", "1/2/3/4/5", "1//3/4", "9223372036854775808"])
func malformedPublishedFramesAreRejected(_ text: String) { #expect(PublishedFrames(text: text) == nil) }
