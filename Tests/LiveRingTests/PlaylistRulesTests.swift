import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// Thousands of random publishes. Every version of every playlist is checked against the playlist rules.
struct PlaylistRulesTests {
    struct Channel {
        var random: SeededGenerator
        var index: RingIndex
        let targetDuration: Int
        var date = noon
        var lastRange: DateRange?

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            targetDuration = Int.random(in: 1...10, using: &random)
            let policy = RetentionPolicy(
                rewind: seed % 4 == 0 ? nil : .seconds(Int.random(in: 0...300, using: &random)),
                byteLimit: Bool.random(using: &random) ? UInt64.random(in: 0...20_000, using: &random) : nil,
                liveWindow: .seconds(Int.random(in: 0...90, using: &random)))
            index = RingIndex(
                policy: policy, targetDuration: targetDuration,
                nextMediaSequence: UInt64.random(in: 0...1_000_000, using: &random))
        }

        mutating func segment(_ n: Int) -> NewSegment {
            let longest = Int64(targetDuration) * 90_000 + 44_999
            let isShort = Int.random(in: 0..<8, using: &random) == 0
            let duration = Int64.random(in: isShort ? 900...longest : longest / 2...longest, using: &random)
            defer { date = date.advanced(by: PlaylistTicks.duration(ticks: duration)) }
            var segment = NewSegment.numbered(
                n, duration: duration, isDiscontinuous: Int.random(in: 0..<6, using: &random) == 0,
                initialization: "init-\(Int.random(in: 0..<3, using: &random)).mp4",
                payloadBytes: Int.random(in: 0...900, using: &random), at: date)
            segment.adMarkers = adMarkers(of: n)
            return segment
        }

        /// A new range, additions to the last one, or a cue tag.
        private mutating func adMarkers(of n: Int) -> SegmentAdMarkers {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                var range = DateRange.random(at: n, using: &random)
                range.startDate = date.advanced(by: .seconds(Int.random(in: -8...20, using: &random)))
                lastRange = range
                return SegmentAdMarkers(dateRanges: [range])
            case 1:
                guard var range = lastRange, range.duration == nil else { return SegmentAdMarkers() }
                range.duration = .seconds(Int.random(in: 1...60, using: &random))
                lastRange = range
                return SegmentAdMarkers(dateRanges: [range])
            case 2: return SegmentAdMarkers(cueTags: ["#EXT-X-CUE-OUT:30"].compactMap { CueTag($0) })
            default: return SegmentAdMarkers()
            }
        }

        /// The channel after a restart.
        mutating func restart() throws {
            let journal = try #require(
                try RingJournal.read(Array(RingJournal(index, hasEnded: false).text.utf8), path: ""))
            var recovered = RingIndex(
                policy: index.policy, targetDuration: targetDuration, nextMediaSequence: journal.mediaSequence,
                discontinuitySequence: journal.discontinuitySequence,
                openDateRanges: journal.openDateRanges)
            for entry in journal.entries { recovered.replay(entry) }
            #expect(recovered.listed == index.listed)
            #expect(recovered.openDateRanges == index.openDateRanges)
            #expect(recovered.entries.suffix(index.listed.count).elementsEqual(index.listed))
            #expect(recovered.nextMediaSequence == index.nextMediaSequence)
            #expect(recovered.discontinuitySequence == index.discontinuitySequence)
            index = recovered
        }
    }

    static let sliding: [RewindRange] = [
        .whole, .last(milliseconds: 45_000), .delayed(milliseconds: 20_000), .between(start: at(20), end: nil),
    ]

    @Test(arguments: UInt64(1)...8)
    func everyVersionKeepsTheRules(seed: UInt64) throws {
        var channel = Channel(seed: seed)
        var versions: [ParsedPlaylist?] = Array(repeating: nil, count: Self.sliding.count + 1)
        var oracles = versions.map { _ in PlaylistOracle() }
        var slid = 0
        for n in 0..<200 {
            let wasInterrupted = Int.random(in: 0..<40, using: &channel.random) == 0
            if wasInterrupted { try channel.restart() }
            if Int.random(in: 0..<50, using: &channel.random) == 0 {
                _ = channel.index.dropOldest(
                    freeing: [300, .max].randomElement(using: &channel.random) ?? 0, keeping: .zero)
            }
            if Int.random(in: 0..<60, using: &channel.random) == 0 { channel.index.stopSliding() }
            if Int.random(in: 0..<30, using: &channel.random) == 0 { channel.index.resumeSliding() }
            channel.index.publish(channel.segment(n), afterInterruption: wasInterrupted)
            let playlists = PublishedPlaylist(index: channel.index, hasEnded: false)
            let new = ([playlists.live] + Self.sliding.map(playlists.rewind)).map {
                $0.map { ParsedPlaylist(text($0)) }
            }
            for (number, (old, new)) in zip(versions, new).enumerated() {
                guard let new else { continue }
                let broken = oracles[number].append(new)
                try #require(broken.isEmpty, "seed \(seed), segment \(n), playlist \(number): \(broken)\n\(new.text)")
                if let old, old.mediaSequence < new.mediaSequence { slid += 1 }
            }
            versions = new
        }
        #expect(slid > 100, "the test needs playlists that slide")
    }

    /// RFC 8216 §6.2.2 without `RingIndex`: when a name left the longest playlist, and the maximum length of that playlist.
    @Test(arguments: UInt64(100)...109)
    func noFileIsRemovedTooEarly(seed: UInt64) {
        var channel = Channel(seed: seed)
        channel.index = RingIndex(
            policy: RetentionPolicy(rewind: .seconds(Int.random(in: 20...200, using: &channel.random))),
            targetDuration: channel.targetDuration)
        var clock: Int64 = 0
        var longest: [String: Int64] = [:]
        var goneAt: [String: Int64] = [:]
        var duration: [String: Int64] = [:]
        var deletions = 0
        for n in 0..<400 {
            let before = channel.index.listed
            let deleted = channel.index.publish(channel.segment(n))
            let listed = channel.index.listed
            clock += listed[listed.endIndex - 1].duration
            let length = listed.reduce(0) { $0 + $1.duration }
            let names = Set(listed.map(\.segment.name))
            for entry in before where !names.contains(entry.segment.name) { goneAt[entry.segment.name] = clock }
            for entry in listed {
                longest[entry.segment.name] = max(longest[entry.segment.name] ?? 0, length)
                duration[entry.segment.name] = entry.duration
            }
            for name in deleted.map(\.name) where name.hasPrefix("seg") {
                deletions += 1
                let due = (goneAt[name] ?? .max) + duration[name]! + longest[name]!
                #expect(clock >= due, "seed \(seed), segment \(n): \(name)")
            }
        }
        #expect(deletions > 50)
    }

    /// The rule check itself finds faults.
    static let faultRows: [(fault: String, old: String, new: String)] = [
        (
            "6/back", "#EXT-X-MEDIA-SEQUENCE:5\n#EXTINF:6,\na\n",
            "#EXT-X-MEDIA-SEQUENCE:4\n#EXTINF:6,\na\n#EXTINF:6,\nb\n"
        ),
        ("12/tail", "#EXTINF:6,\na\n#EXTINF:6,\nb\n", "#EXTINF:6,\na\n"),
        ("8/extinf", "#EXTINF:6,\na\n", "#EXTINF:5,\na\n"),
        ("10/moved", "#EXTINF:6,\na\n", "#EXT-X-DISCONTINUITY\n#EXTINF:6,\na\n"),
        (
            "9/missing", "#EXT-X-DISCONTINUITY\n#EXTINF:6,\na\n#EXTINF:6,\nb\n",
            "#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:6,\nb\n"
        ),
        ("5/changed", "#EXT-X-TARGETDURATION:6\n", "#EXT-X-TARGETDURATION:7\n"),
        ("15/changed", "#EXTINF:6,\na\n#EXT-X-ENDLIST\n", "#EXTINF:6,\na\n#EXTINF:6,\nb\n"),
        (
            "17/changed", "#EXT-X-DATERANGE:ID=\"a\",DURATION=5\n#EXTINF:6,\na\n",
            "#EXT-X-DATERANGE:ID=\"a\",DURATION=6\n#EXTINF:6,\na\n"
        ),
        (
            "promise range", "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(noon.text)\",DURATION=9\n#EXTINF:6,\na\n",
            "#EXT-X-PROGRAM-DATE-TIME:\(at(6).text)\n#EXTINF:6,\na\n"
        ),
        ("promise segment", "#EXTINF:6,\n#EXT-X-CUE-IN\na\n", "#EXTINF:6,\na\n"),
        (
            "13/short", "#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na\n#EXTINF:6,\nb\n",
            "#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:6,\nb\n"
        ),
        ("promise window", "#EXTINF:6,\na\n#EXTINF:6,\nb\n", "#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:6,\nb\n"),
    ]

    @Test(arguments: faultRows)
    func ruleCheckFindsFaults(fault: String, old: String, new: String) {
        let head = "#EXTM3U\n"
        let broken = brokenRules(from: head + old, to: head + new)
        #expect(broken.contains { $0.hasPrefix(fault + ":") }, "\(fault): \(broken)")
    }
}
