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
        var captions = CaptionRenditions()
        for step in rows[index].steps {
            let before = captions.renditions
            let hasChanged =
                switch step {
                case .declared(let renditions): captions.declare(renditions.map(Self.rendition))
                case .found(let ids): captions.insert(ids)
                }
            #expect(hasChanged == (captions.renditions != before), "\(rows[index].when)")
        }
        #expect(captions.renditions.map(Self.text) == rows[index].published, "\(rows[index].when)")
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
