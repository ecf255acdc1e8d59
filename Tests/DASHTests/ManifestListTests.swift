import Playlist
import Support
import Testing

@testable import DASH

private typealias Sketch = ManifestSketch

private let timeline = "<SegmentTimeline><S t=\"900\" d=\"200\" r=\"1\"/><S d=\"100\"/></SegmentTimeline>"

/// How segments are named and timed, each in a static manifest of 8 s.
private let staticRows: [(when: String, manifest: Sketch, lines: [String])] = [
    (
        "numbers of one duration, the last one shorter",
        Sketch(periods: [
            Sketch.period("<SegmentTemplate duration=\"3\" media=\"$RepresentationID$-$Number%03d$.m4s\"/>")
        ]), ["0 3 v1-001.m4s", "1 3 v1-002.m4s", "2 2 v1-003.m4s"]
    ),
    (
        "times of one duration begin with the presentation time offset",
        Sketch(periods: [
            Sketch.period(
                "<SegmentTemplate timescale=\"10\" duration=\"40\" presentationTimeOffset=\"500\" media=\"$Time$.m4s\"/>"
            )
        ]), ["0 4 500.m4s", "1 4 540.m4s"]
    ),
    (
        "a timeline with times",
        Sketch(periods: [
            Sketch.period(
                "<SegmentTemplate timescale=\"100\" presentationTimeOffset=\"900\" media=\"$Time$.m4s\">\(timeline)</SegmentTemplate>"
            )
        ]), ["0 2 900.m4s", "1 2 1100.m4s", "2 1 1300.m4s"]
    ),
    (
        "a timeline with numbers, and what begins before its period",
        Sketch(periods: [
            Sketch.period(
                "<SegmentTemplate timescale=\"100\" startNumber=\"7\" presentationTimeOffset=\"1150\" media=\"$Number$.m4s\">\(timeline)</SegmentTemplate>"
            )
        ]), ["0 2 8.m4s", "1 1 9.m4s"]
    ),
    (
        "a run without an end goes on to that of its period",
        Sketch(periods: [
            Sketch.period(
                "<SegmentTemplate media=\"$Time$.m4s\"><SegmentTimeline><S t=\"0\" d=\"3\" r=\"-1\"/></SegmentTimeline></SegmentTemplate>"
            )
        ]), ["0 3 0.m4s", "1 3 3.m4s", "2 3 6.m4s"]
    ),
    (
        "a run without an end ends where the next begins",
        Sketch(periods: [
            Sketch.period(
                "<SegmentTemplate media=\"$Number$.m4s\"><SegmentTimeline><S t=\"0\" d=\"2\" r=\"-1\"/><S t=\"4\" d=\"4\"/></SegmentTimeline></SegmentTemplate>"
            )
        ]), ["0 2 1.m4s", "1 2 2.m4s", "2 4 3.m4s"]
    ),
    (
        "what is inherited from period and adaptation set",
        Sketch(periods: [
            Sketch.period(
                before: "<SegmentTemplate timescale=\"10\" duration=\"40\" media=\"a/$Number$\"/>",
                set: "<SegmentTemplate media=\"b/$Bandwidth$/$Number$\" startNumber=\"5\"/>", "")
        ]), ["0 4 b/900000/5", "1 4 b/900000/6"]
    ),
    (
        "base URLs, relative at each level",
        Sketch(
            head: "<BaseURL>x/</BaseURL><BaseURL>http://cdn.example/</BaseURL>",
            periods: [
                Sketch.period(
                    before: "<BaseURL>p/</BaseURL>",
                    "<BaseURL>r/</BaseURL><SegmentTemplate duration=\"8\" media=\"$Number$?a=1&amp;b=2\"/>")
            ]), ["0 8 x/p/r/1?a=1&b=2"]
    ),
    (
        "a list with byte ranges",
        Sketch(periods: [
            Sketch.period(
                "<BaseURL>all.mp4</BaseURL><SegmentList duration=\"4\"><SegmentURL mediaRange=\"100-199\"/><SegmentURL mediaRange=\"200-249\"/><SegmentURL mediaRange=\"250-260\"/></SegmentList>"
            )
        ]), ["0 4 all.mp4 100@100", "1 4 all.mp4 50@200"]
    ),
    (
        "a list with a timeline",
        Sketch(periods: [
            Sketch.period(
                "<SegmentList timescale=\"100\" presentationTimeOffset=\"900\">\(timeline)<SegmentURL media=\"a\"/><SegmentURL media=\"b\"/></SegmentList>"
            )
        ]), ["0 2 a", "1 2 b"]
    ),
    (
        "several periods",
        Sketch(periods: [
            Sketch.period("duration=\"PT4S\"", id: "a", "<SegmentTemplate duration=\"4\" media=\"a$Number$\"/>"),
            Sketch.period(id: "b", "<SegmentTemplate duration=\"2\" media=\"b$Number$\"/>"),
        ]), ["0 4 a1", "1| 2 b1", "2 2 b2"]
    ),
    (
        "an end number",
        Sketch(periods: [Sketch.period("<SegmentTemplate duration=\"2\" endNumber=\"2\" media=\"$Number$\"/>")]),
        ["0 2 1", "1 2 2"]
    ),
]

@Suite("Lists of manifests") struct ManifestListTests {
    @Test(arguments: staticRows) fileprivate func segments(when: String, manifest: Sketch, lines: [String]) throws {
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.manifest(try manifest.parsed()), at: .zero)
        let derived = follower.main()
        let playlist = try #require(derived)
        #expect(playlist.lines == lines, "\(when)")
        #expect(playlist.hasEndList)
    }

    @Test("An index is asked for, and then read") func index() throws {
        let sketch = Sketch(periods: [
            Sketch.period(
                "<BaseURL>v.mp4</BaseURL><SegmentBase timescale=\"10\" presentationTimeOffset=\"30\" indexRange=\"700-743\"/>"
            )
        ])
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.manifest(try sketch.parsed()), at: .zero)
        let range = ByteRange(offset: 700, length: 44)
        let request = SegmentIndexRequest(url: "http://o.example/d/v.mp4", byteRange: range)
        let listing = follower.listing(of: .main(alternative: 0), at: .zero)
        #expect(listing == .needsIndexes([request]))
        let sidx: [UInt8] =
            [0, 0, 0, 44] + Array("sidx".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 30, 0, 0, 0, 6]
            + [0, 0, 0, 1, 0, 0, 3, 232, 0, 0, 0, 25, 0x90, 0, 0, 0]
        _ = follower.handle(.index(request, try SegmentIndexParser.parse(sidx, at: range)), at: .zero)
        let derived = follower.main()
        let playlist = try #require(derived)
        #expect(playlist.lines == ["0 2.5 v.mp4 1000@750"])
        #expect(playlist.segments[0].map?.byteRange == ByteRange(offset: 0, length: 700))
    }

    @Test("A splice command is a date range") func events() throws {
        let section = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="
        let sketch = Sketch(
            attributes: Sketch.live,
            periods: [
                Sketch.period(
                    before: """
                        <EventStream schemeIdUri="urn:scte:scte35:2014:xml+bin" timescale="1000">
                        <Event presentationTime="2500" duration="30000" id="7"><scte35:Signal>
                        <scte35:Binary>\(section)</scte35:Binary></scte35:Signal></Event></EventStream>
                        """,
                    "<SegmentTemplate media=\"$Number$\"><SegmentTimeline><S t=\"0\" d=\"2\" r=\"2\"/></SegmentTimeline></SegmentTemplate>"
                )
            ])
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.manifest(try sketch.parsed()), at: .zero)
        let derived = follower.main()
        let playlist = try #require(derived)
        #expect(playlist.segments.map(\.dateRanges.count) == [0, 1, 0])
        let range = try #require(playlist.segments[1].dateRanges.first)
        #expect(range.isSpliceCommand && range.startDate == .live(2.5) && range.plannedDuration == .seconds(30))
        #expect(range[splice: .command] == SpliceSectionText.decodeBase64(section))
    }

    @Test("A break that has begun before the list is told with its first segment") func eventsBefore() throws {
        func event(_ time: Int, _ duration: Int) -> String {
            "<Event presentationTime=\"\(time)\" duration=\"\(duration)\">/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=</Event>"
        }
        let events = event(2, 30) + event(3, 4) + event(21, 30)
        let sketch = Sketch(
            attributes: "\(Sketch.live) timeShiftBufferDepth=\"PT6S\"",
            periods: [
                Sketch.period(
                    before: "<EventStream schemeIdUri=\"urn:scte:scte35:2013:bin\">\(events)</EventStream>",
                    "<SegmentTemplate media=\"$Number$\"><SegmentTimeline><S t=\"0\" d=\"2\" r=\"11\"/></SegmentTimeline></SegmentTemplate>"
                )
            ])
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.manifest(try sketch.parsed()), at: .zero)
        let derived = follower.main()
        let playlist = try #require(derived)
        #expect(
            playlist.segments.map { $0.dateRanges.compactMap(\.startDate) } == [[.live(2)], [.live(21)], []])
    }

    @Test("Indexes of more periods and tracks than are asked for at once") func manyIndexes() throws {
        let count = 700
        let periods = (0..<count).map { number in
            let audio = """
                <AdaptationSet mimeType="audio/mp4" lang="en"><Representation id="a" bandwidth="96000" codecs="mp4a.40.2">
                <BaseURL>a\(number).mp4</BaseURL><SegmentBase indexRange="0-43"/></Representation></AdaptationSet>
                """
            return Sketch.period(
                "duration=\"PT4S\"", id: "\(number)", before: audio,
                "<BaseURL>v\(number).mp4</BaseURL><SegmentBase indexRange=\"0-43\"/>")
        }
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.manifest(try Sketch(attributes: "type=\"static\"", periods: periods).parsed()), at: .zero)
        var requested: Set<SegmentIndexRequest> = []
        let entry = SegmentIndex.Entry(byteRange: ByteRange(offset: 44, length: 9), start: 0, duration: 4)
        let steps = StepCounter.steps {
            for track in [ManifestTrack.main(alternative: 0), .audio(name: "en"), .main(alternative: 0)] {
                while case .needsIndexes(let indexes) = follower.listing(of: track, at: .zero) {
                    #expect(indexes.count <= 64)
                    for index in indexes {
                        #expect(requested.insert(index).inserted)
                        _ = follower.handle(.index(index, SegmentIndex(timescale: 1, entries: [entry])), at: .zero)
                    }
                }
                guard case .playlist(let playlist) = follower.listing(of: track, at: .zero) else { return }
                #expect(playlist.segments.count == count && playlist.hasEndList)
            }
        }
        #expect(requested.count == 2 * count && steps < 100_000, "\(steps)")
    }

    @Test("A list ends before the index for which there is no room") func indexesWithoutRoom() throws {
        let periods = (0..<20).map {
            Sketch.period(
                "duration=\"PT10S\"", id: "\($0)", "<BaseURL>v\($0).mp4</BaseURL><SegmentBase indexRange=\"0-43\"/>")
        }
        var follower = ManifestFollower(choice: .highest, limits: .none)
        _ = follower.handle(.manifest(try Sketch(attributes: "type=\"static\"", periods: periods).parsed()), at: .zero)
        let entries = (0..<65_535).map {
            SegmentIndex.Entry(byteRange: ByteRange(offset: 44, length: 9), start: UInt64($0), duration: 1)
        }
        while case .needsIndexes(let indexes) = follower.listing(of: .main(alternative: 0), at: .zero) {
            for index in indexes {
                _ = follower.handle(.index(index, SegmentIndex(timescale: 1, entries: entries)), at: .zero)
            }
        }
        let derived = follower.main()
        let playlist = try #require(derived)
        #expect(playlist.segments.count == 15 * 10 && playlist.dropped == [.segments: 1])
    }

    @Test("Video is chosen in each period, audio by its language") func tracks() throws {
        func audio(_ language: String, _ role: String = "alternate") -> String {
            """
            <AdaptationSet contentType="audio" lang="\(language)"><Role value="\(role)"/>
            <Representation id="a-\(language)" mimeType="audio/mp4" codecs="mp4a.40.2" bandwidth="96000">
            <SegmentTemplate duration="4" media="$RepresentationID$-$Number$"/></Representation></AdaptationSet>
            """
        }
        func video(_ heights: [Int]) -> String {
            heights.map {
                "<Representation id=\"v\($0)\" mimeType=\"video/mp4\" bandwidth=\"\($0)000\" width=\"\($0 * 16 / 9)\" height=\"\($0)\"><SegmentTemplate duration=\"4\" media=\"$RepresentationID$-$Number$\"/></Representation>"
            }.joined()
        }
        let sketch = Sketch(periods: [
            "<Period id=\"1\" duration=\"PT4S\"><AdaptationSet contentType=\"video\">\(video([360, 720, 1080]))</AdaptationSet>\(audio("en"))\(audio("de", "main"))</Period>",
            "<Period id=\"2\"><AdaptationSet contentType=\"video\">\(video([540]))</AdaptationSet>\(audio("en", "main"))</Period>",
        ])
        var follower = ManifestFollower(choice: .height(720))
        _ = follower.handle(.manifest(try sketch.parsed()), at: .zero)
        let master = follower.master
        #expect(master.variants.map(\.resolution?.height) == [360, 720, 1080])
        #expect(master.variants.map(\.uri) == ["#variant=360.360000.0", "#main=0", "#variant=1080.1080000.0"])
        #expect(
            master.renditions.map { "\($0.name) \($0.isDefault) \($0.uri ?? "")" } == [
                "en false #audio=en", "de true #audio=de",
            ])
        let video = follower.main()
        #expect(video?.lines == ["0 4 v720-1", "1| 4 v540-1"])
        guard case .playlist(let audio) = follower.listing(of: .audio(name: "de"), at: .zero) else {
            Issue.record("there is no list of audio")
            return
        }
        #expect(audio.lines == ["0 4 a-de-1", "1| 4 a-en-1"])
        #expect(audio.segments.map(\.discontinuitySequence) == [0, 1])
        for (variant, segments) in zip(master.variants, ["v360-1", "v720-1", "v1080-1"]) {
            let track = try #require(ManifestTrack(fragment: String(variant.uri.dropFirst())))
            guard case .playlist(let list) = follower.listing(of: track, at: .zero) else {
                Issue.record("there is no list of \(variant.uri)")
                continue
            }
            #expect(list.lines == ["0 4 \(segments)", "1| 4 v540-1"], "the nearest in each period")
            #expect(list.segments.map(\.discontinuitySequence) == [0, 1])
        }
    }
}
