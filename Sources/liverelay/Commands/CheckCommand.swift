import ArgumentParser
import Channel
import ChannelList
import Conformance
import Fetch
import Foundation
import Inspect
import Support

/// `liverelay check URL.m3u8`, `liverelay check FILE.ts`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Judge an HLS channel, or a transport stream: what is wrong, where, and what to do.",
        discussion: """
            A playlist is judged by the rules of docs/rules.md: its text, its media, its renditions and its server; a live \
            one is followed for --for. A capture is judged as it was recorded. A rule without evidence is not judged.

            A transport stream is judged by ETSI TR 101 290, with a line for each fault of priority 1 or 2. One without \
            an end comes through a pipe, and is judged until the end of the pipe, --for or SIGINT.

            The status is 0 if nothing is found, 30 otherwise.

            liverelay check https://example.com/channel/master.m3u8 --for 5m
            curl -sN http://127.0.0.1:8080/live.ts | liverelay check - --for 10m
            """)

    @Argument(
        help: ArgumentHelp(
            "URL or file of a playlist or a transport stream, a capture, or - for a stream on standard input.",
            valueName: "input"))
    var input: String?

    @Option(help: "Format of the output: text, json for one object per line, junit or sarif for playlists.")
    var format = CheckFormat.text

    @Option(
        name: .customLong("for"),
        help: "How long to follow a live playlist, by default 60 s; how much of a stream to judge, by its own clock.")
    var length: TimeSpan?

    @Option(help: "Variants to follow: all, or max for the one with the highest BANDWIDTH.")
    var variants = VariantsChecked.all

    @Option(
        help: ArgumentHelp(
            "Rules that are not judged: numbers or names, separated by commas; repeatable.", valueName: "rules"))
    var except: [String] = []

    @Option(help: "The lowest level that makes the status 30: must, should or note.")
    var failOn = RuleLevel.must

    @Option(
        help: ArgumentHelp("Another playlist of the same channel, to see what only one of them has.", valueName: "url"))
    var against: String?

    @Flag(help: "List the rules by which playlists are judged.")
    var listRules = false

    @Option(help: ArgumentHelp("Requests at once; 1 respects an account of one connection.", valueName: "number"))
    var maxConnections = 4

    @Option(help: "Longest permitted time from the arrival of an access unit of a stream to its decode time.")
    var maxDelay = TimeSpan(seconds: 1)

    @Option(help: "Faults of one kind of a stream to print; all are counted.")
    var maxFaults = 100

    @Option(help: "Largest accepted answer of the URL of a stream.")
    var maxBytes = ByteCount(1 << 30)

    @OptionGroup(title: "Requests") var requests: RequestArguments

    func validate() throws {
        if maxFaults < 0 { throw ValidationError("--max-faults has to be at least 0.") }
        if maxDelay.seconds == 0 { throw ValidationError("--max-delay has to be at least 1.") }
        if maxConnections < 1 { throw ValidationError("--max-connections has to be at least 1.") }
        if input == nil, !listRules { throw ValidationError("Give a playlist, a capture or a transport stream.") }
        if let text = exceptions.first(where: { Rule(text: $0) == nil }) {
            throw ValidationError("--except \(text) is no rule: see --list-rules.")
        }
        if let complaint = against.flatMap({ OptionChecks.url($0, of: "--against") }) {
            throw ValidationError(complaint)
        }
    }

    private var exceptions: [String] { except.flatMap { $0.split(separator: ",").map(String.init) } }

    func run() async throws {
        if listRules { return CheckFormat.print(Rule.list) }
        let work = Task { try await judgeInput() }
        let signals = Task { if await Signals.wait() != nil { work.cancel() } }
        defer { signals.cancel() }
        try await work.value
    }

    /// Judges until the end, or until the task is canceled.
    private func judgeInput() async throws {
        let configuration = requests.configuration(ChannelOptions()).requests
        switch try await CheckInput.find(input ?? "-", maxBytes: maxBytes.bytes, configuration) {
        case .channel(let channel):
            try await channelCheck(configuration).run(channel, against: against)
        case .stream(let source):
            try await judgeStream(source)
        }
    }

    func channelCheck(_ configuration: CurlConfiguration) -> ChannelCheck {
        var options = ChannelFollower<ContinuousClock>.Options()
        options.connections = maxConnections
        options.length = length?.duration ?? .seconds(60)
        options.variants = variants
        options.excluded = Set(exceptions.compactMap { Rule(text: $0) })
        return ChannelCheck(options: options, requests: configuration, format: format, failing: failOn)
    }

    private func judgeStream(_ source: CheckSource) async throws {
        let report = try await judge(source)
        guard report.faults > 0 else { return }
        let name = source.name == "-" ? "Standard input" : source.name
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

    /// Judges the input as a stream.
    func judge(write: (String) -> Void = CheckFormat.print) async throws -> TransportReport {
        let configuration = requests.configuration(ChannelOptions()).requests
        let source = try await CheckSource(input ?? "-", maxBytes: maxBytes.bytes, configuration)
        return try await judge(source, write: write)
    }

    /// Reads and judges the input until it ends, is long enough, or the task is canceled.
    private func judge(
        _ input: CheckSource, write: (String) -> Void = CheckFormat.print
    ) async throws -> TransportReport {
        guard format == .text || format == .json else {
            throw RelayError(
                .unreadableInput, "A transport stream has no report in the format \(format.rawValue)",
                advice: "Take --format text or json")
        }
        var source = input
        var limits = TransportLimits()
        limits.dataDelay = maxDelay.duration
        limits.faultsKept = maxFaults
        var checker = TransportChecker(limits: limits)
        while let bytes = try source.next() {
            write(checker.check(bytes).map(format.line).joined())
            if let length, checker.report.duration >= length.duration { break }
            await Task.yield()  // for the signals, where there is one thread
        }
        write(checker.finish().map(format.line).joined())
        write(format.summary(of: checker.report))
        return checker.report
    }
}

extension RuleLevel: ExpressibleByArgument {}
extension VariantsChecked: ExpressibleByArgument {}

/// How `liverelay check` prints faults and the summary.
enum CheckFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    /// One object per line.
    case json
    /// For playlists only.
    case junit, sarif

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
        case .json, .junit, .sarif: return JSONObject(fault).text + "\n"
        }
    }

    func summary(of report: TransportReport) -> String {
        switch self {
        case .text: Self.text(of: report)
        case .json, .junit, .sarif: JSONObject(report).text + "\n"
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
