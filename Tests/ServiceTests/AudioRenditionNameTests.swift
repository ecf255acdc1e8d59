import Media
import Playlist
import Testing

@testable import Service

/// The audio renditions of the master playlist: what the upstream says of them is kept.
@Suite struct AudioRenditionNameTests {
    /// A track: its identity, its configuration, and the attributes of the upstream's rendition if there is one.
    private typealias Track = (identity: String, configuration: String?, declared: [(String, String)]?)

    private static let stereo = "aac/48000/2/1024/1190"
    private static let rows: [(when: String, tracks: [Track], renditions: [String])] = [
        (
            "no names", [("en.0.0", stereo, nil), ("de.0.0", stereo, nil)],
            ["English en 2 YES -", "Deutsch de 2 YES -"]
        ),
        (
            "names and channels",
            [("en.0.0", stereo, [("NAME", "Original")]), ("de.0.0", stereo, [("NAME", "D 2.0")])],
            ["Original en 2 YES -", "D 2.0 de 2 YES -"]
        ),
        (
            "two of one language", [("en.0.0", nil, nil), ("de.0.0", nil, nil), ("de.0.1", nil, nil)],
            ["English en - YES -", "Deutsch de - YES -", "Deutsch 2 de - YES -"]
        ),
        (
            "one name twice, and one is empty",
            [("en.0.0", nil, [("NAME", "A")]), ("de.0.0", nil, [("NAME", "A")]), ("fr.0.0", nil, [("NAME", "")])],
            ["A en - YES -", "A 2 de - YES -", "Français fr - YES -"]
        ),
        (
            "characteristics, and a track for those who choose it",
            [
                ("en.0.0", nil, nil),
                ("en.3.0", nil, [("NAME", "AD"), ("AUTOSELECT", "NO"), ("CHARACTERISTICS", "public.easy-to-read")]),
            ], ["English en - YES -", "AD en - NO public.easy-to-read"]
        ),
        (
            "the default is selected automatically",
            [("en.0.0", nil, [("NAME", "A"), ("AUTOSELECT", "NO")]), ("en.3.0", nil, nil)],
            ["A en - YES -", "English (audio description) en - YES public.accessibility.describes-video"]
        ),
        (
            "channels of audio that is encoded anew",
            [
                ("en.0.0", stereo, [("NAME", "A"), ("CHANNELS", "6")]),
                ("de.0.0", stereo, [("NAME", "B"), ("CHANNELS", "2")]),
            ],
            ["A en 2 YES -", "B de 2 YES -"]
        ),
    ]

    @Test(arguments: rows.indices)
    func renditions(_ index: Int) {
        let tracks = Self.rows[index].tracks.map { track in
            let declared = track.declared.map { attributes in
                var rendition = Rendition(type: .audio, groupID: "", name: "")
                for (name, value) in attributes {
                    rendition.attributes.set(name, to: value, isQuoted: name != "AUTOSELECT")
                }
                return rendition
            }
            let identity = AudioTrackIdentity(text: track.identity) ?? AudioTrackIdentity(language: .unknown)
            return NamedAudioTrack(
                identity, track.configuration.flatMap { AudioConfiguration(text: $0) }, declared: declared)
        }
        let texts = NamedAudioTrack.renditions(of: tracks).map { rendition, _ in
            let attributes = ["CHANNELS", "AUTOSELECT", "CHARACTERISTICS"].map { rendition.attributes[$0] ?? "-" }
            return ([rendition.name, rendition.language ?? "-"] + attributes).joined(separator: " ")
        }
        #expect(texts == Self.rows[index].renditions, "\(Self.rows[index].when)")
    }

    @Test func sixtyTracksOfOneLanguageHaveNamesOfTheirOwn() {
        let tracks = (0..<60).map {
            NamedAudioTrack(AudioTrackIdentity(language: .unknown, ordinal: $0), nil, declared: nil)
        }
        #expect(Set(NamedAudioTrack.renditions(of: tracks).map(\.rendition.name)).count == 60)
    }
}
