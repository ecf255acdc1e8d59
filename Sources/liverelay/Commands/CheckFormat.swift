import ArgumentParser
import Conformance
import Foundation

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
        case .json: return Self.encoded(FaultRecord(fault))
        }
    }

    func summary(of report: TransportReport) -> String {
        switch self {
        case .text: Self.text(of: report)
        case .json: Self.encoded(SummaryRecord(report))
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
        let (seconds, attoseconds) = duration.components
        let milliseconds = String(attoseconds / 1_000_000_000_000_000)
        return "\(seconds).\(String(repeating: "0", count: 3 - milliseconds.count))\(milliseconds)"
    }

    /// Four digits, as PIDs are written.
    private static func hex(_ pid: UInt16) -> String {
        let digits = String(pid, radix: 16)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    private static func encoded(_ record: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers and texts: encoding cannot fail.
        guard let data = try? encoder.encode(record) else { return "" }
        return String(decoding: data, as: UTF8.self) + "\n"
    }
}

/// A fault in JSON.
private struct FaultRecord: Encodable {
    let indicator: String
    let name: String
    let priority: Int
    let packet: Int
    let offset: Int
    let pid: UInt16?
    let message: String

    init(_ fault: TransportFault) {
        indicator = fault.indicator.rawValue
        name = fault.indicator.name
        priority = fault.indicator.priority
        packet = fault.packet
        offset = fault.offset
        pid = fault.pid
        message = fault.message
    }
}

/// The last line in JSON.
private struct SummaryRecord: Encodable {
    let packets: Int
    let bytes: Int
    let programs: Int
    let clockPID: UInt16?
    let milliseconds: Int64
    let unjudged: Int
    let faults: Int
    /// By indicator.
    let counts: [String: Int]

    init(_ report: TransportReport) {
        packets = report.packets
        bytes = report.bytes
        programs = report.programs
        clockPID = report.clockPID
        let (seconds, attoseconds) = report.duration.components
        milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        unjudged = report.unjudged
        faults = report.faults
        counts = Dictionary(uniqueKeysWithValues: report.counts.map { ($0.key.rawValue, $0.value) })
    }
}
