import ArgumentParser
import Conformance
import Foundation
import Support

/// How `liverelay check` prints faults and the summary.
enum CheckFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    /// One object per line.
    case json

    /// Writes to standard output at once; a reader that is gone is no error.
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

    /// The last line.
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
