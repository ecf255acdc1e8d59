import TestSupport
import Testing

@testable import HistoryHarness

/// Wrong outputs that are planted in what was published of a plain channel with an ad break. The oracle reports each.
@Suite struct OracleTests {
    private typealias Record = PublicationRecord
    private typealias Row = (
        wrong: String, rule: Finding.Rule, plant: @Sendable (inout PublicationRecord, inout OriginLog) -> Void
    )

    private static let history = "5 store@0+0=0 taggedBreak@20000+0=6 ended@40000+0=0"

    private static let rows: [Row] = [
        ("a frame is missing", .missing, { record, _ in edit(&record, 12) { $0.samples.remove(at: 20) } }),
        (
            "a frame comes twice", .order,
            { record, _ in edit(&record, 12) { $0.samples.insert($0.samples[20], at: 21) } }
        ),
        ("two segments change places", .order, { record, _ in swapMedia(&record, 12, 13) }),
        (
            "a segment is published twice", .order,
            { record, _ in record.segments[13].media = record.segments[12].media }
        ),
        (
            "audio is 20 ms late", .audio,
            { record, _ in
                edit(&record, 12, video: false) { track in
                    track.samples = track.samples.map { $0.moved(by: track.samples[1].duration * 20 / 21) }
                }
            }
        ),
        (
            "an audio frame is silent", .audio,
            { record, _ in edit(&record, 12, video: false) { $0.samples[30].identity = nil } }
        ),
        ("EXTINF is not the media's", .duration, { record, _ in record.segments[12].text.duration = "2.10000" }),
        ("the decode time jumps", .clock, { record, _ in edit(&record, 12) { $0.decodeTime += 90 } }),
        ("a date goes back", .date, { record, _ in record.segments[12].text.date = record.segments[10].text.date }),
        (
            "the init section of an ad is that of the program", .initialization,
            { record, _ in
                for index in record.segments.indices {
                    record.segments[index].initialization = record.segments[0].initialization
                }
            }
        ),
        (
            "the discontinuity is not tagged", .number,
            { record, _ in
                if let index = record.segments.firstIndex(where: \.text.isDiscontinuous) {
                    record.segments[index].text.isDiscontinuous = false
                }
            }
        ),
        (
            "a period begins where nothing changes", .discontinuity,
            { record, _ in
                for index in 12..<record.segments.count { record.segments[index].text.discontinuityNumber += 1 }
                record.segments[12].text.isDiscontinuous = true
            }
        ),
        ("the end is not published", .end, { record, _ in record.versions.removeLast(2) }),
        ("nothing is listed for 20 s", .standstill, { record, _ in record.versions.removeSubrange(8..<18) }),
        ("a segment number is left out", .number, { record, _ in record.segments.remove(at: 12) }),
        (
            "a segment that is there is never asked for", .lost,
            { _, log in log.attempts.removeAll { $0.segment == 30 } }
        ),
        (
            "a number changes its URI", .playlist,
            { record, _ in
                record.versions[9].playlist.segments[2].uri = "other.m4s"
            }
        ),
        ("a segment is not in the archive", .archive, { record, _ in record.archived?.remove(at: 12) }),
        ("an archived segment is a gap", .archive, { record, _ in record.archived?[12].bytes = nil }),
        (
            "a segment is archived twice", .archive,
            { record, _ in if let segment = record.archived?[12] { record.archived?.insert(segment, at: 12) } }
        ),
        ("an archived segment has other bytes", .archive, { record, _ in record.archived?[12].bytes?[100] ^= 1 }),
        (
            "a file is removed while it is listed", .retention,
            { record, _ in record.removals[12] = [record.segments[record.segments.count - 1].text.uri] }
        ),
        (
            "a queue grows for hours", .growth,
            { record, _ in
                record.sizes = [(2_400_000, ["queue": 10]), (3_600_000, ["queue": CollectionSizes.limit + 1])]
            }
        ),
        ("a segment comes 10 s late", .latency, { record, _ in record.segments[12].at += 10_000 }),
    ]

    @Test(arguments: rows.indices) func wrongOutputIsReported(_ index: Int) async throws {
        let row = Self.rows[index]
        let history = try #require(History(text: Self.history))
        let run = try await HistoryRun(history: history).run()
        #expect(run.judgement.findings == [])
        var (record, log) = (run.record, run.log)
        row.plant(&record, &log)
        let judgement = Oracle(broadcast: run.broadcast, log: log, record: record).judge()
        #expect(judgement.findings.contains { $0.rule == row.rule }, "\(row.wrong): \(judgement.findings)")
    }

    private static func edit(
        _ record: inout PublicationRecord, _ segment: Int, video: Bool = true,
        _ change: (inout PublishedMedia.Track) -> Void
    ) {
        guard
            let number = record.segments[segment].initialization?.tracks.first(where: { $0.isVideo == video })?.number,
            let index = record.segments[segment].media?.tracks.firstIndex(where: { $0.number == number })
        else { return }
        record.segments[segment].media?.tracks[index].edit(change)
    }

    private static func swapMedia(_ record: inout PublicationRecord, _ one: Int, _ other: Int) {
        (record.segments[one].media, record.segments[other].media) = (
            record.segments[other].media, record.segments[one].media
        )
    }
}

extension PublishedMedia.Track {
    fileprivate mutating func edit(_ change: (inout PublishedMedia.Track) -> Void) { change(&self) }
}

extension PublishedMedia.Sample {
    fileprivate func moved(by time: Int) -> PublishedMedia.Sample {
        PublishedMedia.Sample(
            identity: identity, decode: decode, presentation: presentation + time, duration: duration, isSync: isSync)
    }
}
