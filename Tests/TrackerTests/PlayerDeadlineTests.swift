import Foundation
import TestSupport
import Testing

@testable import Tracker

/// A rule by which a player ends if reloads of a playlist bring nothing new, as its source or its messages state it.
private struct PlayerRule: Sendable {
    /// When the player ends, in milliseconds since the last load that had something new.
    enum End: Sendable {
        /// At the first load after that long: a share of the target duration in thousandths, and a minimum.
        case silence(perMille: Int, atLeast: Int = 0)
        /// After so many loads without news, before the next one.
        case loads(Int)
        /// Never: it presents what it has, stands still, and goes on.
        case never
    }

    let player: String
    let rule: String
    let end: End
    /// The pause after a load without news, for a target duration in milliseconds.
    let reload: @Sendable (Int) -> Int
    let source: String

    /// When the player ends, in milliseconds since the last publication; nil if it goes on.
    /// - Parameters:
    ///   - seen: when the player loaded that publication.
    ///   - gap: when the first gap is listed; nil: none is.
    func end(targetDuration: Int, seen: Int, gap: Int?) -> Int? {
        var (now, loads) = (seen + targetDuration, 0)
        while now < gap ?? 100 * targetDuration {
            loads += 1
            switch end {
            case .never: return nil
            case .silence(let perMille, let least):
                if now - seen >= max(least, targetDuration * perMille / 1000) { return now }
            case .loads(let count):
                if loads == count { return now + reload(targetDuration) }
            }
            now += reload(targetDuration)
        }
        return nil
    }

    /// The earliest end over all moments at which a player may have loaded the last publication.
    func earliestEnd(targetDuration: Int, gap: Int? = nil) -> Int? {
        stride(from: 10, through: targetDuration, by: 10).compactMap {
            end(targetDuration: targetDuration, seen: $0, gap: gap)
        }.min()
    }
}

private let rules = [
    PlayerRule(
        player: "streamlink 8", rule: "ends after 3 target durations, at least 5 s",
        end: .silence(perMille: 3000, atLeast: 5000), reload: { max($0 / 2, 1000) },
        source: "`stream/hls/hls.py`, `_segment_queue_timing_threshold_reached`"),
    PlayerRule(
        player: "ExoPlayer, media3", rule: "ends after 3.5 target durations, once its buffer is empty",
        end: .silence(perMille: 3500), reload: { $0 / 2 },
        source: "`DefaultHlsPlaylistTracker`, `PlaylistStuckException`"),
    PlayerRule(
        player: "ffmpeg, `max_reload` 3", rule: "ends after 3 reloads in vain, as a recorder at the live edge",
        end: .loads(2), reload: { $0 / 2 }, source: "`libavformat/hls.c`, `read_data`; ffmpeg 5.0 to 7.0"),
    PlayerRule(
        player: "ffmpeg, `max_reload` 100", rule: "the same after 100 reloads", end: .loads(99), reload: { $0 / 2 },
        source: "the same; Debian's ffmpeg 5.1.9"),
    PlayerRule(
        player: "AVPlayer", rule: "reports -12888 after 1.5 target durations; no source says that it ends",
        end: .never, reload: { $0 / 2 }, source: "its error log"),
    PlayerRule(
        player: "hls.js", rule: "goes on: `liveMaxUnchangedPlaylistRefresh` is infinite", end: .never,
        reload: { $0 / 2 }, source: "`config.ts` of 1.7; 1.6 has no such rule"),
    PlayerRule(
        player: "VLC", rule: "goes on: it counts failed loads, and ends after 4", end: .never, reload: { $0 / 2 },
        source: "`HLSRepresentation.cpp`, `MAX_UPDATE_FAILED_UPDATE_COUNT`"),
    PlayerRule(
        player: "GStreamer", rule: "goes on: it counts failed loads, and ends after 4", end: .never,
        reload: { $0 / 2 }, source: "`gstadaptivedemux.c`, `DEFAULT_FAILED_COUNT`"),
]

/// The first gap is listed before players end that reload a playlist in vain.
@Suite struct PlayerDeadlineTests {
    private static func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }

    private static func firstGap(_ tolerance: OutageTimer.Tolerance, _ targetDuration: Int) -> Int {
        // At the latest, because it may wait for a segment.
        milliseconds(
            tolerance.duration(.milliseconds(targetDuration)) + tolerance.wait(.milliseconds(targetDuration)))
    }

    /// What a tolerance saves: the target durations in seconds at which no player of a rule ends before the first gap.
    private static func survived(_ rule: PlayerRule, by tolerance: OutageTimer.Tolerance) -> [Int] {
        (1...12).filter {
            rule.earliestEnd(targetDuration: $0 * 1000, gap: firstGap(tolerance, $0 * 1000)) == nil
        }
    }

    @Test func gapComesBeforeAnyPlayerEndsThatWaitsForThreeTargetDurations() {
        let chosen = OutageTimer.Tolerance.beforeGaps
        let before = OutageTimer.Tolerance(targetDurations: .halves(7), atLeast: .seconds(8))
        #expect(Self.survived(rules[0], by: chosen) == Array(1...12))
        #expect(Self.survived(rules[0], by: before) == [], "the limit of 3.5 target durations, at least 8 s")
        // With a target duration of a second, a gap after five would list every hiccup of an upstream.
        #expect(Self.survived(rules[1], by: chosen) == Array(2...12))
        #expect(Self.survived(rules[1], by: before) == Array(3...12))
        // Nothing that waits for a late segment saves a recorder that gives up after two target durations.
        #expect(Self.survived(rules[2], by: chosen) == [])
        for rule in rules[3...] { #expect(Self.survived(rule, by: chosen) == Array(1...12), "\(rule.player)") }
    }

    /// A trial begins before the first gap, and no segment is waited for after it.
    @Test(arguments: [1, 2, 4, 6, 10]) func trialBeginsBeforeTheFirstGap(targetDuration: Int) {
        let target = Duration.seconds(targetDuration)
        let (trial, gap) = (
            OutageTimer.Tolerance.beforeTrial.duration(target), OutageTimer.Tolerance.beforeGaps.duration(target)
        )
        #expect(trial < gap)
        let patience = SegmentPatience(
            configured: .seconds(600), targetDuration: target, window: .seconds(3600), isFinished: false)
        let head = SegmentPatience.Head(
            duration: target, listedAt: target, heldSince: target * 2, gapAt: gap, firstFailureAt: target)
        #expect(patience.loss(of: head)?.at == max(target * 2, gap))
    }

    /// The table of docs/players.md.
    @Test func tableIsUpToDate() throws {
        let targets = [1, 2, 6]
        var table = "| player | nothing new is listed | earliest end at 1 s, 2 s, 6 s | source |\n|---|---|---|---|\n"
        for rule in rules {
            let ends = targets.map { target in
                rule.earliestEnd(targetDuration: target * 1000).map { Self.text($0) } ?? "–"
            }
            let text = Set(ends) == ["–"] ? "–" : ends.joined(separator: ", ")
            table += "| \(rule.player) | \(rule.rule) | \(text) | \(rule.source) |\n"
        }
        let gaps = targets.map { Self.text(Self.firstGap(.beforeGaps, $0 * 1000)) }.joined(separator: ", ")
        table +=
            "| liverelay | lists the first gap, at the latest | \(gaps) | [failover.md](failover.md#when-something-stalls) |\n"
        let file = PackageRoot.url.appending(path: "docs/players.md")
        let document = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(document.firstRange(of: "| player | nothing new is listed"))
        let end = document[start.lowerBound...].firstRange(of: "\n\n")?.lowerBound ?? document.endIndex
        try expectGolden(
            String(document[..<start.lowerBound]) + table.dropLast() + document[end...], at: file)
    }

    private static func text(_ milliseconds: Int) -> String {
        // The earliest player sees a publication 10 ms after it.
        String(format: "%.1f s", Double(milliseconds) / 1000)
    }
}
