import Playlist
import Synchronization
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

private let gapRows: [ChannelRow] = [
    ChannelRow(
        when: "an outage without a backup: outage gaps",
        sources: ChannelOrigins().with { $0.primary.instead = down(14..<60) },
        seconds: 75, backups: 0, gapTolerance: .beforeGaps,
        delivers: "p104 p105 p106 p107 - - - - - - x2 x1 x1 x1 x1 |p114 p115 p116 p117"),
    ChannelRow(
        when: "eight segments listed at a time: late only while no more than the two of the join are known",
        sources: ChannelOrigins().with { sources in
            var origin = SessionOrigin()
            origin.windowLength = 12
            let steady = origin
            sources.primary.instead = { request, now in
                guard request.purpose != .segment else { return nil }
                return text(steady.playlist(at: .seconds(now.components.seconds / 48 * 48)), request)
            }
        }, seconds: 160, backups: 0, gapTolerance: .beforeGaps,
        delivers:
            "p104 p105 - - - - - x1 x1 x1 x1 x1 |p111 p112 p113 p114 p115 p116 p117 p118 p119 p120 p121 p122 p123 p124 "
            + "p125 p126 p127 p128 p129"),
    ChannelRow(
        when: "a cache has an old playlist, and then all of the time: what was listed as gaps is late",
        sources: ChannelOrigins().with { sources in
            let steady = SessionOrigin()
            sources.primary.instead = { request, now in
                guard request.purpose != .segment else { return nil }
                let isOld = (.seconds(14)..<(.seconds(44))).contains(now)
                return text(steady.playlist(at: isOld ? .seconds(14) : now), request)
            }
        }, seconds: 60, backups: 0, gapTolerance: .beforeGaps,
        delivers: "p104 p105 p106 p107 - - - x1 x1 x1 |p111 p112 p113 p114"),
    ChannelRow(
        when: "an encoder pauses, and goes on where it was: all of it is published",
        sources: ChannelOrigins().with { sources in
            let steady = SessionOrigin()
            sources.primary.instead = { request, now in
                guard request.purpose != .segment else { return nil }
                let time = now < .seconds(14) ? now : max(.seconds(14), now - .seconds(30))
                return text(steady.playlist(at: time), request)
            }
        }, seconds: 75, backups: 0, gapTolerance: .beforeGaps,
        delivers: "p104 p105 p106 p107 - - - - p108 p109 p110 p111 p112"),
    ChannelRow(
        when: "ENDLIST of a live playlist: the channel ends, and lists no gap before",
        sources: ChannelOrigins().with {
            $0.primary.stopsAt = .seconds(12)
            $0.primary.endsWithList = true
        }, seconds: 40, backups: 0, gapTolerance: .beforeGaps, delivers: "p104 p105 p106 p107 .", end: .drained),
    ChannelRow(
        when: "a VOD playlist that loses a segment: no outage gap",
        sources: ChannelOrigins().with {
            $0.primary.stopsAt = .zero
            $0.primary.endsWithList = true
            $0.primary.latency = { .seconds($0.url.contains("seg102") ? 9 : 0) }
            $0.primary.instead = { request, now in
                request.url.contains("seg102") && now < .seconds(500) ? failed(.timedOut, request) : nil
            }
        }, seconds: 299, backups: 0, gapTolerance: .beforeGaps,
        delivers: "p100 p101 x1 |p103 p104 p105 .",
        end: .drained),
]

@Test(arguments: gapRows)
private func silenceIsDeliveredAsOutageGaps(row: ChannelRow) async throws { try await row.check() }

/// A channel that an earlier process published up to segment 105.
private struct ResumedRow: Sendable, CustomTestStringConvertible {
    let when: String
    /// Seconds during which the primary is unreachable.
    let primaryDown: Range<Int>
    var backups = 0
    var giveUp: Duration?
    let seconds: Int
    let delivers: String
    var end: SessionEnd?

    var testDescription: String { when }
}

private let resumedRows: [ResumedRow] = [
    ResumedRow(when: "the upstream is reachable", primaryDown: 0..<0, seconds: 8, delivers: "p105 p106"),
    ResumedRow(
        when: "the upstream is unreachable for a minute", primaryDown: 0..<60, seconds: 68,
        delivers: "- - - - - - - - x4 |p110 p111 p112 p113 p114 p115"),
    ResumedRow(
        when: "the upstream is unreachable until the give-up limit", primaryDown: 0..<900, giveUp: .seconds(40),
        seconds: 90, delivers: "- - - -",
        end: .failed(TrackerError(.unreachable(.refused), url: ChannelOrigins.primaryURL))),
    ResumedRow(
        when: "the upstream is unreachable, and there is a backup", primaryDown: 0..<900, backups: 1, seconds: 12,
        delivers: "a104 a105 a106"),
]

@Test(arguments: resumedRows)
private func resumedChannelDeliversGapsBeforeItsUpstreamOpens(row: ResumedRow) async throws {
    let simulation = try await ChannelSimulation(
        ChannelOrigins().with { $0.primary.instead = down(row.primaryDown) }, seconds: row.seconds,
        backups: row.backups, giveUp: row.giveUp, gapTolerance: .beforeGaps,
        joinPoint: JoinPoint(mediaSequence: 105))
    #expect(simulation.trace == row.delivers)
    #expect(simulation.end == row.end)
}

/// A playlist may end where the process was killed: the segment that was published in part is the first of the next playlist.
@Test func segmentThatIsListedAfterTheJoinMayRepeatWhatWasPublished() async throws {
    let repeatable = Mutex<[UInt64: Duration]>([:])
    _ = try await ChannelSimulation(ChannelOrigins(), seconds: 20, joinPoint: JoinPoint(mediaSequence: 106)) {
        delivery, _ in
        if case .segment(let tracked) = delivery.content {
            repeatable.withLock { $0[tracked.segment.mediaSequence] = tracked.repeatable }
        }
        return .published
    }
    #expect(repeatable.withLock { $0[106] } == .seconds(60))
    #expect(repeatable.withLock { $0[107] } == .zero)
}
