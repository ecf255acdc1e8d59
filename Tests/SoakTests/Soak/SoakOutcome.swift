import Channel
import Foundation
import Tracker

/// What came of a channel that was played.
struct SoakOutcome {
    let script: SoakScript
    let judge: SoakChecker
    let gauges: [SoakSample]
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

    /// What a process holds in any later hour it held in the second already: what comes and goes has done so by then.
    private var growth: [String] {
        guard let settled = gauges.first(where: { $0.seconds >= 7200 }) else { return [] }
        return gauges.filter { $0.seconds > settled.seconds }.flatMap { $0.growth(since: settled) }
    }
}

extension SoakSample {
    /// Elements of one collection. What is remembered is limited everywhere, by 512 at most, and some of it takes days to
    /// come to that.
    private static let mostElements = 2000
    /// Code of libraries that nothing had used before counts as resident; so does what the allocator keeps for later.
    private static let tolerance = 8 << 10

    fileprivate func growth(since settled: SoakSample) -> [String] {
        var findings: [String] = []
        func bound(_ what: String, _ part: KeyPath<SoakSample, Int>, _ limit: Int) {
            guard self[keyPath: part] > limit else { return }
            findings.append(
                "\(what) at \(seconds / 3600) h: \(self[keyPath: part]), and \(settled[keyPath: part]) at 2 h")
        }
        bound("kilobytes of memory", \.resident, settled.resident + max(settled.resident / 10, Self.tolerance))
        bound("kilobytes of its own", \.anonymous, settled.anonymous + Self.tolerance / 2)
        bound("descriptors", \.descriptors, settled.descriptors)
        bound("files", \.files, settled.files * 3 / 2)
        bound("entries", \.entries, settled.entries * 3 / 2)
        bound("bytes in the spool", \.bytes, Int(SoakRun.spoolLimit))
        let large = collections.filter { !$0.key.hasSuffix("bytes") && $0.value > Self.mostElements }
        return findings + large.map { "\($0.key) has \($0.value) elements at \(seconds / 3600) h" }
    }
}
