import Media
import Playlist
import Splice
import Testing

@testable import Channel

typealias CaptionRenditionRow = (
    when: String, declared: [(name: String, language: String?, id: String)], pages: [String], known: [String],
    made: [String]
)

let captionRenditionRows: [CaptionRenditionRow] = [
    ("nothing declared: CC1", [], [], [], ["CC1 CC1 -"]),
    (
        "two languages", [("English", "en", "CC1"), ("Español", "es", "CC3")], [], [],
        ["CC1 English en", "CC3 Español es"]
    ),
    ("CEA-708 alone: CC1, which most encoders send too", [("English", "en", "SERVICE1")], [], [], ["CC1 CC1 -"]),
    ("both", [("English", "en", "CC1"), ("English 708", "en", "SERVICE1")], [], [], ["CC1 English en"]),
    ("twice the same", [("English", "en", "CC1"), ("Other", "en", "CC1")], [], [], ["CC1 English en"]),
    ("the name of a subtitle rendition", [("Subtitles", "en", "CC1")], [], [], ["CC1 CC1 en"]),
    ("an identifier that does not exist", [("English", "en", "CC9")], [], [], ["CC1 CC1 -"]),
    ("there already", [("English", "en", "CC1")], ["888.de"], ["CC1", "teletext-888.de"], []),
    ("a page alone", [], ["888.de"], [], ["teletext-888.de Deutsch de"]),
    (
        "pages of one language, and of none", [], ["150.fr", "151.fr.hi", "152.fr", "888.und"], [],
        [
            "teletext-150.fr Français fr", "teletext-151.fr.hi Français (hearing impaired) fr",
            "teletext-152.fr teletext-152.fr fr", "teletext-888.und Teletext 888 und",
        ]
    ),
    ("found later", [("CC3", "und", "CC3")], ["888.de"], ["CC1"], ["CC3 CC3 und", "teletext-888.de Deutsch de"]),
]

@Test(arguments: captionRenditionRows.indices)
func captionRenditions(index: Int) {
    let row = captionRenditionRows[index]
    let declared = row.declared.map { entry in
        var rendition = Rendition(type: .closedCaptions, groupID: "cc", name: entry.name)
        rendition.language = entry.language
        rendition.attributes.set("INSTREAM-ID", to: entry.id, isQuoted: true)
        return rendition
    }
    let made = CaptionRendition.renditions(
        declared: declared, pages: row.pages.compactMap { TeletextPage(text: $0) },
        except: row.known.compactMap { CaptionSource(text: $0) }, names: ["Subtitles"])
    #expect(
        made.map { "\($0.source.text) \($0.rendition.name) \($0.rendition.language ?? "-")" } == row.made,
        "\(row.when)")
    #expect(made.allSatisfy { $0.rendition.type == .subtitles && $0.rendition.attributes["INSTREAM-ID"] == nil })
    let impaired = made.first { $0.source.text.hasSuffix(".hi") }
    let music = "public.accessibility.describes-music-and-sound"
    #expect(impaired?.rendition.attributes["CHARACTERISTICS"]?.contains(music) ?? true)
}
