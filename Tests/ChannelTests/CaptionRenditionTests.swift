import Playlist
import Testing

@testable import Channel

typealias CaptionRenditionRow = (
    when: String, declared: [(name: String, language: String?, id: String)], made: [String]
)

let captionRenditionRows: [CaptionRenditionRow] = [
    ("nothing declared: CC1", [], ["1 CC1 -"]),
    ("two languages", [("English", "en", "CC1"), ("Español", "es", "CC3")], ["1 English en", "3 Español es"]),
    ("CEA-708 alone: CC1, which most encoders send too", [("English", "en", "SERVICE1")], ["1 CC1 -"]),
    ("both", [("English", "en", "CC1"), ("English 708", "en", "SERVICE1")], ["1 English en"]),
    ("twice the same", [("English", "en", "CC1"), ("Other", "en", "CC1")], ["1 English en"]),
    ("the name of a subtitle rendition", [("Subtitles", "en", "CC1")], ["1 CC1 en"]),
    ("an identifier that does not exist", [("English", "en", "CC9")], ["1 CC1 -"]),
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
        declared: declared, beside: [Rendition(type: .subtitles, groupID: "s", name: "Subtitles")])
    #expect(
        made.map { "\($0.channel) \($0.rendition.name) \($0.rendition.language ?? "-")" } == row.made, "\(row.when)")
    #expect(made.allSatisfy { $0.rendition.type == .subtitles && $0.rendition.attributes["INSTREAM-ID"] == nil })
}
