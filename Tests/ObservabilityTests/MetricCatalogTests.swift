import Capture
import Channel
import Foundation
import Logging
import Splice
import TestSupport
import Testing

@testable import HTTP
@testable import Observability
@testable import WebServer

/// A snapshot of a process without any channel that runs.
private func idleSnapshot(channels: Int) throws -> MetricsSnapshot {
    let bus = EventBus(wallClock: { 0 })
    let delivery = try EventDelivery(bus, webhooks: [], commands: [], logger: Logger(label: "test"))
    return MetricsSnapshot(
        runs: [], channelStates: ["idle": channels], startCount: 0, traffic: HTTPTraffic().counts,
        events: delivery, process: ProcessFigures())
}

@Suite struct MetricCatalogTests {
    @Test func documentListsEveryMetric() throws {
        let file = PackageRoot.url.appending(path: "docs/metrics.md")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let isRow = { (line: String) in line.hasPrefix("| `liverelay_") || line.hasPrefix("| `process_") }
        let first = try #require(lines.firstIndex(where: isRow))
        let others = lines.filter { !isRow($0) }
        try expectGolden(
            (others[..<first] + MetricCatalog.rows + others[first...]).joined(separator: "\n"), at: file)
    }

    @Test func namesFollowTheConventions() {
        var kinds = MetricCatalog.service.map { (name: $0.name, kind: $0.kind) }
        kinds += MetricCatalog.channel.map { (name: $0.name, kind: $0.kind) }
        kinds += MetricCatalog.process.map { (name: $0.name, kind: $0.kind) }
        #expect(Set(kinds.map(\.name)).count == kinds.count)
        for (name, kind) in kinds {
            #expect(name.wholeMatch(of: /(liverelay|process)_[a-z_]+/) != nil)
            #expect(name.hasSuffix("_total") == (kind == .counter), "\(name)")
            #expect(name.hasSuffix("_info") == (kind == .info), "\(name)")
            #expect(name.hasSuffix("_request_duration_seconds") == (kind == .histogram), "\(name)")
            for unit in ["_ms", "_milliseconds", "_minutes", "_kib", "_percent"] { #expect(!name.contains(unit)) }
        }
    }

    @Test func idleChannelsCostOneNumber() throws {
        let few = MetricsWriter.write(MetricCatalog.families(try idleSnapshot(channels: 1)), as: .prometheus)
        let many = MetricsWriter.write(MetricCatalog.families(try idleSnapshot(channels: 1000)), as: .prometheus)
        #expect(few.contains("liverelay_channels{state=\"idle\"} 1\n"))
        #expect(many.split(separator: "\n").count == few.split(separator: "\n").count)
    }

    /// Each status from 0 to 999 is one kind of failure in the status of a channel.
    @Test func upstreamCannotMakeUpSeries() throws {
        let errors = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("http\($0)", 1) } + [("timedOut", 2)])
        let failures = MetricCatalog.failures(errors)
        #expect(failures.count == 13 + 10 + 1)
        let sum = failures.map { if case .integer(let count) = $0.value { count } else { 0 } }.reduce(0, +)
        #expect(sum == 1002)
        #expect(failures.contains { $0.labels == ["http_404"] } && failures.contains { $0.labels == ["http_5xx"] })
    }

    /// The meter counts what the status counts of the same events.
    @Test func periodsAreCountedByCause() async throws {
        let meter = ChannelMeter()
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-meter-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let capture = try CaptureDirectory(CaptureFixture.ssaiTagged.directory)
        let replay = Replay(capture, spool: spool.path, observe: { meter.record($0) })
        _ = try await replay.run()
        let counts = meter.counts
        #expect(counts.periods.values.reduce(0, +) == replay.state.status.splice.counts[.periods])
        #expect(counts.periods[.joined] == 1 && counts.periods[.tagged, default: 0] > 1)
        #expect(counts.publishedSegments == replay.state.status.output.segments)
    }
}

private let stat =
    "4711 (liverelay) (x y) S 1 4711 4711 0 -1 4194560 100 0 0 0 250 150 0 0 20 0 9 0 1000 817639424 17773 0 0"

@Test func processFiguresAreRead() {
    var figures = ProcessFigures()
    figures.parse(stat: stat, boot: 5000, ticksPerSecond: 100, pageSize: 4096)
    #expect(figures.cpuSeconds == 4 && figures.threads == 9 && figures.startTime == 5010)
    #expect(figures.virtualBytes == 817_639_424 && figures.residentBytes == 17773 * 4096)
    let current = ProcessFigures.current
    let started = Date().timeIntervalSince1970 - (current.startTime ?? 0)
    #expect((0..<86400).contains(started) && ProcessFigures.current.startTime == current.startTime)
    #expect(current.residentBytes ?? 0 > 1 << 20 && current.openDescriptors ?? 0 > 2 && current.maxDescriptors ?? 0 > 2)
    for text in ["", "1", "1 (", "1 (a) S", "1 (a) S x y"] {
        var figures = ProcessFigures()
        figures.parse(stat: text, boot: nil)
        #expect(figures == ProcessFigures(), "\(text)")
    }
}
