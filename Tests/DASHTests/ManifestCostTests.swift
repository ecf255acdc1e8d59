import Playlist
import Support
import Testing

@testable import DASH

private typealias Sketch = ManifestSketch

/// Shapes that cost the most, as a function of their size.
private let shapes: [(name: String, manifest: @Sendable (Int) -> Sketch)] = [
    (
        "runs of a timeline",
        { size in
            let runs = String(repeating: "<S d=\"1\"/>", count: size * 500)
            return Sketch(
                attributes: "type=\"static\"",
                periods: [
                    Sketch.period(
                        "<SegmentTemplate media=\"$Number$\"><SegmentTimeline>\(runs)</SegmentTimeline></SegmentTemplate>"
                    )
                ])
        }
    ),
    (
        "periods",
        { size in
            let periods = (0..<size * 50).map {
                Sketch.period("duration=\"PT2S\"", id: "\($0)", "<SegmentTemplate duration=\"2\" media=\"$Number$\"/>")
            }
            return Sketch(attributes: "type=\"static\"", periods: periods)
        }
    ),
    (
        "representations",
        { size in
            let one =
                "<Representation id=\"a\" mimeType=\"video/mp4\" bandwidth=\"1\"><SegmentTemplate duration=\"2\" media=\"$Number$\"/></Representation>"
            let set = "<AdaptationSet>\(String(repeating: one, count: size * 50))</AdaptationSet>"
            return Sketch(periods: ["<Period>\(set)</Period>"])
        }
    ),
    (
        "SegmentURL elements",
        { size in
            let urls = String(repeating: "<SegmentURL media=\"a\"/>", count: size * 500)
            return Sketch(
                attributes: "type=\"static\" mediaPresentationDuration=\"PT10H\"",
                periods: [Sketch.period("<SegmentList duration=\"2\">\(urls)</SegmentList>")])
        }
    ),
    (
        "wrong sets after comments",
        { size in
            let comment = "<!--\(String(repeating: "-\n", count: size * 2000))-->"
            let wrong = "<AdaptationSet><SegmentTemplate timescale=\"0\"/></AdaptationSet>"
            return Sketch(periods: [
                Sketch.period(
                    before: comment + String(repeating: wrong, count: size * 100),
                    "<SegmentTemplate duration=\"2\" media=\"1\"/>")
            ])
        }
    ),
    (
        "representations, channels and protection of a set with a long tag",
        { size in
            let one =
                "<Representation id=\"a\" bandwidth=\"1\"><SegmentTemplate duration=\"2\" media=\"$Number$\"/></Representation>"
            let set = "<AdaptationSet other=\"\(String(repeating: "a", count: size * 3000))\" mimeType=\"video/mp4\">"
            let other = String(repeating: "<Label>a</Label>", count: size * 20)
            return Sketch(periods: [
                "<Period>\(set)\(other)\(String(repeating: one, count: size * 50))</AdaptationSet></Period>"
            ])
        }
    ),
    (
        "events of a stream with a long tag",
        { size in
            let stream =
                "<EventStream other=\"\(String(repeating: "a", count: size * 3000))\" schemeIdUri=\"urn:scte:scte35:2013:bin\">"
            let events = String(repeating: "<Event>?</Event>", count: size * 100)
            return Sketch(periods: [
                Sketch.period(
                    before: "\(stream)\(events)</EventStream>", "<SegmentTemplate duration=\"2\" media=\"1\"/>")
            ])
        }
    ),
    (
        "comments and depth",
        { size in
            let deep = String(repeating: "<a>", count: size * 300) + String(repeating: "</a>", count: size * 300)
            let comments = String(repeating: "<!--->-->", count: size * 300)
            return Sketch(periods: [
                Sketch.period(before: deep + comments, "<SegmentTemplate duration=\"2\" media=\"1\"/>")
            ])
        }
    ),
]

@Suite("What manifests cost") struct ManifestCostTests {
    @Test("Steps grow with the size of a manifest, and no faster", arguments: shapes.map(\.name))
    func steps(name: String) throws {
        let shape = try #require(shapes.first { $0.name == name })
        let costs = try [1, 2, 4, 8].map { size in
            let bytes = Array(shape.manifest(size).text.utf8)
            return try StepCounter.steps {
                let manifest = try DASHManifestParser.parse(bytes, url: Sketch.url)
                var follower = ManifestFollower(choice: .highest)
                _ = follower.handle(.manifest(manifest), at: .zero)
                for _ in 0..<2 {
                    let playlist = follower.main()
                    #expect(playlist != nil)
                }
            }
        }
        #expect(costs[3] <= costs[0] * 10, "\(costs)")
        #expect(costs[0] > 100)
    }

    private static let long = String(repeating: "a", count: 20_000)

    /// What stands once in a document and many times in what is made of it has a length of its own.
    @Test(arguments: [
        (
            "an id", Sketch.period("<SegmentTemplate duration=\"2\" media=\"$RepresentationID$\"/>"), "id=\"v1\"",
            "id=\"\(long)\""
        ),
        (
            "a template", Sketch.period("<SegmentTemplate duration=\"2\" media=\"$Number$\"/>"), "media=\"",
            "media=\"\(long)"
        ),
        (
            "a template that is long when it is filled in",
            Sketch.period("<SegmentTemplate duration=\"2\" media=\"x\"/>").replacing(
                "id=\"v1\"", with: "id=\"\(String(repeating: "i", count: 1000))\""), "media=\"x",
            "media=\"\(String(repeating: "$RepresentationID$", count: 31))"
        ),
        (
            "a base URL", Sketch.period("<BaseURL>x</BaseURL><SegmentTemplate duration=\"2\" media=\"$Number$\"/>"),
            "<BaseURL>", "<BaseURL>\(long)"
        ),
    ])
    func lengths(what: String, period: String, short: String, long: String) throws {
        #expect(try Sketch(periods: [period]).parsed().periods[0].video.count == 1, "\(what)")
        let manifest = try Sketch(periods: [period.replacing(short, with: long)]).parsed()
        #expect(manifest.periods[0].video.isEmpty && manifest.mediaFault != nil, "\(what)")
    }

    @Test("The base URLs of a manifest have a size altogether") func baseURLs() throws {
        let parent = "http://h/" + String(repeating: "a", count: 16_000) + "/"
        let periods = (0..<1100).map {
            Sketch.period(
                "duration=\"PT2S\"", id: "\($0)", set: "<BaseURL>c/</BaseURL>",
                "<BaseURL>b</BaseURL><SegmentTemplate duration=\"2\" media=\"1\"/>")
        }
        let manifest = try Sketch(head: "<BaseURL>\(parent)</BaseURL>", periods: periods).parsed()
        let bytes = manifest.periods.flatMap(\.video).flatMap(\.representations).flatMap(\.baseURLs).map(\.utf8.count)
        #expect(bytes.reduce(0, +) <= DASHManifestParser.baseURLBytes && bytes.count > 400)
        #expect(manifest.mediaFault?.reason == .exceeds(.expandedBytes))
    }

    @Test("No count in a manifest makes a list longer than its limit") func limits() throws {
        let endless =
            "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S t=\"0\" d=\"1\" r=\"2147483647\"/></SegmentTimeline></SegmentTemplate>"
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(
            .manifest(try Sketch(attributes: "type=\"static\"", periods: [Sketch.period(endless)]).parsed()), at: .zero)
        let whole = follower.main()
        #expect(whole?.segments.count == PlaylistLimits.standard.segments)
        let short = "<SegmentTemplate timescale=\"1000000000\" duration=\"1\" media=\"$Number$\"/>"
        let live = Sketch(attributes: Sketch.live, periods: [Sketch.period(short)])
        _ = follower.handle(.manifest(try live.parsed()), at: .zero)
        _ = follower.handle(.date(.live(1_000_000), isExact: true), at: .zero)
        let newest = follower.main()
        #expect(newest?.segments.count ?? 0 <= PlaylistLimits.standard.segments)
    }
}
