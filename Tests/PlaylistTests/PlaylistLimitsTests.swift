import Testing

@testable import Playlist
@testable import Support

/// A playlist text in one dimension of which there are `count` units.
private struct Dimension: Sendable {
    let limit: PlaylistLimit
    let when: String
    let text: @Sendable (_ count: Int) -> String

    init(_ limit: PlaylistLimit, _ when: String, _ text: @escaping @Sendable (_ count: Int) -> String) {
        (self.limit, self.when, self.text) = (limit, when, text)
    }

    func bytes(_ count: Int) -> [UInt8] { Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(text(count))".utf8) }
}

private func lines(_ count: Int, _ line: (Int) -> String) -> String { (0..<count).map { line($0) + "\n" }.joined() }

private let segment = "#EXTINF:6,\na.ts\n"
private let variable = "#EXT-X-DEFINE:NAME=\"v\",VALUE=\"0123456789\"\n"

private let dimensions: [Dimension] = [
    Dimension(.segments, "segments") { lines($0) { "#EXTINF:6,\n\($0).ts" } },
    Dimension(.linesPerSegment, "cue tags before one segment") { lines($0) { "#EXT-X-CUE-OUT:\($0)" } + segment },
    Dimension(.linesPerSegment, "comments in the head") { lines($0) { "# \($0)" } + segment },
    Dimension(.linesPerSegment, "cue tags after the last URI") { segment + lines($0) { "#EXT-X-CUE-OUT:\($0)" } },
    Dimension(.verbatimLines, "one cue tag before each segment") { lines($0) { "#EXT-X-CUE-IN\n#EXTINF:6,\n\($0)" } },
    Dimension(.variables, "variables") { lines($0) { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"1\"" } + segment },
    Dimension(.keyFormats, "keys of one segment, each with another KEYFORMAT") {
        lines($0) { "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"f\($0)\"" } + segment
    },
    Dimension(.dateRanges, "date ranges in the head") { lines($0) { "#EXT-X-DATERANGE:ID=\"\($0)\"" } + segment },
    Dimension(.dateRanges, "date ranges before one segment") {
        segment + lines($0) { "#EXT-X-DATERANGE:ID=\"\($0)\"" } + segment
    },
    Dimension(.dateRanges, "date ranges after the last URI") {
        segment + lines($0) { "#EXT-X-DATERANGE:ID=\"\($0)\"" }
    },
    Dimension(.dateRanges, "a date range before each segment") {
        lines($0) { "#EXTINF:6,\n\($0).ts\n#EXT-X-DATERANGE:ID=\"\($0)\"" }
    },
    Dimension(.expandedBytes, "URIs with a variable") { variable + lines($0) { _ in "#EXTINF:6,\n{$v}" } },
    Dimension(.lineBytes, "bytes of a URI") { "#EXTINF:6,\n\(String(repeating: "a", count: $0))\n" },
    Dimension(.lineBytes, "bytes of a comment") { "#\(String(repeating: "a", count: $0))\n" + segment },
    Dimension(.lineBytes, "bytes of the title of an EXTINF") {
        "#EXTINF:6,\(String(repeating: "a", count: $0))\na.ts\n"
    },
]

/// The same of multivariant playlists.
private let multivariantDimensions: [Dimension] = [
    Dimension(.renditions, "variants") { lines($0) { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\nv\($0)" } },
    Dimension(.renditions, "renditions") { lines($0) { "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\($0)\"" } },
    Dimension(.linesPerSegment, "comments") { lines($0) { "# \($0)" } },
    Dimension(.lines, "URIs without a variant") { lines($0) { "v\($0)" } },
    Dimension(.variables, "variables") { lines($0) { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"1\"" } },
    Dimension(.expandedBytes, "URIs with a variable") {
        variable + lines($0) { _ in "#EXT-X-STREAM-INF:BANDWIDTH=1\n{$v}" }
    },
]

/// Small limits, each of which only its own rows reach.
private func limits(_ limit: PlaylistLimit, _ value: Int) -> PlaylistLimits {
    var limits = PlaylistLimits.none
    limits[limit] = value
    return limits
}

@Suite struct PlaylistLimitsTests {
    @Test(arguments: dimensions.indices) private func whatExceedsALimitIsDroppedAndCounted(_ index: Int) throws {
        let row = dimensions[index]
        let value = row.limit == .lineBytes ? 100 : 40
        // Values count in tens of bytes where a variable is substituted.
        let limits = limits(row.limit, row.limit == .expandedBytes ? value * 10 : value)
        let fitting = try MediaPlaylistParser.parse(row.bytes(row.limit == .lineBytes ? 20 : value), limits: limits)
        #expect(fitting.dropped.isEmpty, "\(row.when)")
        let playlist = try MediaPlaylistParser.parse(row.bytes(value * 3), limits: limits)
        let dropped = row.limit == .lineBytes ? 1 : value * 2
        #expect(playlist.dropped == [row.limit: dropped], "\(row.when)")
    }

    @Test(arguments: dimensions.indices) private func twiceAsMuchTakesTwiceAsManySteps(_ index: Int) throws {
        let row = dimensions[index]
        for limits in [PlaylistLimits.none, limits(row.limit, 50)] where limits != .none || row.limit != .keyFormats {
            let steps = try [500, 1000, 2000, 4000].map { count in
                let bytes = row.bytes(count)
                return try StepCounter.steps { _ = try MediaPlaylistParser.parse(bytes, limits: limits) }
            }
            for (few, many) in zip(steps, steps.dropFirst()) {
                // Dropping in chunks costs a few times the limit more.
                #expect(many <= few * 2 + few / 10 + 1100, "\(row.when): \(steps)")
            }
        }
    }

    @Test func oldestSegmentsAreDroppedAndTheOthersKeepTheirNumbers() throws {
        let text = "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:7\n" + lines(100) { "#EXT-X-DISCONTINUITY\n#EXTINF:6,\n\($0).ts" }
        let playlist = try MediaPlaylistParser.parse(Array(text.utf8), limits: limits(.segments, 10))
        #expect(playlist.segments.map(\.uri) == (90..<100).map { "\($0).ts" })
        #expect(playlist.segments.map(\.mediaSequence) == Array(97..<107))
        #expect(playlist.segments.first?.discontinuitySequence == 91)
        #expect(playlist.mediaSequence == 97)
    }

    @Test func newestDateRangesStay() throws {
        let text =
            "#EXTM3U\n" + lines(30) { "#EXT-X-DATERANGE:ID=\"h\($0)\"" }
            + lines(30) { "#EXTINF:6,\n\($0).ts\n#EXT-X-DATERANGE:ID=\"s\($0)\"" }
        let few = try MediaPlaylistParser.parse(Array(text.utf8), limits: limits(.dateRanges, 8))
        let ids = (few.dateRanges + few.segments.flatMap(\.dateRanges) + few.trailingDateRanges).map(\.id)
        #expect(ids == (22..<30).map { "s\($0)" })
        let small = try MediaPlaylistParser.parse(Array(text.utf8), limits: limits(.dateRangeBytes, 50))
        #expect(small.trailingDateRanges.map(\.id) == ["s29"])
        #expect(small.dropped[.dateRangeBytes] ?? 0 > 40)
    }

    @Test func segmentWithAnOverlongURIIsAGap() throws {
        let long = String(repeating: "u", count: 200)
        let text = "#EXTM3U\n#EXTINF:6,\na\n#EXTINF:6,\n\(long)\n#EXTINF:6,\nb\n"
        let playlist = try MediaPlaylistParser.parse(Array(text.utf8), limits: limits(.lineBytes, 100))
        #expect(playlist.segments.map(\.isGap) == [false, true, false])
        #expect(playlist.segments.map(\.mediaSequence) == [0, 1, 2])
    }

    @Test func identityKeyIsNotDropped() throws {
        let text =
            "#EXTM3U\n" + lines(9) { "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"f\($0)\"" }
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"mine\"\n#EXTINF:6,\na\n"
        let playlist = try MediaPlaylistParser.parse(Array(text.utf8), limits: limits(.keyFormats, 4))
        #expect(playlist.segments[0].keys.map(\.keyFormat) == ["f0", "f1", "f2", "identity"])
    }

    /// A tag without which media would be wrong is not dropped.
    @Test(arguments: ["#EXT-X-KEY:METHOD=AES-128,URI=\"", "#EXT-X-MAP:URI=\"", "#EXT-X-BYTERANGE:1@"])
    func overlongTagThatGovernsMediaIsAnError(_ beginning: String) {
        let text = "#EXTM3U\n\(beginning)\(String(repeating: "1", count: 200))\"\n#EXTINF:6,\na\n"
        let error = #expect(throws: PlaylistError.self) {
            try MediaPlaylistParser.parse(Array(text.utf8), limits: limits(.lineBytes, 100))
        }
        #expect(error?.reason == .exceeds(.lineBytes))
    }

    @Test func tooManyAttributesAreAnIrregularity() throws {
        let attributes = (0..<5000).map { "A\($0)=1" }.joined(separator: ",")
        let text = "#EXTM3U\n#EXT-X-DATERANGE:ID=\"a\",\(attributes)\n#EXTINF:6,\na\n"
        let playlist = try MediaPlaylistParser.parse(Array(text.utf8))
        #expect(playlist.irregularities.map(\.reason) == [.exceeds(.attributes)])
    }

    /// 200 kB in each of 30,000 URIs would be 6 GB.
    @Test func largeVariableInManyURIsIsNotExpanded() throws {
        let text =
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"v\",VALUE=\"\(String(repeating: "v", count: 60_000))\"\n"
            + lines(30_000) { _ in "#EXTINF:6,\n{$v}" }
        let playlist = try MediaPlaylistParser.parse(Array(text.utf8))
        #expect(playlist.segments.reduce(0) { $0 + $1.uri.utf8.count } <= PlaylistLimits.standard.expandedBytes)
        #expect(playlist.dropped[.expandedBytes] ?? 0 > 29_000)
        #expect(playlist.segments.count == 30_000)
    }

    /// A reference to a variable that is not there is an error, but for one that was too long to be kept.
    @Test func segmentsThatNeedAnOverlongVariableAreGaps() throws {
        let text =
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"v\",VALUE=\"\(String(repeating: "v", count: 200))\"\n"
            + "#EXTINF:6,\na\n#EXTINF:6,\n{$v}\n#EXTINF:6,\nb\n"
        let playlist = try MediaPlaylistParser.parse(Array(text.utf8), limits: limits(.lineBytes, 100))
        #expect(playlist.segments.map(\.isGap) == [false, true, false])
        #expect(playlist.dropped == [.lineBytes: 1])
    }

    @Test func whatFollowsTheLastLineIsNotRead() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + lines(100) { "#EXTINF:6,\n\($0)" }
        let playlist = try MediaPlaylistParser.parse(Array(text.utf8), limits: limits(.lines, 52))
        #expect(playlist.segments.count == 25)
        #expect(playlist.dropped == [.lines: 1])
    }

    @Test(arguments: multivariantDimensions.indices)
    private func twiceAsLongMultivariantPlaylistTakesTwiceAsManySteps(_ index: Int) throws {
        let row = multivariantDimensions[index]
        for limits in [PlaylistLimits.none, .standard] {
            let steps = try [500, 1000, 2000, 4000].map {
                let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n" + row.text($0)
                return try StepCounter.steps {
                    _ = try MultivariantPlaylistParser.parse(Array(text.utf8), limits: limits)
                }
            }
            for (few, many) in zip(steps, steps.dropFirst()) {
                #expect(many <= few * 2 + few / 10, "\(row.when): \(steps)")
            }
        }
    }

    @Test func multivariantPlaylistsAreLimitedToo() throws {
        let text =
            "#EXTM3U\n" + lines(900) { "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\($0)\"" }
            + lines(900) { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\nv\($0).m3u8" }
        let playlist = try MultivariantPlaylistParser.parse(Array(text.utf8))
        #expect(playlist.variants.count == 512 && playlist.renditions.count == 512)
        #expect(playlist.dropped == [.renditions: 2 * 388])
    }

    @Test func canceledTaskStopsReading() async {
        let text = Array(("#EXTM3U\n" + lines(20_000) { "#EXTINF:6,\n\($0)" }).utf8)
        let task = Task { () -> PlaylistError.Reason? in
            while !Task.isCancelled { await Task.yield() }
            do throws(PlaylistError) { _ = try PlaylistParser.parse(text) } catch { return error.reason }
            return nil
        }
        task.cancel()
        #expect(await task.value == .canceled)
    }
}
