import Foundation
import Tracker

@testable import liverelay

/// What came of a channel that was played.
struct SoakOutcome {
    let script: SoakScript
    let judge: SoakJudge
    let gauges: [SoakGauge]
    let status: RelayStatus
    let requests: Int
    /// nil, if the channel went on to the end of the script.
    let end: SessionEnd?
}

// MARK: - What may not be

extension SoakOutcome {
    var findings: [String] {
        var findings = judge.findings + growth
        if let end { findings.append("the channel ended: \(end)") }
        return findings
    }

    /// What a process holds after some hours it held after the second: what is there for a while has come and gone by
    /// then.
    private var growth: [String] {
        guard let settled = gauges.first(where: { $0.seconds >= 7200 }) else { return [] }
        var findings: [String] = []
        for gauge in gauges where gauge.seconds > settled.seconds {
            func bound(_ what: String, _ part: KeyPath<SoakGauge, Int>, _ limit: Int) {
                let value = gauge[keyPath: part]
                guard value > limit else { return }
                findings.append("\(what) at \(gauge.seconds / 3600) h: \(value), \(settled[keyPath: part]) at 2 h")
            }
            // Of the memory in use: the page cache of the allocator, which depends on what came together.
            bound("resident kB", \.resident, settled.resident + max(settled.resident / 10, 8 << 10))
            bound("descriptors", \.descriptors, settled.descriptors)
            bound("files", \.files, settled.files * 3 / 2)
            bound("entries", \.entries, settled.entries * 3 / 2)
            bound("bytes", \.bytes, Int(SoakRun.spoolLimit))
        }
        return findings
    }
}
