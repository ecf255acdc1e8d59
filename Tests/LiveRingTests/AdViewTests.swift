import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// Playlists in which the slate is in the place of ad breaks, or breaks are marked.
struct AdViewTests {
    private static let slate = SlateFiles(
        initialization: InitializationFile(name: "init-slate.mp4", bytes: [1]),
        format: SegmentFormat(videoCodec: "avc1.64000d"), audioConfiguration: nil, frames: "slate".utf8)

    /// A channel of segments of 6 s, where `+` is a discontinuity, `a` an ad with parameters of its own, `p` the program, `x` a
    /// gap, `(` the begin of a signalled break and `)` its end.
    private static func index(_ text: String, from number: Int = 0) -> RingIndex {
        var index = RingIndex(policy: plentiful, targetDuration: 6, nextMediaSequence: UInt64(number))
        var (n, isDiscontinuous, ranges, count) = (0, false, [DateRange](), 0)
        for character in text {
            switch character {
            case "+": isDiscontinuous = true
            case "(":
                count += 1
                ranges.append(.numbered(count, from: at(6 * Int64(n))))
                ranges[ranges.count - 1][splice: .out] = [0xFC]
            case ")":
                ranges.append(.numbered(count, from: at(0)))
                ranges[ranges.count - 1].startDate = nil
                ranges[ranges.count - 1].endDate = at(6 * Int64(n))
            case "x":
                if let newest = index.listed.last {
                    _ = index.publish(index.gap(after: newest, lasting: 540_000, resumePoint: .after(n)))
                }
                n += 1
            default:
                var segment = NewSegment.numbered(
                    n, isDiscontinuous: isDiscontinuous, initialization: "init-\(character).mp4")
                segment.resumePoint.upstream = UpstreamPosition(sourceIndex: 0, mediaSequence: UInt64(n))
                segment.adMarkers.dateRanges = ranges
                index.publish(segment)
                (n, isDiscontinuous, ranges) = (n + 1, false, [])
            }
        }
        return index
    }

    /// Segments 2 to 5 are in an interstitial, and segment 4 begins another range.
    private static var indexWithInterstitial: RingIndex {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        for n in 0..<10 {
            var segment = NewSegment.numbered(n, initialization: "init-p.mp4")
            segment.resumePoint.upstream = UpstreamPosition(sourceIndex: 0, mediaSequence: UInt64(n))
            if n == 2 {
                var range = DateRange.numbered(1, from: at(12))
                range.attributes.set("CLASS", to: "com.apple.hls.interstitial", isQuoted: true)
                range.attributes.set("X-ASSET-URI", to: "https://ads.example/1.m3u8", isQuoted: true)
                range.attributes.set("X-RESUME-OFFSET", to: "24")
                segment.adMarkers.dateRanges = [range]
            }
            index.publish(segment)
        }
        return index
    }

    /// An interstitial is a signalled break. Its own ads are not presented in the place of the slate.
    @Test func interstitialIsASignalledBreak() throws {
        let index = Self.indexWithInterstitial
        let found = AdBreakFinder(index.listed, canGoOn: true).breaks
        #expect(found == [AdBreak(evidence: .signalled, id: "range-1", start: at(12), end: at(36), parts: [])])
        let kept = try #require(PublishedPlaylist(index: index, hasEnded: false).rewind(.whole))
        #expect(Self.text(kept) == "pppppppppp" && kept.segments[2].dateRanges.map(\.id) == ["range-1"])
        let replaced = PublishedPlaylist(index: index, hasEnded: false, ads: .slate(Self.slate))
        let playlist = try #require(replaced.rewind(.whole))
        #expect(Self.text(playlist) == "pp+ssss+pppp")
        #expect(playlist.segments.allSatisfy(\.dateRanges.isEmpty) && playlist.dateRanges.isEmpty)
        // From the middle of the break on, the head has the range, unless the slate is in its place.
        let range = RewindRange.between(start: at(24), end: nil)
        let later = PublishedPlaylist(index: index, hasEnded: false)
        #expect(try #require(later.rewind(range)).dateRanges.map(\.id) == ["range-1"])
        #expect(try #require(replaced.rewind(range)).dateRanges.isEmpty)
    }

    private static func snapshot(_ index: RingIndex, hasEnded: Bool = false) -> RingSnapshot {
        RingSnapshot(
            version: 1, index: index, hasEnded: hasEnded, rewindDrops: 0, housekeepingError: nil, directory: "")
    }

    private static func playlist(_ bytes: [UInt8]?) throws -> MediaPlaylist {
        try MediaPlaylistParser.parse(try #require(bytes))
    }

    /// The segments as in `index`, with `s` for one of the slate.
    private static func text(_ playlist: MediaPlaylist) -> String {
        playlist.segments.map { segment in
            let name = segment.map?.uri.dropFirst(5).first ?? "?"
            return (segment.isDiscontinuous ? "+" : "") + (segment.isGap ? "x" : String(name))
        }.joined()
    }

    static let rows: [(when: String, channel: String, listed: String)] = [
        ("no break", "ppp+ap", "ppp+ap"),
        ("a break between two splices", "pp(+aa+)pp", "pp+ss+pp"),
        ("a pod", "pp(+a+aa+a+)pp", "pp+s+ss+s+pp"),
        ("a break without a splice", "pp(pp)pp", "pp+ss+pp"),
        ("a splice at its begin alone", "pp(+aa)pp", "pp+ss+pp"),
        ("two breaks, one after the other", "pp(pp)(pp)p", "pp+ssss+p"),
        ("a gap in a break", "pp(+aaxa+)pp", "pp+ssxs+pp"),
        ("a break that lasts", "pp(+aa", "pp+ss"),
        ("a break from the first segment on", "(pp)pp", "+ss+pp"),
    ]

    @Test(arguments: rows)
    func theSlateIsInThePlaceOfSignalledBreaks(when: String, channel: String, listed: String) throws {
        let index = Self.index(channel)
        let plain = try Self.playlist(Self.snapshot(index).dvrPlaylist(.whole))
        let view = try Self.playlist(Self.snapshot(index).dvrPlaylist(.whole, ads: .slate(Self.slate)))
        #expect(Self.text(view) == listed, "\(when)")
        #expect(view.segments.map(\.mediaSequence) == plain.segments.map(\.mediaSequence), "\(when)")
        #expect(view.segments.map(\.duration) == plain.segments.map(\.duration), "\(when)")
        #expect(view.segments.map(\.programDateTime) == plain.segments.map(\.programDateTime), "\(when)")
        #expect(view.segments.map(\.dateRanges) == plain.segments.map(\.dateRanges), "\(when)")
    }

    /// A version of a sliding playlist says of each segment what all others say, also after a restart.
    @Test(arguments: UInt64(1)...12) func segmentsAndTheirNumbersNeverChange(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var text = "pp"
        while text.count < 300 {
            text += ["p", "pp", "+a", "(pp)p", "(+a+a+)p", "(+aa)p", "x", "ppp+aa+p"].randomElement(using: &random)!
        }
        let whole = Self.index(text)
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(200)), targetDuration: 6)
        var known: [UInt64: (uri: String, sequence: UInt64, isDiscontinuous: Bool)] = [:]
        for (count, entry) in whole.entries.enumerated() {
            _ = index.publish(entry)
            if count % 50 == 49 {
                // A restart.
                let journal = try #require(
                    try RingJournal.read(Array(RingJournal(index, hasEnded: false).text.utf8), path: ""))
                #expect(journal.entries == index.entries)
            }
            for bytes in [
                Self.snapshot(index).dvrPlaylist(.whole, ads: .slate(Self.slate)),
                Self.snapshot(index).livePlaylist(ads: .slate(Self.slate)),
            ] {
                let playlist = try Self.playlist(bytes)
                for segment in playlist.segments {
                    let now = (segment.uri, segment.discontinuitySequence, segment.isDiscontinuous)
                    let before = known.updateValue(now, forKey: segment.mediaSequence)
                    #expect(before.map { $0 == now } ?? true, "\(segment.mediaSequence)")
                }
            }
        }
        #expect(known.count == whole.entries.count)
    }

    /// Breaks that are found once they are over: where no player has loaded the segments.
    @Test func foundBreaksAreReplacedInClosedRanges() throws {
        let index = Self.index("ppp+aa+pppppppppppppppppppppp")
        let snapshot = Self.snapshot(index)
        func listed(to seconds: Int64) throws -> String {
            let selection = try #require(snapshot.selection(of: .between(start: at(0), end: at(seconds))))
            return Self.text(try Self.playlist(snapshot.dvrPlaylist(selection, ads: .slate(Self.slate))))
        }
        #expect(try listed(to: 42) == "ppp+ss+pp", "closed")
        #expect(try listed(to: 4000) == "ppp+aa+pppppppppppppppppppppp", "growing")
    }

    @Test func breaksThatNobodySignalsAreMarkedWhenTheyEnd() throws {
        let index = Self.index("ppppp+a+b+ppp(+a+)p+p+pp")
        let ranges = { (ads: AdView) in
            try Self.playlist(Self.snapshot(index).dvrPlaylist(.whole, ads: ads)).segments.map(\.dateRanges)
        }
        let plain = try ranges(.keep)
        #expect(plain.map(\.count) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0])
        let marked = try ranges(.mark)
        #expect(marked.map(\.count) == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0])
        let found = try #require(marked[7].first)
        #expect(found.id == "break-7" && found.startDate == at(30) && found.end == at(42))
        #expect(found.className == "liverelay.break")
        #expect(try ranges(.slate(Self.slate)) == plain)
    }
}
