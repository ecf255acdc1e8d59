import ArgumentParser
import Conformance
import Foundation
import Support
import Synchronization

/// `liverelay check FILE.ts`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Judge a transport stream by ETSI TR 101 290.",
        discussion: """
            Prints a line for each fault of priority 1 or 2, with the number of the packet and its PID, and for each access \
            unit that arrives too late or too early for the buffer. The status is 0 without a fault, and 30 with one. A \
            stream without an end comes through a pipe, and is judged until the end of the pipe, --for or SIGINT.

            liverelay check recording.ts
            curl -sN http://127.0.0.1:8080/live.ts | liverelay check - --for 10m
            """)

    @Argument(help: ArgumentHelp("File, http or https URL of a file, or - for standard input.", valueName: "input"))
    var input: String

    @Option(help: "Format of the output: text, or json for one object per line.")
    var format = CheckFormat.text

    @Option(name: .customLong("for"), help: "How much of the stream to judge, by its own clock: 90, 15m, 2h.")
    var length: TimeSpan?

    @Option(help: "Longest permitted time from the arrival of an access unit to its decode time.")
    var maxDelay = TimeSpan(seconds: 1)

    @Option(help: "Faults of one kind to print; all are counted.")
    var maxFaults = 100

    @Option(help: "Largest accepted answer of a URL.")
    var maxBytes = ByteCount(1 << 30)

    func validate() throws {
        if maxFaults < 0 { throw ValidationError("--max-faults has to be at least 0.") }
        if maxDelay.seconds == 0 { throw ValidationError("--max-delay has to be at least 1.") }
    }

    func run() async throws {
        let isStopped = Stop()
        let signals = Task { if await Signals.wait() != nil { isStopped.set() } }
        defer { signals.cancel() }
        let report = try await judge(until: { isStopped.isSet })
        guard report.faults > 0 else { return }
        throw RelayError(
            .faultsFound,
            "\(input == "-" ? "Standard input" : CheckSource.redacted(input)) has \(CheckFormat.count(report.faults, "fault"))",
            advice: "docs/cli.md says what each number means")
    }

    /// Reads and judges the input until it ends, is long enough, or `isStopped`.
    func judge(
        write: (String) -> Void = CheckFormat.print, until isStopped: () -> Bool = { false }
    ) async throws -> TransportReport {
        var limits = TransportLimits()
        limits.dataDelay = maxDelay.duration
        limits.faultsKept = maxFaults
        var checker = TransportChecker(limits: limits)
        var source = try await CheckSource(input, maxBytes: maxBytes.bytes)
        while let bytes = try source.next(until: isStopped) {
            write(checker.check(bytes).map(format.line).joined())
            if let length, checker.report.duration >= length.duration { break }
            await Task.yield()  // for the signals, where there is one thread
        }
        write(checker.finish().map(format.line).joined())
        write(format.summary(of: checker.report))
        return checker.report
    }
}

/// Whether a signal asked for the end.
private final class Stop: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
