@testable import Support
import Playlist
import TestSupport
import Testing

@testable import LiveRing

struct RewindRangeTests {
    struct Answer: Equatable, Sendable {
        var numbers: Range<UInt64>
        var type: MediaPlaylist.PlaylistType?
        var hasEndList = false
        var hasStart = false
    }

    /// The ring holds segments 10 ..< 30, noon + 60 s to noon + 180 s.
    static let rows: [(when: String, query: [String: String], hasEnded: Bool, rewind: Duration?, answer: Answer?)] = [
        ("the whole ring slides", [:], false, .seconds(120), Answer(numbers: 10..<30)),
        ("the whole ring, ended", [:], true, .seconds(120), Answer(numbers: 10..<30, hasEndList: true)),
        (
            "a closed range in the past", ["start": "2026-01-02T12:01:12Z", "end": "2026-01-02T12:01:24Z"], false,
            .seconds(120), Answer(numbers: 12..<14, type: .vod, hasEndList: true)
        ),
        (
            "partly covered segments are listed",
            ["start": "2026-01-02T12:01:17.999Z", "end": "2026-01-02T12:01:24.001Z"], false, .seconds(120),
            Answer(numbers: 12..<15, type: .vod, hasEndList: true)
        ),
        (
            "the same in unix seconds", ["start": "1767355277.999", "end": "1767355284.001"], false, .seconds(120),
            Answer(numbers: 12..<15, type: .vod, hasEndList: true)
        ),
        (
            "another zone, its plus decoded as a space",
            ["start": "2026-01-02T13:01:12 01:00", "end": "2026-01-02T07:01:24-05:00"], false, .seconds(120),
            Answer(numbers: 12..<14, type: .vod, hasEndList: true)
        ),
        (
            "up to the edge exactly: a viewer may have seen it grow",
            ["start": "2026-01-02T12:02:48Z", "end": "2026-01-02T12:03:00Z"], false,
            .seconds(120), Answer(numbers: 28..<30, type: .event, hasEndList: true, hasStart: true)
        ),
        (
            "complete for a millisecond less than a live window",
            ["start": "2026-01-02T12:02:00Z", "end": "2026-01-02T12:02:30.001Z"], false,
            .seconds(120), Answer(numbers: 20..<26, type: .event, hasEndList: true, hasStart: true)
        ),
        (
            "complete for a live window", ["start": "2026-01-02T12:02:00Z", "end": "2026-01-02T12:02:30Z"], false,
            .seconds(120), Answer(numbers: 20..<25, type: .vod, hasEndList: true)
        ),
        (
            "complete, beyond the retention", ["start": "2026-01-02T12:01:06Z", "end": "2026-01-02T12:03:00Z"], false,
            .seconds(120), Answer(numbers: 11..<30, hasEndList: true, hasStart: true)
        ),
        (
            "an end in the future, within the retention",
            ["start": "2026-01-02T12:02:48Z", "end": "2026-01-02T12:04:00Z"],
            false, .seconds(120), Answer(numbers: 28..<30, type: .event, hasStart: true)
        ),
        (
            "an end in the future, beyond the retention",
            ["start": "2026-01-02T12:02:48Z", "end": "2026-01-02T12:05:00Z"],
            false, .seconds(120), Answer(numbers: 28..<30, hasStart: true)
        ),
        (
            "an end in the future, evicted before it is closed",
            ["start": "2026-01-02T12:02:48Z", "end": "2026-01-02T12:04:19Z"],
            false, .seconds(120), Answer(numbers: 28..<30, hasStart: true)
        ),
        (
            "an end in the future of a channel that ended",
            ["start": "2026-01-02T12:02:48Z", "end": "2026-01-02T12:04:00Z"], true, .seconds(120),
            Answer(numbers: 28..<30, type: .event, hasEndList: true, hasStart: true)
        ),
        (
            "a start without an end slides", ["start": "2026-01-02T12:02:00Z"], false, .seconds(120),
            Answer(numbers: 20..<30, hasStart: true)
        ),
        (
            "a start without an end slides even where nothing is evicted by rule", ["start": "2026-01-02T12:02:00Z"],
            false, nil,
            Answer(numbers: 20..<30, hasStart: true)
        ),
        (
            "an evicted start: from the oldest segment", ["start": "2026-01-02T11:00:00Z"], false, .seconds(120),
            Answer(numbers: 10..<30, hasStart: true)
        ),
        (
            "an evicted start and an end in the future slide",
            ["start": "2026-01-02T12:00:59Z", "end": "2026-01-02T12:03:01Z"], false, .seconds(7200),
            Answer(numbers: 10..<30, hasStart: true)
        ),
        (
            "only an end", ["end": "2026-01-02T12:01:12Z"], false, .seconds(120),
            Answer(numbers: 10..<12, type: .vod, hasEndList: true)
        ),
        (
            "an evicted range", ["start": "2026-01-02T11:00:00Z", "end": "2026-01-02T12:00:30Z"], false,
            .seconds(120), nil
        ),
        ("a range in the future", ["start": "2026-01-02T12:03:00Z"], false, .seconds(120), nil),
        ("the last minute", ["last": "60"], false, .seconds(120), Answer(numbers: 20..<30)),
        ("the last second: six segments at least", ["last": "1"], false, .seconds(120), Answer(numbers: 24..<30)),
        ("longer than the ring", ["last": "86400"], false, .seconds(120), Answer(numbers: 10..<30)),
        ("a minute of delay", ["delay": "60"], false, .seconds(120), Answer(numbers: 14..<20)),
        ("no delay", ["delay": "0"], false, .seconds(120), Answer(numbers: 24..<30)),
        ("longer than the ring: the maximum delay", ["delay": "999"], false, .seconds(120), Answer(numbers: 10..<16)),
        (
            "a delay at the end of the channel", ["delay": "60"], true, .seconds(120),
            Answer(numbers: 14..<30, hasEndList: true)
        ),
        ("a cache's own parameter", ["_": "1"], false, .seconds(120), Answer(numbers: 10..<30)),
    ]

    @Test(arguments: rows)
    func answers(
        when: String, query: [String: String], hasEnded: Bool, rewind: Duration?, answer: Answer?
    ) throws {
        var index = RingIndex(policy: RetentionPolicy(rewind: rewind), targetDuration: 6)
        for entry in RingIndex.filled(30, policy: RetentionPolicy(rewind: .seconds(120))).entries {
            index.replay(entry)
        }
        let range = try RewindRange(query: query.map { ($0.key, $0.value) })
        let playlist = PublishedPlaylist(index: index, hasEnded: hasEnded).rewind(range)
        let actual = playlist.map {
            Answer(
                numbers: $0.mediaSequence..<($0.mediaSequence + UInt64($0.segments.count)), type: $0.playlistType,
                hasEndList: $0.hasEndList, hasStart: $0.startsAtBeginning)
        }
        #expect(actual == answer, "\(when)")
        if playlist != nil { #expect(brokenRules(in: text(playlist), isLive: false).isEmpty, "\(when)") }
    }

    /// The playlist of a range from its first segment until after its end: only segments and EXT-X-ENDLIST are added.
    @Test(arguments: [Duration?.none, .seconds(120)])
    func growingRangeOnlyGetsAnEnd(rewind: Duration?) throws {
        let policy = RetentionPolicy(rewind: rewind)
        var index = RingIndex(policy: policy, targetDuration: 6)
        let range = RewindRange.between(start: LiveRingTests.at(60), end: LiveRingTests.at(120))
        var before: MediaPlaylist?
        for n in 0..<24 {
            index.publish(.numbered(n))
            guard let playlist = PublishedPlaylist(index: index, hasEnded: false).rewind(range) else { continue }
            if var expected = before, expected.segments.count < playlist.segments.count || !expected.hasEndList {
                (expected.segments, expected.hasEndList) = (playlist.segments, playlist.hasEndList)
                #expect(playlist == expected)
            }
            before = playlist
        }
        #expect(before?.hasEndList == true)
        #expect(before?.segments.count == 10)
    }

    static let badQueries: [(query: [String: String], refusal: RewindRange.BadQuery)] = [
        (["start": "yesterday"], .value(name: "start", value: "yesterday")),
        (["end": ""], .value(name: "end", value: "")),
        (["start": "1e9"], .value(name: "start", value: "1e9")),
        (["start": "99999999999999999999"], .value(name: "start", value: "99999999999999999999")),
        (["last": "-5"], .value(name: "last", value: "-5")),
        (["last": "0"], .value(name: "last", value: "0")),
        (["last": "1."], .value(name: "last", value: "1.")),
        (["delay": "999999999"], .value(name: "delay", value: "999999999")),
        (["start": "100", "end": "100"], .emptyRange),
        (["start": "101", "end": "100"], .emptyRange),
    ]

    @Test(arguments: badQueries)
    func refusesUnusableKeysAndBodies(query: [String: String], refusal: RewindRange.BadQuery) {
        #expect(throws: refusal) { try RewindRange(query: query.map { ($0.key, $0.value) }) }
    }
}
