import Fetch
import Support
import Channel
import Foundation
import Playlist
import Tracker

/// The outcome of a soak run.
struct SoakOutcome {
    let script: SoakScript
    let checker: SoakChecker
    let samples: [SoakSample]
    let status: RelayStatus
    let requests: Int
    /// Reason of a premature end; nil if the channel ran to the end of the script.
    let end: SessionEnd?
}

extension SoakOutcome {
    /// The names of the playlist limits that were exceeded.
    var limitsExceeded: [String] { status.upstream.counts.droppedByLimit.keys.map(\.rawValue).sorted() }

    var findings: [String] {
        var findings = checker.findings + growth
        if let end { findings.append("the channel ended: \(end)") }
        return findings
    }

    /// Findings about resources that grew after the second hour, when all temporary growth is over.
    private var growth: [String] {
        guard let reference = samples.first(where: { $0.seconds >= 7200 }) else { return [] }
        return samples.filter { $0.seconds > reference.seconds }.flatMap { $0.growth(since: reference) }
    }
}

extension SoakSample {
    /// Largest accepted collection. All collections are limited, to 512 elements at most, which some reach after days.
    private static let maxElements = 2000
    /// Accepted growth in kB. Library code used for the first time and free memory of the allocator count as resident.
    private static let tolerance = 8 << 10

    fileprivate func growth(since reference: SoakSample) -> [String] {
        var findings: [String] = []
        func check(_ name: String, _ value: KeyPath<SoakSample, Int>, _ limit: Int) {
            guard self[keyPath: value] > limit else { return }
            findings.append(
                "\(name) at \(seconds / 3600) h: \(self[keyPath: value]), and \(reference[keyPath: value]) at 2 h")
        }
        check("resident memory in kB", \.resident, reference.resident + max(reference.resident / 10, Self.tolerance))
        check("anonymous memory in kB", \.anonymous, reference.anonymous + Self.tolerance / 2)
        check("descriptors", \.descriptors, reference.descriptors)
        check("files", \.files, reference.files * 3 / 2)
        check("entries", \.entries, reference.entries * 3 / 2)
        check("bytes in the spool", \.bytes, Int(SoakRun.spoolLimit))
        let large = collections.filter { !$0.key.hasSuffix("bytes") && $0.value > Self.maxElements }
        return findings + large.map { "\($0.key) has \($0.value) elements at \(seconds / 3600) h" }
    }
}
