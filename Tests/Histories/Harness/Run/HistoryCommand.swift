import Foundation
import Glibc

/// The command `histories`, which `Tests/Histories/run` builds and starts.
package enum HistoryCommand {
    /// - Returns: the exit status: 0 without findings, 1 with findings, 2 if the arguments are wrong.
    package static func run(_ arguments: [String]) async -> Int32 {
        do {
            guard let first = arguments.first else { return 2 }
            let rest = Array(arguments.dropFirst())
            switch first {
            case "--save": return try await save(rest)
            case "--batch": return try await batch(rest)
            case "--loop": return try await loop(rest.compactMap { Int($0) })
            case "--pairs": return rest.first.flatMap { Int($0) }.map { pairs(in: $0) } ?? 2
            case "--table", "--shrink", "--judge":
                guard let history = rest.first.flatMap(history) else { return 2 }
                if first == "--judge" { return try await judge(history) }
                return try await table(first == "--shrink" ? shrunk(history) : history)
            default: return try await batches(arguments)
            }
        } catch {
            say("\(error)")
            return 2
        }
    }

    /// Writes a line at once, also to a pipe.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }

    /// Reads a seed, or the text of a history.
    private static func history(_ text: String) -> History? {
        UInt64(text).map { History(seed: $0) } ?? History(text: text)
    }

    private static func things(_ text: String) -> [Thing] {
        text.split(separator: ",").compactMap { Thing(rawValue: "\($0)") }
    }

    // MARK: - One history

    private static func table(_ history: History) async throws -> Int32 {
        guard let run = try await HistoryRun(history: history, keepsEvents: true).finished() else { return 1 }
        say(HistoryTable(run: run).text)
        return run.judgement.findings.isEmpty ? 0 : 1
    }

    /// Prints what is wrong, in a process of its own.
    private static func judge(_ history: History) async throws -> Int32 {
        let judgement = try await HistoryRun(history: history).judgement()
        for finding in judgement.findings { say("\(finding.rule.rawValue)|\(finding.at)|\(finding.text)") }
        return judgement.findings.isEmpty ? 0 : 1
    }

    /// The smallest history that fails as `history` does.
    private static func shrunk(_ history: History) async throws -> History {
        guard let rule = try judgeInChild(history).first?.rule else { return history }
        return try await HistoryShrinker(rule: rule) { history in
            guard rule == .crash else { return try await HistoryRun(history: history).judgement() }
            return Judgement(findings: try judgeInChild(history))
        }.shrink(history)
    }

    private static func judgeInChild(_ history: History) throws -> [Finding] {
        let child = try ChildProcess(["--judge", history.description])
        let lines = child.lines()
        if child.hasCrashed { return [Finding(rule: .crash, at: 0, text: "the process ended with a signal")] }
        return lines.compactMap { line in
            let parts = line.split(separator: "|", maxSplits: 2).map(String.init)
            guard parts.count == 3, let rule = Finding.Rule(rawValue: parts[0]), let at = Int(parts[1]) else {
                return nil
            }
            return Finding(rule: rule, at: at, text: parts[2])
        }
    }

    /// Appends the smallest history that fails like one to the rows of the tests: `--save FILE SEED WORDS`.
    private static func save(_ arguments: [String]) async throws -> Int32 {
        guard arguments.count == 3, let history = history(arguments[1]) else { return 2 }
        let smallest = try await shrunk(history)
        let file = URL(filePath: arguments[0])
        let old = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        try (old + "\(arguments[2]): \(smallest)\n").write(to: file, atomically: true, encoding: .utf8)
        return try await table(smallest)
    }

    // MARK: - Many histories

    /// Runs histories one after the other: `--batch FIRST COUNT ONLY WITHOUT SECONDS`.
    private static func batch(_ arguments: [String]) async throws -> Int32 {
        guard arguments.count == 5, let first = UInt64(arguments[0]), let count = UInt64(arguments[1]),
            let seconds = Int(arguments[4])
        else { return 2 }
        let (only, without) = (things(arguments[2]), Set(things(arguments[3])))
        for seed in first..<first + count {
            say("begin \(seed)")
            let history = History(seed: seed, only: only, without: without, length: seconds * 1000)
            let judgement = try await HistoryRun(history: history).judgement()
            for finding in judgement.findings.prefix(1) { say("fail \(seed) \(finding) | \(history)") }
            say("end \(seed) \(judgement.segments) \(judgement.frames)")
        }
        return 0
    }

    /// `N [--from SEED] [--only THING,…] [--without THING,…] [--seconds N] [--jobs N]`
    private static func batches(_ arguments: [String]) async throws -> Int32 {
        guard let count = UInt64(arguments[0]) else { return 2 }
        var (first, only, without, seconds) = (UInt64(Date().timeIntervalSince1970) * 100_000, "", "", 60)
        var jobs = ProcessInfo.processInfo.activeProcessorCount
        for (name, value) in zip(arguments.dropFirst(), arguments.dropFirst(2)) {
            switch name {
            case "--from": first = UInt64(value) ?? first
            case "--only":
                only = value
                guard things(only).count == only.split(separator: ",").count else {
                    say("there are no such things; there are \(Thing.allCases.map(\.rawValue).joined(separator: " "))")
                    return 2
                }
            case "--without": without = value == "open" ? Thing.open.map(\.rawValue).joined(separator: ",") : value
            case "--seconds": seconds = max(60, Int(value) ?? seconds)
            case "--jobs": jobs = max(1, Int(value) ?? jobs)
            default: break
            }
        }
        say("histories \(first)..<\(first + count)\(only.isEmpty ? "" : " with \(only)"), \(jobs) at once")
        let batches = HistoryBatches(
            first..<first + count, arguments: [only, without, "\(seconds)"], jobs: jobs, say: say)
        let failed = await batches.run()
        for (seed, text) in failed.sorted(by: { $0.key < $1.key }).prefix(200) { say("failed: \(seed) \(text)") }
        return failed.isEmpty ? 0 : 1
    }

    // MARK: - Loops

    /// Runs channels that loop a file for hours of virtual time: `--loop HOURS [CHANNELS]`.
    private static func loop(_ arguments: [Int]) async throws -> Int32 {
        guard let hours = arguments.first, hours > 0 else { return 2 }
        var run = LoopRun(seconds: hours * 3600)
        run.channels = arguments.dropFirst().first ?? run.channels
        run.report = { sample in
            say(
                "\(sample.seconds / 3600) h: \(sample.allocated / 1024) kB are allocated, \(sample.files) files, "
                    + "\(sample.sizes.values.reduce(0, +)) elements")
        }
        let findings = run.findings(try await run.run())
        for finding in findings { say("finding: \(finding)") }
        return findings.isEmpty ? 0 : 1
    }

    // MARK: - Pairs

    /// Prints how often each pair of things occurs in the first histories, the rarest first.
    private static func pairs(in count: Int) -> Int32 {
        let table = ThingPairs(seeds: 1...UInt64(max(1, count)))
        say(table.text)
        return table.rarest.map { $0.count >= 50 * count / 10_000 } ?? true ? 0 : 1
    }
}
