import LiveRing
import Testing
import Tracker

@testable import Channel
@testable import Observability
@testable import Splice
@testable import Support

private func upstream(_ event: UpstreamEvent) -> RelayEvent { .init(kind: .upstream(event), isDuringOutage: false) }
private func pipeline(_ event: ChannelPipeline.Event) -> RelayEvent {
    .init(kind: .pipeline(event), isDuringOutage: false)
}

private let period = PeriodDescription(index: 0, cause: .tagged, video: nil, audioCodec: "mp4a.40.2")
private let began = pipeline(.periodBegan(period, mediaSequence: 7))
private let outage = upstream(.stalled(.main, .outage, silence: .seconds(21)))
private let outageError = EventContent.channelError(.outage, reason: "Nothing new was listed for 21 s.")
private let switched = upstream(.sourceSwitched(to: 1, url: "https://u:p@b.example/x.m3u8?token=1"))
private let diskError = RingError.system(.write, path: "/spool/seg", code: 28)
private let diskFull = pipeline(.publishFailed(diskError))

private let rows: [(when: String, events: [RelayEvent], contents: [EventContent])] = [
    ("the first period", [began], []), ("the second one", [began, began], [.splice(period, mediaSequence: 7)]),
    ("steps before an outage", [upstream(.stalled(.main, .late, silence: .seconds(9)))], []),
    ("a late playlist that came", [upstream(.resumed(.main, silence: .seconds(9)))], []),
    (
        "an outage", [outage, upstream(.resumed(.main, silence: .seconds(40)))],
        [outageError, .channelRecovery(.outage, seconds: 40)]
    ),
    ("an outage of subtitles", [upstream(.stalled(.subtitles(0), .outage, silence: .seconds(21)))], []),
    (
        "two reasons for one outage", [outage, upstream(.mediaStalled(.outage, silence: .seconds(30), .noAudio))],
        [outageError]
    ),
    (
        "an outage of media", [upstream(.mediaStalled(.outage, silence: .seconds(30), .unreadable))],
        [
            .channelError(
                .outage,
                reason:
                    "Nothing could be published for 30 s: there is no media in its segments that can be republished.")
        ]
    ),
    (
        "a backup that ends an outage", [outage, switched, upstream(.resumed(.main, silence: .seconds(40)))],
        [
            outageError, .channelFailover(source: 1, url: "https://b.example/x.m3u8?token=…"),
            .channelRecovery(.outage, seconds: 22),
        ]
    ),
    (
        "a backup that ends an outage of media",
        [upstream(.mediaStalled(.outage, silence: .seconds(5), .noAudio)), switched],
        [
            .channelError(.outage, reason: "Nothing could be published for 5 s: its audio does not arrive."),
            .channelFailover(source: 1, url: "https://b.example/x.m3u8?token=…"), .channelRecovery(.outage, seconds: 6),
        ]
    ),
    (
        "a failover that no outage caused", [switched],
        [.channelFailover(source: 1, url: "https://b.example/x.m3u8?token=…")]
    ),
    ("an outage of the backup", [upstream(.backup(1, .stalled(.main, .outage, silence: .seconds(21))))], [outageError]),
    (
        "a full disk", [diskFull, diskFull, pipeline(.publishResumed(after: 2)), pipeline(.publishResumed(after: 2))],
        [.channelError(.spool, reason: RelayError(diskError).message), .channelRecovery(.spool, seconds: nil)]
    ),
]

@Test(arguments: rows.indices) func channelEventsAreMapped(row: Int) {
    var mapper = ChannelEventMapper()
    // A second passes between two events.
    let contents = rows[row].events.enumerated().flatMap { mapper.contents(of: $1, at: .seconds(100 + $0)) }
    #expect(contents == rows[row].contents, "\(rows[row].when)")
}
