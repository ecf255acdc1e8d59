import Channel
import Conformance
import Foundation
import Media
import Support
import TestSupport
import Testing

@testable import Observability
@testable import Splice

private let client = EventContent.Client(number: 3, path: "/news.ts", address: "192.0.2.7", userAgent: "VLC/3.0.21")

/// An example of each type, in the order of `EventKind`.
private let examples: [EventContent] = [
    .channelStart(url: "https://example.com/news/master.m3u8?token=…"),
    .channelStop(.stopped, seconds: 754.2, receivedBytes: 471_859_200),
    .channelError(.outage, reason: "Nothing new was listed for 21 s."),
    .channelRecovery(.outage, seconds: 48.5),
    .channelFailover(source: 1, url: "https://backup.example.com/news.m3u8"),
    .channelFinding(
        .upstream,
        {
            var tally = RuleTally()
            return tally.record(.untaggedSplice, "a splice without a tag", at: .zero)!
        }()),
    .splice(
        PeriodDescription(
            index: 4, cause: .tagged,
            video: .init(codec: "avc1.64001F", width: 1280, height: 720, frameRate: "25.000", videoRange: .standard),
            audioCodec: "mp4a.40.2"), mediaSequence: 48_201),
    .captureStart(directory: "evening"), .captureEnd(directory: "evening"),
    .recordingPlan(
        recording: 7, name: "The Evening News", start: ProgramDateTime(millisecondsSince1970: 1_795_349_700_000),
        end: ProgramDateTime(millisecondsSince1970: 1_795_351_500_000)),
    .recordingStart(file: "rec/news.ts"),
    .recordingPause(file: "rec/news.ts", reason: "the disk is full: 1 GiB of it stays free, or a tenth"),
    .recordingResume(file: "rec/news.ts"), .recordingClose(file: "rec/news.ts", recording: 7),
    .recordingEnd(file: "rec/news.mp4", recording: 7, note: nil),
    .recordingError(recording: 7, reason: "Nothing of its time was published."),
    .archiveError(
        reason: "archive/tv/news/: the store asks for fewer requests (503 SlowDown). They are repeated later."),
    .archiveRecovery(seconds: 612.5),
    .archiveLoss(
        segments: 300, numbers: 48_300...48_599, from: ProgramDateTime(millisecondsSince1970: 1_795_349_700_000),
        to: ProgramDateTime(millisecondsSince1970: 1_795_350_300_000)), .clientConnect(client),
    .clientDisconnect(client, seconds: 61.75, sentBytes: 38_273_040),
    .listReload(source: "channels.m3u", added: 3, removed: 1, changed: 2, unchanged: 207, ended: 1),
    .listError(source: "https://example.com/list.m3u", reason: "The list answers with status 503."),
]

@Test func documentHasAnExampleOfEachType() throws {
    #expect(examples.map(\.kind) == EventKind.allCases)
    let file = PackageRoot.url.appending(path: "docs/events.md")
    let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let first = try #require(lines.firstIndex { $0.hasPrefix("{\"id\"") })
    let others = lines.filter { !$0.hasPrefix("{\"id\"") }
    let json = examples.enumerated().map { index, content in
        let isOfList = content.kind == .listReload || content.kind == .listError
        return ServiceEvent(
            id: 1_795_349_421_000_000 + UInt64(index), time: 1_795_349_423_111 + Int64(index) * 1000,
            channel: isOfList ? nil : "news", content: content
        ).json
    }
    try expectGolden((others[..<first] + json + others[first...]).joined(separator: "\n"), at: file)
    for line in json { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
}
