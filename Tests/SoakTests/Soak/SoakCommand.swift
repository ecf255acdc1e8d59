import Channel
import Foundation
import Splice

/// `soak HOURS [SEED…]`
package enum SoakCommand {
    /// - Returns: 0 when nothing was wrong with any of the channels, 1 when something was, 2 when it cannot work.
    package static func run(_ arguments: [String]) async -> Int32 {
        guard let hours = arguments.first.flatMap({ Double($0) }), hours > 0 else { return 2 }
        let seeds = arguments.dropFirst().compactMap { UInt64($0) }
        var status: Int32 = 0
        for seed in seeds.isEmpty ? [1] : seeds {
            do {
                if try await !play(Int(hours * 3600), seed) { status = 1 }
            } catch {
                print("seed \(seed): \(error)")
                return 2
            }
        }
        return status
    }

    private static func play(_ seconds: Int, _ seed: UInt64) async throws -> Bool {
        let clock = ContinuousClock()
        let began = clock.now
        print(
            "seed \(seed)\n   hour  resident kB   own kB   descriptors  files  spool kB  entries  collections  wall s")
        var run = SoakRun(seed: seed, seconds: seconds)
        run.report = { gauge in
            let wall = began.duration(to: clock.now).components.seconds
            print(gauge.line + String(format: " %7d", wall))
            fflush(nil)
        }
        let outcome = try await run.play()
        print(outcome.summary)
        for finding in outcome.findings { print("WRONG: \(finding)") }
        return outcome.findings.isEmpty
    }
}

extension SoakSample {
    fileprivate var line: String {
        String(
            format: "%7.2f %12d %9d %12d %6d %9d %8d %12d", Double(seconds) / 3600, resident, anonymous, descriptors,
            files,
            bytes / 1024, entries, elements)
    }

    /// Of all collections.
    private var elements: Int { collections.filter { !$0.key.hasSuffix("bytes") }.values.reduce(0, +) }

    /// The largest collections.
    fileprivate var largest: [String] {
        collections.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(12).map { "\($0.key): \($0.value)" }
    }
}

extension SoakOutcome {
    /// What was played, and what became of it.
    fileprivate var summary: String {
        let kinds = Dictionary(grouping: script.faults, by: \.kind.rawValue).mapValues(\.count)
        let edges = judge.edges
        return """
            \(script.faults.count) faults: \(words(kinds))
            \(requests) requests; \(script.segments.count) segments on air, \(script.segments.count { $0.isSplice }) splices
            published: \(judge.segments) segments, \(judge.pictures) pictures, \(judge.gaps) gaps, \
            \(status.splice.counts.periods) runs; \(judge.versions) versions judged
            segments lost: \(words(judge.lost))
            segments lost in part: \(words(judge.torn))
            the tracker counts \(status.upstream.segmentsLost) lost; \
            skipped \(status.splice.segmentsSkipped), pictures repeated \(status.splice.counts.duplicateFrames)
            longest standstill: \(edges.longestInCalm.length) ms in calm, at \(edges.longestInCalm.end / 1000) s; \
            \(edges.longestInTrouble.length) ms in trouble, at \(edges.longestInTrouble.end / 1000) s
            date of the edge: \(judge.aheadOfClock) ms ahead of the clock at most, \(judge.behindClock) ms behind
            dates went back by \(judge.mostBack) ms at most
            files went \(judge.removed.earliest) ms before their time by the clock at most
            the largest collections at the end:
              \(gauges.last?.largest.joined(separator: "\n  ") ?? "none was counted")
            those that grew since the second hour:
              \(grown.joined(separator: "\n  "))
            """
    }

    private func words(_ counts: [String: Int]) -> String {
        let sorted = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "\(counts.values.reduce(0, +)): " + sorted.joined(separator: ", ")
    }

    private var grown: [String] {
        guard let settled = gauges.first(where: { $0.seconds >= 7200 }), let last = gauges.last else { return [] }
        return last.collections.sorted { $0.key < $1.key }.compactMap { name, count in
            let before = settled.collections[name] ?? 0
            return count > before + before / 2 + 16 ? "\(name): \(before), then \(count)" : nil
        }
    }
}
