import Foundation
import Support
import TestSupport
import Testing

@testable import HistoryHarness

/// Histories that were found by chance, and those of fixed seeds. `Tests/Histories/run` takes fresh ones.
@Suite struct HistoryTests {
    /// Histories that found a fault: words, and the text of the history.
    private static let rows: [(words: String, text: String)] = {
        let file = PackageRoot.url.appending(path: "Tests/HistoryTests/rows.txt")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
    }()

    @Test(arguments: rows.indices) func historyThatFoundAFaultIsPublished(_ index: Int) async throws {
        let row = Self.rows[index]
        let history = try #require(History(text: row.text))
        let judgement = try await HistoryRun(history: history).judgement()
        #expect(judgement.findings == [], "\(row.words): \(row.text)")
    }

    @Test(arguments: UInt64(1)...24) func historyOfAFixedSeedIsPublished(_ seed: UInt64) async throws {
        try await expectPublished(seed)
    }

    /// The seeds change with the sources, so that one tree gives one answer and each new tree tries others.
    @Test(arguments: 0..<UInt64(16)) func historyOfTheSourcesIsPublished(_ number: UInt64) async throws {
        try await expectPublished(Self.seedOfSources + number)
    }

    private func expectPublished(_ seed: UInt64) async throws {
        let history = History(seed: seed, without: Thing.open)
        let judgement = try await HistoryRun(history: history).judgement()
        #expect(judgement.findings == [], "Tests/Histories/run --shrink '\(history)'")
    }

    @Test func storeChangesNothingThatIsLive() async throws {
        let text = "7 killed@24000+2000=3 taggedBreak@12000+0=2"
        let plain = try await HistoryRun(history: try #require(History(text: text))).run().record
        let stored = try await HistoryRun(
            history: try #require(History(text: "\(text) store@0+0=3 storeFails@9000+9000=1"))
        ).run().record
        #expect(plain.versions.map(\.at) == stored.versions.map(\.at))
        #expect(plain.versions.map(\.playlist.segments) == stored.versions.map(\.playlist.segments))
        #expect(plain.archived == nil && (stored.archived?.count ?? 0) > 20)
    }

    @Test func channelsThatLoopAFileDoNotGrow() async throws {
        var run = LoopRun(seconds: 510)
        (run.channels, run.rewind, run.interval, run.settled, run.ownsProcess) = (2, .seconds(60), 100, 300, false)
        let samples = try await run.run()
        #expect(samples.count == 5 && samples.allSatisfy { $0.files > 30 && $0.allocated > 100_000 })
        #expect(samples.last?.sizes.values.reduce(0, +) ?? 0 > 100)
        #expect(run.findings(samples) == [])
    }

    @Test func growthIsFound() {
        let run = LoopRun(seconds: 2, settled: 1)
        let first = LoopRun.Sample(seconds: 1, allocated: 0, files: 10, sizes: ["a": 10])
        let last = LoopRun.Sample(
            seconds: 2, allocated: LoopRun.tolerance + 1, files: 12, sizes: ["a": 6 * CollectionSizes.limit + 1])
        #expect(run.findings([first, last]).count == 3)
    }

    private static let seedOfSources: UInt64 = {
        let sources = PackageRoot.url.appending(path: "Sources")
        let paths = (FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? [])
            .filter { $0.hasSuffix(".swift") }.sorted()
        var hash: UInt64 = 0
        for path in paths {
            guard let data = FileManager.default.contents(atPath: sources.appending(path: path).path) else { continue }
            for byte in SHA256.digest(of: Array(data))?.prefix(8) ?? [] { hash = hash &* 31 &+ UInt64(byte) }
        }
        return hash % 1_000_000_000
    }()

    @Test(arguments: UInt64(1)...200) func historyIsReadAsItIsWritten(_ seed: UInt64) {
        let history = History(seed: seed)
        #expect(History(text: history.description) == history)
        #expect(!history.events.isEmpty)
    }

    @Test func everyPairOfThingsOccurs() {
        let pairs = ThingPairs(seeds: 1...4000)
        #expect((pairs.rarest?.count ?? 0) > 0, "\(pairs.text)")
    }
}
