import Media
import Playlist

@testable import DASH
@testable import Support

/// Entry for DASH manifests, and the media playlists that are derived from one after the other.
enum ManifestEntry {
    private static let separator: UInt8 = 0xF7
    private static let longest = 64

    /// Each part is a manifest, 2 s after the one before.
    static let entry = FuzzEntry(
        "manifest", "DASH manifests, and the playlists that follow from them and the time", largest: 8192,
        dictionary: [
            "<MPD type=\"dynamic\" availabilityStartTime=\"2026-01-01T00:00:00Z\"", " minimumUpdatePeriod=\"PT2S\"",
            " timeShiftBufferDepth=\"PT1M\"", " mediaPresentationDuration=\"PT8S\"", "<Period start=\"PT4S\" id=\"",
            "<AdaptationSet contentType=\"audio\" lang=\"en\">", " mimeType=\"audio/mp4\"",
            "<Representation id=\"1\" bandwidth=\"1\">",
            "<SegmentTemplate timescale=\"4294967295\" duration=\"1\"", " media=\"$Number%09d$\"", "<SegmentTimeline>",
            "<S t=\"1152921504606846976\" d=\"1\" r=\"-1\"/>", " r=\"2147483647\"", "$Time$", "$RepresentationID$",
            " presentationTimeOffset=\"", " startNumber=\"1152921504606846976\"", " availabilityTimeOffset=\"INF\"",
            "<SegmentBase indexRange=\"0-9\"/>", "<SegmentURL mediaRange=\"0-1\"/>", "<BaseURL>a/</BaseURL>",
            "<EventStream schemeIdUri=\"urn:scte:scte35:2013:bin\">", "<Event presentationTime=\"", "&#x41;", "<!--",
            "-->",
            "<![CDATA[", "]]>", "</", "/>", [separator],
        ],
        bounds: FuzzBounds(
            heldBytes: FuzzBound(base: 4 << 20, perByte: 512), allocations: FuzzBound(base: 100_000, perByte: 200),
            copiedBytes: FuzzBound(base: 16 << 20, perByte: 8192),
            steps: FuzzBound(base: 1_000_000, perByte: 2000)),
        seeds: { _ in [timeline + [separator] + revised, Array(lists.utf8)] },
        run: { bytes in
            var limits = PlaylistLimits()
            limits.segments = longest
            var follower = ManifestFollower(choice: .highest, limits: limits)
            var now = Duration.zero
            _ = follower.handle(
                .date(ProgramDateTime(millisecondsSince1970: 1_767_225_700_000), isExact: true), at: now)
            for part in bytes.split(separator: separator, maxSplits: 7) {
                guard let manifest = try? DASHManifestParser.parse(Array(part), url: "http://a.example/b/c.mpd") else {
                    continue
                }
                _ = follower.handle(.manifest(manifest), at: now)
                for index in manifest.periods.prefix(longest).flatMap({ $0.video + $0.audio }).prefix(longest) {
                    try demand(index.representations.allSatisfy { !$0.baseURLs.isEmpty }, "no base URL")
                }
                for track in [
                    ManifestTrack.main(alternative: 0), .audio(name: "en"),
                    .variant(VideoTrackIdentity(height: 360, bandwidth: 500_000), alternative: 0),
                ] {
                    try check(follower.listing(of: track, at: now))
                }
                now += .seconds(2)
            }
        })

    private static func check(_ listing: ManifestFollower.Listing) throws {
        guard case .playlist(let playlist) = listing else { return }
        // Those that were replaced are listed beside those that are there.
        try demand(playlist.segments.count <= 8 * longest, "\(playlist.segments.count) segments are listed")
        for (index, segment) in playlist.segments.enumerated() {
            try demand(segment.mediaSequence == playlist.mediaSequence + UInt64(index), "numbers are not consecutive")
            try demand(segment.duration > .zero, "a segment lasts \(segment.duration)")
            try demand(!segment.uri.isEmpty, "a segment has no URL")
        }
    }

    private static func live(_ periods: String) -> [UInt8] {
        Array(
            """
            <?xml version="1.0"?><MPD type="dynamic" availabilityStartTime="2026-01-01T00:00:00Z" minimumUpdatePeriod="PT2S">
            <UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="2026-01-01T00:01:40Z"/>\(periods)</MPD>
            """.utf8)
    }

    private static func period(_ id: String, _ start: Int, _ runs: String) -> String {
        """
        <Period id="\(id)" start="PT\(start)S"><AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="9">
        <SegmentTemplate timescale="10" media="$Time$.m4s" initialization="$RepresentationID$"><SegmentTimeline>\(runs)
        </SegmentTimeline></SegmentTemplate></Representation></AdaptationSet></Period>
        """
    }

    private static let timeline = live(period("a", 90, "<S t=\"5\" d=\"20\" r=\"3\"/>"))
    private static let revised = live(
        period("a", 90, "<S t=\"5\" d=\"20\" r=\"2\"/>") + period("b", 96, "<S t=\"0\" d=\"20\" r=\"-1\"/>"))

    private static let lists = """
        <MPD type="static" mediaPresentationDuration="PT8S"><BaseURL>x/</BaseURL><Period duration="PT4S">
        <SegmentList duration="2"><SegmentURL mediaRange="0-9"/><SegmentURL media="b"/></SegmentList>
        <EventStream schemeIdUri="urn:scte:scte35:2013:bin"><Event>/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=</Event></EventStream>
        <AdaptationSet contentType="video" mimeType="video/mp4"><Representation id="1" bandwidth="1"/></AdaptationSet>
        <AdaptationSet lang="en" mimeType="audio/mp4"><Representation id="2" bandwidth="1" codecs="mp4a.40.2"/></AdaptationSet>
        </Period><Period><AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="1" media="$Number%03d$"/>
        <Representation id="3" bandwidth="2"/></AdaptationSet></Period></MPD>
        """
}
