import Glibc
import TestSupport

/// The command `histories`.
package enum HistoryCommand {
    /// - Returns: the exit status: 0 without findings, 1 with findings, 2 if the arguments are wrong.
    package static func run(_ arguments: [String]) async -> Int32 {
        do {
            if let text = arguments.dropFirst().first {
                switch arguments.first {
                case "--table": return try await table(text)
                case "--shrink": return try await shrink(text)
                default: break
                }
            }
            guard let count = arguments.first.flatMap({ Int($0) }) else { return 2 }
            return try await batch(count, from: arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1)
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

    private static func history(_ text: String) -> History? {
        UInt64(text).map { History(seed: $0) } ?? History(text: text)
    }

    private static func table(_ text: String) async throws -> Int32 {
        guard let history = history(text) else { return 2 }
        let run = try await HistoryRun(history: history, keepsEvents: true).run()
        say(HistoryTable(run: run).text)
        return run.judgement.findings.isEmpty ? 0 : 1
    }

    private static func shrink(_ text: String) async throws -> Int32 {
        guard let history = history(text) else { return 2 }
        guard let rule = try await HistoryRun(history: history).run().judgement.findings.first?.rule else { return 0 }
        let shrinker = HistoryShrinker(rule: rule) { try? await HistoryRun(history: $0).run().judgement }
        return try await table(shrinker.shrink(history).description)
    }

    private static func batch(_ count: Int, from first: UInt64) async throws -> Int32 {
        let clock = ContinuousClock()
        let start = clock.now
        var failed = 0
        var frames = 0
        for seed in first..<first + UInt64(count) {
            let history = History(seed: seed)
            do {
                let judgement = try await HistoryRun(history: history).run().judgement
                frames += judgement.frames
                guard !judgement.findings.isEmpty else { continue }
                failed += 1
                say("history \(history)")
                for finding in judgement.findings.prefix(3) { say("    \(finding)") }
            } catch {
                failed += 1
                say("history \(history)\n    \(error)")
            }
        }
        let seconds = start.duration(to: clock.now) / .seconds(1)
        say("\(count) histories, \(failed) failed, \(frames) frames, \(Int(Double(count) / seconds * 100)) in 100 s")
        return failed == 0 ? 0 : 1
    }
}
