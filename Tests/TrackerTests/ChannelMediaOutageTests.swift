import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// The target duration is 6 s, and an outage begins after 21 s of silence. A backup is alive once its playlist has
/// grown by one segment.
private let mediaOutageRows: [ChannelRow] = [
    ChannelRow(
        when: "every segment is refused while the playlist grows: the backup goes on where the upstream stopped",
        sources: ChannelOrigins().with {
            $0.primary.instead = withoutMedia(14..<900)
            $0.primary.tags = dated()
            $0.backupA.tags = dated()
        }, seconds: 60, delivers: "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "every segment hangs from one on: the backup takes over",
        sources: ChannelOrigins().with {
            $0.primary.latency = { request in
                let hangs = request.purpose == .segment && !["104", "105", "106"].contains { request.url.contains($0) }
                return hangs ? .seconds(99) : .milliseconds(50)
            }
        }, seconds: 60, delivers: "p104 p105 p106 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "segments that cannot be decrypted for a while: the backup goes on at the published edge",
        sources: ChannelOrigins().with {
            $0.primary.tags = dated()
            $0.backupA.tags = dated()
        }, seconds: 60, outcome: unusable(14..<900),
        delivers: "p104 p105 p106 p107 p108 p109 p110 p111 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "the first backup's media cannot be used either: the second takes over",
        sources: ChannelOrigins().with { $0.primary.instead = withoutMedia(14..<900) }, seconds: 90,
        outcome: unusable(0..<900, of: 1, .unreadable),
        delivers: "p104 p105 p106 p107 b110 b111 b112 b113 b114 b115 b116 b117 b118 b119"),
    ChannelRow(
        when: "no segment was ever available: the backup takes over",
        sources: ChannelOrigins().with { $0.primary.instead = withoutMedia(0..<900) }, seconds: 60,
        delivers: "a106 a107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "one segment late and one refused: no outage",
        sources: ChannelOrigins().with { $0.primary.instead = withoutMedia(14..<20) }, seconds: 60,
        gapTolerance: .beforeGaps,
        outcome: unusable(30..<36),
        delivers: "p104 p105 p106 p107 p108 p109 p110 p111 p112 p113 p114"),
    ChannelRow(
        when: "segments wait for a language: no outage", seconds: 60, gapTolerance: .beforeGaps,
        outcome: { _, now in (14..<60).contains(Int(now.components.seconds)) ? .awaitingTrack : .published },
        delivers: "p104 p105 p106 p107 p108 p109 p110 p111 p112 p113 p114"),
    ChannelRow(
        when: "no segment for a while and no backup: outage gaps",
        sources: ChannelOrigins().with { $0.primary.instead = withoutMedia(14..<60) }, seconds: 80, backups: 0,
        gapTolerance: .beforeGaps,
        delivers: "p104 p105 p106 p107 - - - x1 x1 x1 - x1 - x1 - x1 |p114 p115 p116 p117 p118"),
    ChannelRow(
        when: "no segment until the give-up limit, no backup: the channel gives up",
        sources: ChannelOrigins().with { $0.primary.instead = withoutMedia(14..<900, status: 403) }, seconds: 200,
        backups: 0,
        giveUp: .seconds(60), delivers: "p104 p105 p106 p107 x1 x1 x1 x1",
        end: .gaveUp(
            TrackerError(
                .nothingUsable(for: .milliseconds(65950), .lost(.unavailable(.refused(status: 403)))),
                url: ChannelOrigins.primaryURL))),
    ChannelRow(
        when: "no segment of any source until the give-up limit: the channel gives up",
        sources: ChannelOrigins().with {
            $0.primary.instead = withoutMedia(14..<900)
            $0.backupA.instead = withoutMedia(0..<900)
            $0.backupB.instead = down(0..<900)
        }, seconds: 200, giveUp: .seconds(60), delivers: "p104 p105 p106 p107 x1 x1 x1",
        end: .gaveUp(
            TrackerError(
                .nothingUsable(for: .seconds(60), .lost(.unavailable(.refused(status: 404)))),
                url: ChannelOrigins.primaryURL))),
]

@Test(arguments: mediaOutageRows)
private func mediaThatCannotBePublishedIsAnOutage(row: ChannelRow) async throws { try await row.check() }
