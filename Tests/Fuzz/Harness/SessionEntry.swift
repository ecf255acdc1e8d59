import Playlist
import TrackerTestSupport

@testable import Fetch
@testable import Tracker

/// Entry for the intake of a channel: what is followed, fetched and delivered, whatever the upstream answers.
enum SessionEntry {
    private static let separator: UInt8 = 0xF7
    private static let steps = 150

    /// Each part is an answer, given in turns to whatever is asked for. Its first byte selects status and delay, that of
    /// the first answer the policy as well.
    static let entry = FuzzEntry(
        "session", "the answers of an upstream, in the order of its requests", largest: 4096,
        dictionary: PlaylistEntries.words + [
            "\u{8}#EXTM3U\n", "#EXT-X-MEDIA-SEQUENCE:18446744073709551615\n", "#EXT-X-TARGETDURATION:0\n",
            "#EXT-X-ENDLIST\n", "#EXTINF:6,\n", "#EXTINF:9223372036,\n", "#EXT-X-DISCONTINUITY\n",
            "#EXT-X-DISCONTINUITY-SEQUENCE:18446744073709551615\n", "#EXT-X-BYTERANGE:9@9223372036854775807\n",
            "#EXT-X-PROGRAM-DATE-TIME:9999-12-31T23:59:59Z\n", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n",
            "#EXT-X-MAP:URI=\"m\"\n", "#EXT-X-GAP\n", "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,HOLD-BACK=",
            [separator],
            [separator, 0], [separator, 8], [0x47, 0x40, 0, 0x10],
        ],
        // An answer is read again at each reload, and every reload keeps what it lists.
        bounds: FuzzBounds(
            heldBytes: FuzzBound(base: 4 << 20, perByte: 1024), allocations: FuzzBound(base: 100_000, perByte: 1000),
            copiedBytes: FuzzBound(base: 32 << 20, perByte: 40_000), steps: FuzzBound(base: 8 << 20, perByte: 40_000)),
        seeds: { seeds in
            let playlists = seeds.playlists.filter { $0.count < 1500 }
            let pairs = zip(playlists.suffix(12), playlists.suffix(12).dropFirst())
            return pairs.map { answers([(0, $0), (0, $1)]) } + written
        },
        run: { bytes in
            guard let first = bytes.first else { return }
            let parts = bytes.split(separator: separator, maxSplits: 15, omittingEmptySubsequences: false)
            try run(parts.map { ($0.first ?? 0, Array($0.dropFirst())) }, policy(first))
        })

    private static func policy(_ control: UInt8) -> UpstreamSession.Policy {
        var policy = UpstreamSession.Policy(variant: .highest, giveUp: .seconds(60), maxConnections: 3)
        policy.polling = PollingMode.allCases[Int(control >> 6) % PollingMode.allCases.count]
        policy.fetchesMedia = control & 0x20 == 0
        if control & 0x10 != 0 { policy.maxConnections = nil }
        return policy
    }

    /// Carries out the effects until nothing is due, or for so many steps.
    private static func run(_ answers: [(control: UInt8, body: [UInt8])], _ policy: UpstreamSession.Policy) throws {
        var session = UpstreamSession(upstream: "http://a.example/b/c.m3u8", policy: policy)
        var inputs = [UpstreamSession.Input.start]
        var (fetches, wake, now): ([Transfer], Duration?, Duration) = ([], nil, .zero)
        for _ in 0..<steps {
            if inputs.isEmpty {
                let transfer = fetches.indices.min { (fetches[$0].at, $0) < (fetches[$1].at, $1) }
                if let transfer, wake.map({ fetches[transfer].at <= $0 }) ?? true {
                    now = max(now, fetches[transfer].at)
                    let ended = fetches.remove(at: transfer)
                    inputs.append(.answered(ended.id, ended.outcome))
                } else if let due = wake {
                    (now, wake) = (max(now, due), nil)
                    inputs.append(.wake)
                } else {
                    return
                }
            }
            for effect in session.handle(inputs.removeFirst(), at: now) {
                switch effect {
                case .fetch(let id, let request):
                    fetches.append(Transfer(id, request, answers[Int(id.number) % answers.count], at: now))
                case .cancel(let id): fetches.removeAll { $0.id == id }
                case .wake(let time): wake = time
                case .deliver(let delivery) where delivery.isMedia: inputs.append(.delivered(delivery, .published))
                case .probe(let delivery): inputs.append(.probed(delivery, .published))
                case .deliver: break
                case .report(let event): _ = event.text
                case .end: return
                }
            }
            let status = session.status
            try demand(status.phase != .over, "a session that is over without an end")
            try demand(fetches.count <= 200, "\(fetches.count) requests at once")
        }
    }

    private struct Transfer {
        let id: FetchID
        let at: Duration
        let outcome: FetchOutcome

        init(_ id: FetchID, _ request: FetchRequest, _ answer: (control: UInt8, body: [UInt8]), at now: Duration) {
            self.id = id
            at = now + .milliseconds([0, 200, 3000, 20_000][Int(answer.control >> 3 & 3)])
            let status = [200, 200, 206, 404, 503, 429, 302, 0][Int(answer.control & 7)]
            outcome =
                status == 0
                ? .failure(FetchError(.timedOut, url: request.url))
                : .success(
                    FetchAnswer(
                        status: status, finalURL: request.url, headers: AnswerEntry.headers(status), body: answer.body,
                        endsAtClose: answer.control & 1 != 0))
        }
    }

    // MARK: - Seeds

    private static func answers(_ parts: [(control: UInt8, body: [UInt8])]) -> [UInt8] {
        Array(parts.map { [$0.control] + $0.body }.joined(separator: [separator]))
    }

    private static let media: [UInt8] = [0x47, 0x40, 0, 0x10] + Array(repeating: 0, count: 184)

    /// A live playlist that grows and restarts its numbers, ranges and keys, an end, and a multivariant playlist.
    private static var written: [[UInt8]] {
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:"
        let segments = (0..<6).map { "#EXTINF:2,\n\($0).ts\n" }
        func live(_ number: String, _ range: Range<Int>, _ tags: String = "") -> [UInt8] {
            Array((head + number + "\n" + tags + segments[range].joined()).utf8)
        }
        let renditions = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="a.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="s",URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a",SUBTITLES="s"
            v.m3u8

            """
        return [
            answers([(0, live("7", 0..<3)), (0, media), (0, live("8", 1..<4)), (8, live("2", 0..<5))]),
            answers([(0, live("18446744073709551610", 0..<4)), (0, media), (0, live("18446744073709551615", 0..<6))]),
            answers([(0, Array(renditions.utf8)), (0, live("1", 0..<4)), (0, live("1", 0..<4)), (0, media)]),
            answers([
                (0, live("1", 0..<3, "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-MAP:URI=\"m\",BYTERANGE=\"8@4\"\n")),
                (0, Array(repeating: 0x41, count: 16)), (2, media), (4, []), (5, []),
            ]),
            answers([(0x40, live("1", 0..<3, "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n")), (0x18, media), (7, [])]),
            answers([(0x80, live("1", 0..<6) + Array("#EXT-X-ENDLIST\n".utf8)), (0, media), (3, [])]),
        ]
    }
}
