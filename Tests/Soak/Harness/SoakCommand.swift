import Channel
import Fetch
import Foundation
import Splice
import Support
import TestSupport
import Tracker

/// The command `soak [--limits] [--start TIME] HOURS [SEED…]`, or `soak --loop HOURS [CHANNELS]`.
package enum SoakCommand {
    /// Runs a channel for each seed.
    /// - Returns: the exit status: 0 without findings, 1 with findings, 2 if the soak test could not run.
    package static func run(_ arguments: [String]) async -> Int32 {
        var arguments = arguments[...]
        if arguments.first == "--loop" { return await loop(arguments.dropFirst().compactMap { Double($0) }) }
        let exceedsLimits = arguments.first == "--limits"
        if exceedsLimits { arguments.removeFirst() }
        var start = 0
        if arguments.first == "--start" {
            guard let time = arguments.dropFirst().first.flatMap(seconds) else { return 2 }
            start = time
            arguments.removeFirst(2)
        }
        guard let hours = arguments.first.flatMap({ Double($0) }), hours > 0 else { return 2 }
        let seeds = arguments.dropFirst().compactMap { UInt64($0) }
        var status: Int32 = 0
        for seed in seeds.isEmpty ? [1] : seeds {
            var run = SoakRun(seed: seed, start: start, seconds: Int(hours * 3600))
            run.exceedsLimits = exceedsLimits
            do {
                if try await !report(&run) { status = 1 }
            } catch {
                print("seed \(seed): \(error)")
                return 2
            }
        }
        return status
    }

    /// Runs channels that loop a file of a minute.
    /// - Parameter arguments: hours, and the number of channels.
    private static func loop(_ arguments: [Double]) async -> Int32 {
        guard let hours = arguments.first, hours > 0, let count = Int(exactly: arguments.dropFirst().first ?? 6),
            count > 0
        else { return 2 }
        print("   hour   anon kB  allocated kB  files  spool kB  elements")
        do {
            var run = LoopRun(file: try loopedFile(), channels: count, seconds: Int(hours * 3600))
            run.report = { sample in
                print(
                    String(
                        format: "%7.2f %9d %13d %6d %9d %9d", Double(sample.seconds) / 3600, sample.anonymous,
                        sample.allocated / 1024, sample.files, sample.bytes / 1024, sample.elements))
                fflush(nil)
            }
            let findings = run.findings(try await run.run())
            for finding in findings { print("finding: \(finding)") }
            return findings.isEmpty ? 0 : 1
        } catch {
            print(error)
            return 2
        }
    }

    private static func loopedFile() throws -> [UInt8] {
        let arguments = [
            "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=2", "-f", "lavfi", "-i", "sine=r=8000", "-t", "60",
            "-c:v", "libx264", "-g", "8", "-keyint_min", "8", "-sc_threshold", "0", "-c:a", "aac", "-b:a", "8k",
            "-movflags", "+frag_keyframe+empty_moov", "-f", "mp4", "pipe:1",
        ]
        return try FFmpegTool.run("ffmpeg", arguments).output
    }

    /// Reads a time such as `26h`, `84d` or `50y`, of a hundred years at most. A year has 365 days.
    static func seconds(_ text: String) -> Int? {
        let units = ["h": 3600, "d": 86_400, "y": 365 * 86_400]
        guard let unit = text.last.flatMap({ units[String($0)] }), let count = UInt32(text.dropLast()),
            Int(count) <= 100 * 365 * 86_400 / unit
        else { return nil }
        return Int(count) * unit
    }

    private static func report(_ run: inout SoakRun) async throws -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        print(
            "seed \(run.seed), from \(run.start) s on\n   hour  resident kB  anon kB   descriptors  files  spool kB  entries  collections  wall s"
        )
        run.report = { sample in
            let wall = start.duration(to: clock.now).components.seconds
            print(sample.line + String(format: " %7d", wall))
            fflush(nil)
        }
        let outcome = try await run.run()
        print(outcome.summary)
        for finding in outcome.findings { print("finding: \(finding)") }
        return outcome.findings.isEmpty
    }
}

extension SoakSample {
    fileprivate var line: String {
        String(
            format: "%7.2f %12d %9d %12d %6d %9d %8d %12d", Double(seconds) / 3600, resident, anonymous, descriptors,
            files, bytes / 1024, entries, elements)
    }

    /// Elements in all collections.
    private var elements: Int { collections.filter { !$0.key.hasSuffix("bytes") }.values.reduce(0, +) }

    /// The largest collections.
    fileprivate var largest: [String] {
        collections.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(12).map { "\($0.key): \($0.value)" }
    }
}

extension SoakOutcome {
    /// Summary of the script and the published channel.
    fileprivate var summary: String {
        let kinds = Dictionary(grouping: script.faults, by: \.kind.rawValue).mapValues(\.count)
        let liveEdge = checker.liveEdge
        return """
            \(script.faults.count) faults: \(counts(kinds))
            \(requests) requests; \(script.segments.count) segments, \(script.segments.count { $0.isSplice }) splices
            published: \(checker.segments) segments, \(checker.frames) frames, \(checker.gaps) gaps, \
            \(status.splice.counts[.periods]) periods; \(checker.versions) playlist versions checked
            segments lost: \(counts(checker.lost))
            segments lost partially: \(counts(checker.partiallyLost))
            the tracker counts \(status.upstream.counts.lost) lost; \
            skipped \(status.splice.segmentsSkipped), duplicate frames \(status.splice.counts[.duplicateFrames])
            limits exceeded: \(status.upstream.counts.droppedByLimit.count) kinds, \
            \(status.upstream.counts.droppedByLimit.values.reduce(0, +)) units; \
            \(status.upstream.counts[.postponedSegments]) fetches postponed
            longest stall: \(liveEdge.longestWithoutFault.length) ms without faults, at \(liveEdge.longestWithoutFault.end / 1000) s; \
            \(liveEdge.longestWithFault.length) ms with faults, at \(liveEdge.longestWithFault.end / 1000) s
            date of the edge: at most \(checker.aheadOfClock) ms ahead of the clock, \(checker.lateToClock) ms late
            dates went back by at most \(checker.largestDateStepBack) ms
            files were removed at most \(checker.eviction.earliest) ms too early by the wall clock
            largest collections at the end:
              \(samples.last?.largest.joined(separator: "\n  ") ?? "none counted")
            collections that grew since the second hour:
              \(grown.joined(separator: "\n  "))
            """
    }

    private func counts(_ counts: [String: Int]) -> String {
        let sorted = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "\(counts.values.reduce(0, +)): " + sorted.joined(separator: ", ")
    }

    private var grown: [String] {
        guard let reference = samples.first(where: { $0.seconds >= 7200 }), let last = samples.last else { return [] }
        return last.collections.sorted { $0.key < $1.key }.compactMap { name, count in
            let before = reference.collections[name] ?? 0
            return count > before + before / 2 + 16 ? "\(name): \(before), then \(count)" : nil
        }
    }
}
