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

    @Option(
        help: ArgumentHelp(
            "File of certificate authorities (PEM) to trust besides the system's.",
            discussion: "By default the file that SSL_CERT_FILE names, if it is set.", valueName: "file"))
    var caFile: String?

    func validate() throws {
        if maxFaults < 0 { throw ValidationError("--max-faults has to be at least 0.") }
        if maxDelay.seconds == 0 { throw ValidationError("--max-delay has to be at least 1.") }
        if let complaint = caFile.flatMap({ OptionChecks.certificates($0) }) { throw ValidationError(complaint) }
    }

    func run() async throws {
        let isStopped = Stop()
        let signals = Task { if await Signals.wait() != nil { isStopped.set() } }
        defer { signals.cancel() }
        let report = try await judge(until: { isStopped.isSet })
        guard report.faults > 0 else { return }
        let name = input == "-" ? "Standard input" : CheckSource.redacted(input)
        guard report.packets > 0 else {
            throw RelayError(
                .unreadableInput, "\(name) is no transport stream: it has no packet",
                advice: "Give MPEG-TS: a .ts file, live.ts of a channel, or its segments below /ts/")
        }
        throw RelayError(
            .faultsFound,
            "\(name) has \(CheckFormat.count(report.faults, "fault"))",
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
        var source = try await CheckSource(input, maxBytes: maxBytes.bytes, authorities: caFile)
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

/// How `liverelay check` prints faults and the summary.
enum CheckFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    /// One object per line.
    case json

    /// Writes to standard output at once. If the reader has closed it, nothing happens.
    static func print(_ text: String) {
        guard !text.isEmpty else { return }
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    func line(for fault: TransportFault) -> String {
        switch self {
        case .text:
            let pid = fault.pid.map { "pid \(Self.hex($0))" } ?? "no pid"
            return
                "packet \(fault.packet), \(pid): \(fault.indicator.rawValue) \(fault.indicator.name): \(fault.message)\n"
        case .json: return JSONObject(fault).text + "\n"
        }
    }

    func summary(of report: TransportReport) -> String {
        switch self {
        case .text: Self.text(of: report)
        case .json: JSONObject(report).text + "\n"
        }
    }

    private static func text(of report: TransportReport) -> String {
        let clock = report.clockPID.map { "\(seconds(report.duration)) s by the PCRs of pid \(hex($0))" } ?? "no PCR"
        let unjudged = report.unjudged > 0 ? "; \(report.unjudged) arrivals were not judged" : ""
        let counts = TransportIndicator.allCases.compactMap { indicator in
            report.counts[indicator].map { "\n  \(indicator.rawValue) \(indicator.name): \($0)" }
        }
        return """
            \(count(report.packets, "packet")), \(count(report.programs, "program")), \(clock)\(unjudged)
            \(count(report.faults, "fault"))\(counts.joined())

            """
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = String(duration.wholeMilliseconds % 1000)
        return "\(duration.components.seconds).\(String(repeating: "0", count: 3 - milliseconds.count))\(milliseconds)"
    }

    /// Four digits, as PIDs are written.
    private static func hex(_ pid: UInt16) -> String {
        let digits = String(pid, radix: 16)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension JSONObject {
    /// A fault. The names of members are in alphabetical order.
    fileprivate init(_ fault: TransportFault) {
        self.init()
        add("indicator", fault.indicator.rawValue)
        add("message", fault.message)
        add("name", fault.indicator.name)
        add("offset", fault.offset)
        add("packet", fault.packet)
        add("pid", fault.pid)
        add("priority", fault.indicator.priority)
    }

    fileprivate init(_ report: TransportReport) {
        var counts = JSONObject()
        for (indicator, count) in report.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            counts.add(indicator.rawValue, count)
        }
        self.init()
        add("bytes", report.bytes)
        add("clockPID", report.clockPID)
        add("counts", counts)
        add("faults", report.faults)
        add("milliseconds", report.duration.wholeMilliseconds)
        add("packets", report.packets)
        add("programs", report.programs)
        add("unjudged", report.unjudged)
    }
}
