import Playlist
import Support

/// The result of a check: the findings, and the rules that could not be judged.
package struct CheckReport: Sendable {
    package let findings: [Finding]
    /// Rules that had no evidence, with the reason.
    package let unjudged: [(rule: Rule, reason: String)]
    package let judged: [Rule: Int]
    package let streams: Int
    package let versions: Int
    package let segments: Int
    package let bytes: Int

    package func count(_ level: RuleLevel) -> Int { findings.count { $0.level == level } }

    /// Whether a finding has at least the level.
    package func fails(at level: RuleLevel) -> Bool { findings.contains { $0.level >= level } }
}

extension ChannelChecker {
    /// Judges what needs the whole check. Nothing may be handled after it.
    package mutating func finish() {
        for index in streams.indices { streams[index].media.finish(into: &log) }
        judgeCrossOrigin()
        guard let master else { return }
        judgeDeclarations(master)
        judgeAlignment()
    }

    private mutating func judgeCrossOrigin() {
        guard hasCrossOrigin.playlists, hasCrossOrigin.segments == false else { return }
        log.add(
            .mimeTypes, "cors", level: .note, of: url, at: FindingPlace(uri: url),
            "playlists have Access-Control-Allow-Origin, and segments do not")
    }

    private mutating func judgeDeclarations(_ master: ScannedPlaylist) {
        for stream in streams where !stream.isIFrames {
            var rules = DeclarationRules(
                variant: nil, rendition: nil, masterURL: url, media: stream.media,
                targetDuration: stream.playlist.current?.targetDuration.map { .seconds($0) }, master: master)
            switch stream.role {
            case .variant(let index): rules.variant = master.variants[index]
            case .rendition(let index): rules.rendition = master.renditions[index]
            case .alone, .iFrames: continue
            }
            rules.judge(into: &log)
        }
    }

    /// Compares each playlist with the first variant that has media.
    private mutating func judgeAlignment() {
        let variants = streams.filter { if case .variant = $0.role { !$0.isIFrames } else { false } }
        guard let reference = variants.first(where: { !$0.media.measured.isEmpty }) ?? variants.first else { return }
        for other in streams where other.url != reference.url && !other.isIFrames {
            AlignmentRules(reference: reference, other: other).judge(into: &log)
        }
    }

    package var report: CheckReport {
        let unjudged = Rule.allCases.filter { log.judged[$0] == nil && !log.isExcluded($0) }
        return CheckReport(
            findings: log.sorted, unjudged: unjudged.map { ($0, log.obstacles[$0] ?? reason(for: $0)) },
            judged: log.judged, streams: streams.count, versions: streams.reduce(0) { $0 + $1.playlist.versions },
            segments: segmentCount, bytes: byteCount)
    }

    private func reason(for rule: Rule) -> String {
        if let protection, rule.row.evidence == .media { return "the media is protected (\(protection))" }
        if master == nil, rule.row.evidence == .renditions { return "there is no multivariant playlist" }
        if rule.row.evidence == .time, streams.allSatisfy({ $0.playlist.current?.isLive == false }) {
            return "the playlist is not live"
        }
        return rule.row.evidence.absence
    }
}

extension ChannelChecker {
    /// Why a rule cannot be judged, for reasons beyond the answers.
    package mutating func recordObstacle(_ rule: Rule, _ reason: String) { log.recordObstacle(rule, reason) }
}
