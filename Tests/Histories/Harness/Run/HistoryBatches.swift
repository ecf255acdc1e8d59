import Foundation
import Synchronization

/// This program, started again with other arguments. Its crash ends no other process.
struct ChildProcess {
    private let process = Process()
    private let output = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// Reads all that the process writes, line by line.
    /// - Parameter handle: called with each line.
    @discardableResult
    func lines(_ handle: (String) -> Void = { _ in }) -> [String] {
        var (rest, lines): ([UInt8], [String]) = ([], [])
        while true {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            for byte in data {
                guard byte == 10 else {
                    rest.append(byte)
                    continue
                }
                let line = String(decoding: rest, as: UTF8.self)
                lines.append(line)
                handle(line)
                rest = []
            }
        }
        process.waitUntilExit()
        return lines
    }

    var hasCrashed: Bool { process.terminationReason == .uncaughtSignal }
}

/// Runs many histories in child processes, as many at once as there are jobs.
final class HistoryBatches: Sendable {
    private struct State {
        var next: UInt64
        var done = 0
        var segments = 0
        var frames = 0
        var failed: [UInt64: String] = [:]
        var reportedAt: ContinuousClock.Instant
    }

    private static let largest: UInt64 = 100

    private let seeds: Range<UInt64>
    /// Those of a batch after its seeds.
    private let arguments: [String]
    private let jobs: Int
    private let say: @Sendable (String) -> Void
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    init(_ seeds: Range<UInt64>, arguments: [String], jobs: Int, say: @escaping @Sendable (String) -> Void) {
        (self.seeds, self.arguments, self.jobs, self.say) = (seeds, arguments, jobs, say)
        state = Mutex(State(next: seeds.lowerBound, reportedAt: .now))
    }

    /// - Returns: what was found first in each history that failed.
    func run() async -> [UInt64: String] {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<jobs { group.addTask { self.runBatches() } }
        }
        let failed = state.withLock { $0.failed }
        report(isLast: true)
        return failed
    }

    private func runBatches() {
        while true {
            let batch: Range<UInt64>? = state.withLock { state in
                guard state.next < seeds.upperBound else { return nil }
                let first = state.next
                state.next = min(seeds.upperBound, first + max(1, min(Self.largest, UInt64(seeds.count / jobs))))
                return first..<state.next
            }
            guard var rest = batch else { return }
            while !rest.isEmpty { rest = run(rest) }
        }
    }

    /// Runs a batch in a child.
    /// - Returns: what is left of it if the child crashed.
    private func run(_ batch: Range<UInt64>) -> Range<UInt64> {
        guard let child = try? ChildProcess(["--batch", "\(batch.lowerBound)", "\(batch.count)"] + arguments) else {
            return batch.upperBound..<batch.upperBound
        }
        var current = batch.lowerBound
        var isRunning = false
        child.lines { line in
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count > 1, let seed = UInt64(words[1]) else { return }
            switch words[0] {
            case "begin": (current, isRunning) = (seed, true)
            case "fail":
                state.withLock { $0.failed[seed] = words[2] }
                say("failed: \(seed) \(words[2])")
            case "end":
                isRunning = false
                let numbers = words[2].split(separator: " ").compactMap { Int($0) }
                state.withLock {
                    $0.done += 1
                    $0.segments += numbers.first ?? 0
                    $0.frames += numbers.last ?? 0
                }
                report(isLast: false)
            default: break
            }
        }
        guard child.hasCrashed || isRunning else { return batch.upperBound..<batch.upperBound }
        say("failed: \(current) crash")
        state.withLock {
            $0.failed[current] = "crash"
            $0.done += 1
        }
        return min(current + 1, batch.upperBound)..<batch.upperBound
    }

    private func report(isLast: Bool) {
        let now = ContinuousClock.now
        let line: String? = state.withLock { state in
            guard isLast || state.reportedAt.duration(to: now) > .seconds(10) else { return nil }
            state.reportedAt = now
            let seconds = start.duration(to: now) / .seconds(1)
            return "\(state.done) of \(seeds.count) histories, \(state.failed.count) failed, "
                + "\(String(format: "%.1f", Double(state.done) / seconds)) a second; \(state.segments) segments, \(state.frames) frames"
        }
        if let line { say(line) }
    }
}
