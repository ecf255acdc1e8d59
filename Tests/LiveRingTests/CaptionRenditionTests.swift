import Playlist
import Testing

@testable import LiveRing

/// What a step of a channel says of its captions.
private enum Step {
    /// Of the upstream: INSTREAM-ID, NAME, LANGUAGE.
    case declared([(id: String?, name: String, language: String?)])
    case found([String])
}

private let rows: [(when: String, steps: [Step], published: [String])] = [
    ("no captions so far", [.declared([]), .found([])], []),
    (
        "declared", [.declared([("CC1", "English", "en"), ("CC3", "Español", "es")])],
        ["CC1 English en", "CC3 Español es"]
    ),
    ("declared without a language", [.declared([("SERVICE1", "English", nil)])], ["SERVICE1 English und"]),
    ("two of one name", [.declared([("CC1", "CC", "en"), ("CC3", "CC", "es")])], ["CC1 CC en", "CC3 CC3 es"]),
    ("two of one channel", [.declared([("CC1", "a", "en"), ("CC1", "b", "en")])], ["CC1 a en"]),
    (
        "no channel, and one that does not exist",
        [.declared([(nil, "a", "en"), ("CC5", "b", "en"), ("CC+1", "c", nil)])], []
    ),
    ("found", [.found(["CC1", "SERVICE1"])], ["CC1 CC1 und", "SERVICE1 SERVICE1 und"]),
    (
        "found later, and again", [.found([]), .found(["CC3"]), .found(["CC1", "CC3"])], ["CC3 CC3 und", "CC1 CC1 und"]
    ),
    ("found beside declared ones", [.declared([("CC1", "English", "en")]), .found(["SERVICE1"])], ["CC1 English en"]),
    ("declared after they were found", [.found(["CC1"]), .declared([("CC1", "English", "en")])], ["CC1 English en"]),
    ("declared, and then no longer", [.declared([("CC1", "English", "en")]), .declared([])], ["CC1 English en"]),
]

@Suite struct CaptionRenditionTests {
    @Test(arguments: rows.indices)
    func declaredOrFound(_ index: Int) {
        var captions = DeclaredRenditions()
        for step in rows[index].steps {
            let before = captions.captions
            let hasChanged =
                switch step {
                case .declared(let renditions): captions.declareCaptions(renditions.map(Self.rendition))
                case .found(let ids): captions.insert(ids)
                }
            #expect(hasChanged == (captions.captions != before), "\(rows[index].when)")
        }
        #expect(captions.captions.map(Self.text) == rows[index].published, "\(rows[index].when)")
    }

    private static func rendition(id: String?, name: String, language: String?) -> Rendition {
        var rendition = Rendition(type: .closedCaptions, groupID: "upstream", name: name)
        rendition.language = language
        rendition.attributes.set("INSTREAM-ID", to: id, isQuoted: true)
        return rendition
    }

    private static func text(_ rendition: Rendition) -> String {
        "\(rendition.attributes["INSTREAM-ID"] ?? "") \(rendition.name) \(rendition.language ?? "")"
    }

    /// Renditions that are made, with what is found in the video of segments 0, 1 …, and those that master playlists list.
    static let madeRows: [(when: String, made: [String], found: [[String]], listed: [String])] = [
        ("nothing is found", ["CC1"], [[]], ["CC1"]),
        ("what is expected", ["CC1"], [["CC1"]], ["CC1"]),
        ("another channel", ["CC1", "CC3"], [[], ["CC3"]], ["CC3"]),
        ("both", ["CC1", "CC3"], [[], ["CC3"], ["CC1"]], ["CC1", "CC3"]),
        ("teletext", ["CC1", "teletext-888.de"], [[], []], ["teletext-888.de"]),
    ]

    @Test(arguments: madeRows.indices) func emptyRenditionGivesWay(_ index: Int) async throws {
        let row = Self.madeRows[index]
        let directory = try ScratchDirectory()
        let ring = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6)
        for source in row.made {
            await ring.addSubtitles(Rendition(type: .subtitles, groupID: "", name: source), source: source)
        }
        for (number, found) in row.found.enumerated() {
            var segment = NewSegment.numbered(number)
            segment.captions = found
            let before = ring.snapshot.captions(after: found)
            try await ring.publish(segment)
            #expect(ring.snapshot.captions == before, "\(row.when)")
        }
        #expect(
            try master(of: ring).renditions.filter { $0.type == .subtitles }.map(\.name) == row.listed, "\(row.when)")
    }

    @Test func masterPlaylistsDeclareCaptionsAlsoAfterARestart() async throws {
        let directory = try ScratchDirectory()
        var ring: DVRRing? = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6)
        try await ring?.publish(.numbered(0))
        #expect(try captions(of: ring) == [])
        #expect(try variantCaptions(of: ring) == nil, "captions may come later, so that nothing is said of them")
        var withCaptions = NewSegment.numbered(1)
        withCaptions.captions = ["CC1"]
        try await ring?.publish(withCaptions)
        #expect(try captions(of: ring) == ["CC1 CC1 und"])
        await ring?.declareCaptions([Self.rendition(id: "CC1", name: "English", language: "en")])
        #expect(try captions(of: ring) == ["CC1 English en"] && variantCaptions(of: ring) == "cc")
        // Records follow a head that has captions.
        try await ring?.publish(.numbered(2))
        ring = nil
        let next = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6)
        #expect(try captions(of: next) == ["CC1 English en"])
        #expect(next.snapshot.index.listed.count == 3 && !next.wasDamaged)
        let reopened = try await next.reopened(policy: plentiful, targetDuration: 6, subtitles: .none)
        #expect(try captions(of: reopened) == ["CC1 English en"])
    }

    /// The names of audio stay, since a backup and another process do not know them.
    @Test func namesOfAudioStayAfterARestart() async throws {
        let directory = try ScratchDirectory()
        var ring: DVRRing? = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6)
        var english = Rendition(type: .audio, groupID: "a", name: "Original, 5.1", uri: "en.m3u8")
        english.attributes.set("CHANNELS", to: "6", isQuoted: true)
        await ring?.declareAudio([("leading", english), ("de.0.0", Rendition(type: .audio, groupID: "a", name: "D"))])
        await ring?.declareAudio([])
        try await ring?.publish(.numbered(0))
        ring = nil
        let next = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6)
        let kept = try #require(next.snapshot.declaredAudio("leading"))
        #expect(kept.name == english.name && kept.attributes["CHANNELS"] == "6" && kept.uri == nil)
        #expect(next.snapshot.declaredAudio("de.0.0")?.name == "D" && next.snapshot.declaredAudio("fr.0.0") == nil)
        #expect(next.snapshot.captions.isEmpty && !next.wasDamaged)
    }

    private func master(of ring: DVRRing?) throws -> MultivariantPlaylist {
        try MultivariantPlaylistParser.parse(try #require(ring?.snapshot.masterPlaylist()))
    }

    private func captions(of ring: DVRRing?) throws -> [String] {
        try master(of: ring).renditions.filter { $0.type == .closedCaptions }.map(Self.text)
    }

    private func variantCaptions(of ring: DVRRing?) throws -> String? {
        try master(of: ring).variants.first?.closedCaptions
    }
}
