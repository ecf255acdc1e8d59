import Playlist
import Support
import Testing

@testable import DASH

private typealias Sketch = ManifestSketch

private let template = "<SegmentTemplate duration=\"2\" media=\"$Number$\"/>"

/// What is left out of a manifest, by the places that its irregularities name.
private let irregularRows: [(when: String, period: String, tags: [String])] = [
    ("nothing", Sketch.period(template), []),
    (
        "a template that does not parse", Sketch.period("<SegmentTemplate duration=\"2\" media=\"$X$\"/>"),
        ["SegmentTemplate@media"]
    ),
    ("no duration", Sketch.period("<SegmentTemplate media=\"$Number$\"/>"), ["Representation"]),
    ("no segments", Sketch.period(""), ["Representation"]),
    (
        "a duration of nothing", Sketch.period("<SegmentTemplate duration=\"0\" media=\"$Number$\"/>"),
        ["SegmentTemplate@duration"]
    ),
    (
        "a timescale of nothing", Sketch.period("<SegmentTemplate timescale=\"0\" duration=\"2\" media=\"$Number$\"/>"),
        ["SegmentTemplate@timescale"]
    ),
    (
        "a timescale finer than nanoseconds, in which a segment would last nothing",
        Sketch.period("<SegmentTemplate timescale=\"4294967295\" duration=\"1\" media=\"$Number$\"/>"),
        ["SegmentTemplate@timescale"]
    ),
    (
        "a duration with a fraction",
        Sketch.period("<SegmentTemplate timescale=\"1000000\" duration=\"2000000.0\" media=\"$Number$\"/>"),
        ["SegmentTemplate@duration"]
    ),
    ("a resource without an index", Sketch.period("<BaseURL>v.mp4</BaseURL>"), ["Representation"]),
    (
        "a list without a duration",
        Sketch.period("<SegmentList><SegmentURL media=\"a\"/><SegmentURL media=\"b\"/></SegmentList>"),
        ["Representation"]
    ),
    (
        "neither a type nor a codec",
        Sketch.period(template).replacing("mimeType=\"video/mp4\"", with: "")
            .replacing("contentType=\"video\"", with: "").replacing("codecs=\"avc1.64001F\"", with: ""),
        ["Representation"]
    ),
    (
        "an offset that is no number",
        Sketch.period("<SegmentTemplate duration=\"2\" availabilityTimeOffset=\"x\" media=\"$Number$\"/>"),
        ["SegmentTemplate@availabilityTimeOffset"]
    ),
    (
        "a number beyond its range",
        Sketch.period("<SegmentTemplate startNumber=\"9999999999999999999\" duration=\"2\" media=\"$Number$\"/>"),
        ["SegmentTemplate@startNumber"]
    ),
    (
        "a timeline whose times overflow",
        Sketch.period(
            "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"1152921504606846976\" r=\"2147483647\"/></SegmentTimeline></SegmentTemplate>"
        ), ["S@d"]
    ),
    (
        "an S without duration",
        Sketch.period(
            "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S t=\"1\"/></SegmentTimeline></SegmentTemplate>"),
        ["S"]
    ),
    (
        "a time after a run without an end",
        Sketch.period(
            "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"1\" r=\"-1\"/><S d=\"1\"/></SegmentTimeline></SegmentTemplate>"
        ), ["S"]
    ),
    (
        "an index range that runs backwards", Sketch.period("<SegmentBase indexRange=\"9-1\"/>"),
        ["SegmentBase@indexRange"]
    ),
    (
        "a container that is not read", Sketch.period(template).replacing("video/mp4", with: "video/webm"),
        ["Representation@mimeType"]
    ),
    (
        "a property that only some clients know",
        Sketch.period(set: "<EssentialProperty schemeIdUri=\"urn:x\"/>", template), ["EssentialProperty@schemeIdUri"]
    ),
    (
        "trick mode",
        Sketch.period(set: "<EssentialProperty schemeIdUri=\"http://dashif.org/guidelines/trickmode\"/>", template), []
    ),
    (
        "subtitles, which are not followed",
        Sketch.period(template).replacing(
            "</Period>",
            with:
                "<AdaptationSet mimeType=\"application/mp4\"><Representation codecs=\"wvtt\"/></AdaptationSet></Period>"
        ),
        ["AdaptationSet@contentType"]
    ),
    (
        "thumbnails",
        Sketch.period(template).replacing(
            "</Period>", with: "<AdaptationSet contentType=\"image\"><Representation/></AdaptationSet></Period>"), []
    ),
    ("a period elsewhere", Sketch.period("xlink:href=\"http://o.example/p\"", template), ["Period@xlink:href"]),
    (
        "events as XML", Sketch.period(before: "<EventStream schemeIdUri=\"urn:scte:scte35:2013:xml\"/>", template),
        ["EventStream@schemeIdUri"]
    ),
    (
        "an event without a section",
        Sketch.period(
            before: "<EventStream schemeIdUri=\"urn:scte:scte35:2013:bin\"><Event>?</Event></EventStream>", template),
        ["Event"]
    ),
]

private let faults: [(when: String, text: String, tag: String, reason: PlaylistError.Reason)] = [
    ("an end in the middle", "<MPD><Period id=\"1\">", "MPD", .missingAttribute("/MPD")),
    ("an end in a tag", "<MPD><Period id=\"1", "MPD", .missingAttribute("/MPD")),
    ("no period", "<MPD type=\"static\"></MPD>", "MPD", .missingAttribute("Period")),
    (
        "a live manifest without its start", "<MPD type=\"dynamic\"><Period/></MPD>", "MPD",
        .missingAttribute("availabilityStartTime")
    ),
    (
        "a live manifest with another start", "<MPD type=\"dynamic\" availabilityStartTime=\"today\"><Period/></MPD>",
        "MPD@availabilityStartTime", .badValue("today")
    ),
    ("too many elements", "<MPD>" + String(repeating: "<a/>", count: 250_001) + "</MPD>", "MPD", .exceeds(.lines)),
]

@Suite("Manifests as values") struct ManifestParserTests {
    @Test(arguments: irregularRows) func irregularities(when: String, period: String, tags: [String]) throws {
        let whole = "<Period id=\"whole\" start=\"PT100S\"/>"
        let manifest = try Sketch(periods: [period, whole]).parsed()
        #expect(manifest.irregularities.map(\.tag) == tags, "\(when)")
        #expect(manifest.irregularities.allSatisfy { $0.line > 2 && $0.section.contains("23009-1") })
    }

    @Test(arguments: faults) func errors(when: String, text: String, tag: String, reason: PlaylistError.Reason) {
        #expect(throws: PlaylistError(reason: reason, tag: tag, line: 1, section: "ISO/IEC 23009-1 §5.3"), "\(when)") {
            try DASHManifestParser.parse(Array(text.utf8), url: Sketch.url)
        }
    }

    @Test(arguments: [
        ("<MPD/>", true),
        ("\u{FEFF}  <?xml version=\"1.0\"?>\n<!-- <html> -->\n<!DOCTYPE x [<!ENTITY a \">\">]>\n<MPD ", false),
        ("\u{FEFF}  <?xml version=\"1.0\"?>\n<!-- <html> -->\n<!DOCTYPE x [<!ENTITY a \"b\">]>\n<mpd:MPD a='>'>", true),
        ("<html><MPD></MPD></html>", false), ("#EXTM3U\n<MPD>", false), ("<Patch><MPD/></Patch>", false), ("", false),
        ("<MPDX>", false),
    ])
    func recognition(text: String, isManifest: Bool) {
        #expect(DASHManifestParser.isManifest(Array(text.utf8)) == isManifest, "\(text)")
    }

    @Test(arguments: [
        ("PT2S", Duration.seconds(2)), ("PT1H2M3.5S", .milliseconds(3_723_500)), ("P1DT1S", .seconds(86_401)),
        ("P1Y2M", .seconds(425 * 86_400)), ("PT0.000001S", .microseconds(1)), ("PT", nil), ("P", nil), ("2S", nil),
        ("-PT1S", nil),
        ("PT1S2", nil), ("PT99999999999S", nil), ("P1S", nil), ("PT9999999999H", nil), ("PTT1S", nil),
    ])
    func durations(text: String, duration: Duration?) { #expect(Duration(isoText: text) == duration, "\(text)") }

    @Test("The fault of media is that of the first representation that was left out") func mediaFault() throws {
        let wrong = Sketch.period(id: "a", before: "<EventStream schemeIdUri=\"urn:scte:scte35:2013:xml\"/>", "")
        let fault = try Sketch(periods: [wrong]).parsed().mediaFault
        #expect(fault?.tag == "Representation" && fault?.reason == .missingAttribute("SegmentBase@indexRange"))
        #expect(try Sketch(periods: [Sketch.period(template)]).parsed().mediaFault == nil)
    }

    @Test("A line is that of the element") func lines() throws {
        let head = "<!--\n\n-->\n<ProgramInformation>\n</ProgramInformation>\n"
        let manifest = try Sketch(
            head: head, periods: [Sketch.period(template), Sketch.period("start=\"PT4S\"", id: "q", "")]
        ).parsed()
        #expect(manifest.irregularities.map(\.line) == [13])
    }

    @Test("Protected media is named by its scheme and its system") func protection() throws {
        let sketch = Sketch(periods: [
            Sketch.period(
                set: """
                    <ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cbcs"/>
                    <ContentProtection schemeIdUri="urn:uuid:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED"/>
                    """, template)
        ])
        let key = try sketch.parsed().periods[0].video[0].representations[0].protection
        #expect(key == SegmentKey(method: .other("cbcs"), uri: "", keyFormat: "Widevine"))
    }

    @Test("Ways to learn the time") func clocks() throws {
        let sketch = Sketch(
            head: """
                <UTCTiming schemeIdUri="urn:mpeg:dash:utc:ntp:2014" value="ntp.example"/>
                <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="/time other"/>
                <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-head:2014" value="https://t.example/"/>
                <UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="2026-01-01T00:00:07Z"/>
                <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-xsdate:2014" value="file:///etc/passwd"/>
                <UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="2026-01-01T24:00:00Z"/>
                <UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="2026-01-01T24:00:01Z"/>
                """, periods: [Sketch.period(template)])
        let manifest = try sketch.parsed()
        #expect(
            manifest.clocks == [
                .body(url: "http://o.example/time"), .header(url: "https://t.example/"), .date(.live(7)),
                .date(.live(86_400)),
            ])
        #expect(manifest.irregularities.map(\.reason) == [.badValue("2026-01-01T24:00:01Z")])
    }
}
