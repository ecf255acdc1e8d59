import Support
import TestSupport
import Testing

@testable import Conformance

/// A fault, the clean capture into which it is planted, and what is found then, and nothing else.
struct PlantedHLSFault: CustomTestStringConvertible, Sendable {
    let when: String
    let capture: String
    let expected: Set<String>
    let plant: @Sendable (inout FaultScene) -> Void

    init(
        _ expected: String, _ when: String, in capture: String = "clean",
        _ plant: @escaping @Sendable (inout FaultScene) -> Void
    ) {
        self.when = when
        self.capture = capture
        self.expected = Set(expected.split(separator: " ").map(String.init))
        self.plant = plant
    }

    var testDescription: String { "\(expected.sorted().joined(separator: " ")): \(when)" }

    static let all = text + overTime + media + renditions + transfers

    // MARK: - One text

    static let text: [PlantedHLSFault] = [
        .init("1/bom", "a byte order mark") { $0.replace("#EXTM3U", "\u{FEFF}#EXTM3U") },
        .init("1/extm3u", "a comment before #EXTM3U") { $0.replace("#EXTM3U", "\n#EXTM3U") },
        .init("1/control", "a control character in a title") { $0.replace("2.000,", "2.000,a\u{7}b") },
        .init("1/utf-8", "a title in Latin-1") { scene in
            for index in scene.versions("main.m3u8") {
                let place = scene.answers[index].body.firstIndex(of: 0x2C)!
                scene.answers[index].body.insert(0xE9, at: place + 1)
            }
        },
        .init("2/duplicate", "TARGETDURATION twice") { $0.head("#EXT-X-TARGETDURATION:2") },
        .init("2/duplicate", "EXTINF twice") { $0.replace("#EXTINF:2.000,\n", "#EXTINF:2.000,\n#EXTINF:2.000,\n") },
        .init("2/malformed", "MEDIA-SEQUENCE with a sign") { $0.head("#EXT-X-PLAYLIST-TYPE:LIVE") },
        .init("2/late-sequence", "DISCONTINUITY-SEQUENCE after a segment") {
            $0.edit { $0 + "#EXT-X-DISCONTINUITY-SEQUENCE:0\n" }
        },
        .init("2/no-uri", "EXTINF at the end") { $0.edit { $0 + "#EXTINF:2.000,\n" } },
        .init("2/mixed", "a tag of a multivariant playlist") {
            $0.head("#EXT-X-SESSION-DATA:DATA-ID=\"a\",VALUE=\"b\"")
        },
        .init("2/attribute-twice", "an attribute twice") { $0.head("#EXT-X-START:TIME-OFFSET=1,TIME-OFFSET=2") },
        .init("2/quotes", "a quoted number") { $0.head("#EXT-X-START:TIME-OFFSET=\"1\"") },
        .init("2/missing-time-offset", "START without TIME-OFFSET") { $0.head("#EXT-X-START:PRECISE=YES") },
        .init("2/white-space", "white space at the end of a line") { $0.replace("DURATION:2\n", "DURATION:2 \n") },
        .init("3/low", "fractions without VERSION") { $0.replace("#EXT-X-VERSION:3\n", "") },
        .init("3/low", "VERSION 3 with EXT-X-MAP", in: "fmp4_maps") { $0.replace("VERSION:7", "VERSION:3") },
        .init("4/exceeds", "TARGETDURATION 1") { $0.replace("TARGETDURATION:2", "TARGETDURATION:1") },
        .init("4/missing", "no TARGETDURATION") { $0.replace("#EXT-X-TARGETDURATION:2\n", "") },
        .init("16/against-extinf", "a date 5 s late") { scene in
            scene.replace("12:00:04.000Z", "12:00:09.000Z")
            scene.edit { Self.dates($0, from: 6, by: 5) }
        },
        .init("17/ends-early", "a range that ends before it starts") {
            $0.head("#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T12:00:02Z\",END-DATE=\"2026-01-01T12:00:01Z\"")
        },
        .init("17/no-start", "a range without START-DATE") { $0.head("#EXT-X-DATERANGE:ID=\"a\",DURATION=2") },
        .init("17/end-on-next", "END-ON-NEXT without CLASS") {
            $0.head("#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T12:00:02Z\",END-ON-NEXT=YES")
        },
        .init("18/cue", "a break that is announced with 40 s", in: "cue_tags") {
            $0.replace("CUE-OUT:30.012", "CUE-OUT:40")
        },
        .init("19/two-assets", "an interstitial with both attributes") {
            $0.head(
                "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T12:00:02Z\","
                    + "X-ASSET-URI=\"http://ads.example/a.m3u8\",X-ASSET-LIST=\"list.json\"")
        },
        .init("19/relative", "an X-ASSET-URI that is relative") {
            $0.head(
                "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T12:00:02Z\","
                    + "X-ASSET-URI=\"a.m3u8\"")
        },
        .init("19/list", "an asset list that is a page") { scene in
            scene.head(
                "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T12:00:02Z\","
                    + "X-ASSET-LIST=\"list.json\"")
            scene.answers.append(
                CheckedAnswer(
                    url: "http://channel.example/list.json", body: Array("<html>".utf8),
                    time: AnswerTime(requested: .seconds(1), received: .seconds(1))))
        },
        .init("42/no-part-inf", "parts without PART-INF") { scene in
            scene.head("#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=1.5")
            scene.edit { $0 + "#EXT-X-PART:DURATION=0.5,URI=\"p.ts\"\n" }
        },
        .init("42/long-part", "a part above PART-TARGET") { scene in
            scene.head("#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=1.5\n#EXT-X-PART-INF:PART-TARGET=0.5")
            scene.edit { $0 + "#EXT-X-PART:DURATION=0.75,URI=\"p.ts\"\n" }
        },
        .init("42/hold-back", "HOLD-BACK of two target durations") {
            $0.head("#EXT-X-SERVER-CONTROL:HOLD-BACK=4")
        },
    ]

    /// Moves the dates from `second` on.
    private static func dates(_ text: String, from second: Int, by seconds: Int) -> String {
        text.replacing(/12:00:(\d\d)\.000Z/) { match in
            let value = Int(match.output.1)!
            guard value >= second, value != 9 else { return String(match.output.0) }
            return "12:00:\(value + seconds < 10 ? "0" : "")\(value + seconds).000Z"
        }
    }

    // MARK: - Over time

    static let overTime: [PlantedHLSFault] = [
        .init("5/changed", "another TARGETDURATION", in: "ssai_tagged") {
            $0.replace("TARGETDURATION:2", "TARGETDURATION:3", from: $0.pick(3..<20))
        },
        .init("6/back", "numbers from 0 on", in: "ssai_tagged") { scene in
            let first = scene.pick(3..<10)
            scene.edit(from: first) { Self.renumbered($0, by: -100) }
        },
        .init("7/shift", "numbers that jump by 10", in: "ssai_tagged") { scene in
            let first = scene.pick(3..<10)
            scene.edit(from: first) { Self.renumbered($0, by: 10) }
        },
        .init("8/extinf", "another EXTINF of a listed segment") {
            $0.edit(from: 1, to: 2) { $0.replacing("#EXTINF:2.000,\nclean-02.ts", with: "#EXTINF:2.001,\nclean-02.ts") }
            $0.edit(from: 2) { $0.replacing("#EXTINF:2.000,\nclean-02.ts", with: "#EXTINF:2.001,\nclean-02.ts") }
        },
        .init("8/uri", "another URI of a listed segment") {
            $0.edit(from: 1) { $0.replacing("clean-02.ts", with: "clean-02b.ts") }
        },
        .init("9/count", "a discontinuity that is not counted", in: "ssai_tagged") {
            $0.edit { $0.replacing(/DISCONTINUITY-SEQUENCE:[0-9]+/, with: "DISCONTINUITY-SEQUENCE:0") }
        },
        .init("9/missing", "no DISCONTINUITY-SEQUENCE", in: "ssai_tagged") {
            $0.edit { $0.replacing(/#EXT-X-DISCONTINUITY-SEQUENCE:[0-9]+\n/, with: "") }
        },
        .init("10/moved 27/nothing", "a tag that comes late") {
            $0.insert("#EXT-X-DISCONTINUITY", before: "clean-02.ts", from: 1)
            $0.insert("#EXT-X-DISCONTINUITY", before: "clean-04.ts", from: 2)
        },
        .init("11/silent", "no new segment for 20 s", in: "ssai_tagged") { scene in
            let count = scene.pick(2..<6)
            scene.removeVersions(after: count)
            let last = scene.answers[scene.versions("main.m3u8").last!]
            for second in 10..<30 {
                var again = last
                again.time = AnswerTime(requested: .seconds(second), received: .seconds(second))
                scene.answers.append(again)
            }
        },
        .init("12/tail", "the newest segment is taken back", in: "ssai_tagged") { scene in
            let index = scene.versions("main.m3u8")[scene.pick(3..<8)]
            var again = scene.answers[index]
            again.body = Array(
                String(decoding: again.body, as: UTF8.self).split(separator: "\n").dropLast(3)
                    .joined(separator: "\n").utf8)
            scene.answers.insert(again, at: index + 1)
        },
        .init("12/middle", "a segment between others is removed", in: "ssai_tagged") { scene in
            let first = scene.pick(2..<4)
            scene.edit { $0.replacing(/#EXT-X-PROGRAM-DATE-TIME:[^\n]*\n/, with: "") }
            scene.edit(from: first, to: first + 1) { text in
                text.replacing("#EXTINF:2.000,\nmain-05.ts\n", with: "")
            }
            scene.removeVersions(after: first)
        },
        .init("12/type", "segments leave an EVENT playlist", in: "ssai_tagged") {
            $0.head("#EXT-X-PLAYLIST-TYPE:EVENT")
        },
        .init("13/short", "a window of two target durations", in: "ssai_tagged") {
            $0.replace("TARGETDURATION:2", "TARGETDURATION:6")
        },
        .init("15/changed", "segments after ENDLIST", in: "ssai_tagged") {
            $0.edit(from: 4, to: 5) { $0 + "#EXT-X-ENDLIST\n" }
        },
        .init("16/changed", "the dates of listed segments move", in: "ssai_tagged") { scene in
            scene.edit(from: scene.pick(2..<8)) { $0.replacing("T12:", with: "T13:") }
        },
        .init("16/drift", "dates that run 2 % slow", in: "ssai_tagged") { scene in
            scene.edit { text in
                text.replacing(/12:(\d\d):(\d\d)\.(\d\d\d)Z/) { match in
                    let seconds = Int(match.output.1)! * 60 + Int(match.output.2)!
                    let time = (seconds * 1000 + Int(match.output.3)!) * 92 / 100
                    return "12:\(Self.two(time / 60_000)):\(Self.two(time / 1000 % 60)).\(Self.three(time % 1000))Z"
                }
            }
        },
        .init("17/changed", "a range with another DURATION") { scene in
            scene.head("#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T12:00:02Z\",DURATION=2")
            scene.replace("DURATION=2", "DURATION=3", from: 1)
        },
        .init("17/reused", "an ID that comes again") { scene in
            scene.head("#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T12:00:02Z\",DURATION=2")
            scene.replace("START-DATE=\"2026-01-01T12:00:02Z\"", "START-DATE=\"2026-01-01T12:00:04Z\"", from: 1)
        },
        .init("39/stale-edge", "an older version", in: "ssai_tagged") { scene in
            let versions = scene.versions("main.m3u8")
            let number = scene.pick(4..<9)
            var again = scene.answers[versions[number - 2]]
            again.time = scene.answers[versions[number]].time
            scene.answers.insert(again, at: versions[number] + 1)
        },
    ]

    private static func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
    private static func three(_ number: Int) -> String { (number < 100 ? "0" : "") + two(number) }

    private static func renumbered(_ text: String, by offset: Int) -> String {
        text.replacing(/MEDIA-SEQUENCE:([0-9]+)/) { "MEDIA-SEQUENCE:\(Int($0.output.1)! + offset)" }
    }
}

extension FaultScene {
    mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &seed) }

    /// Ends the channel after a version of its playlist.
    mutating func removeVersions(after number: Int) {
        let later = Set(versions("main.m3u8").dropFirst(number + 1))
        answers = answers.enumerated().filter { !later.contains($0.offset) }.map(\.element)
    }
}
