import Foundation
import Testing

@testable import Playlist
@testable import Support

/// C0, DEL, C1, the separators, and the characters with the property Bidi_Control.
let controlCharacters: [Unicode.Scalar] = {
    let ranges: [ClosedRange<UInt32>] = [
        0x00...0x1F, 0x7F...0x9F, 0x061C...0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
    ]
    return ranges.flatMap { $0.compactMap { Unicode.Scalar($0) } }
}()

@Suite struct ControlCharacterTests {
    @Test func unicodeCallsTheSameCharactersControls() {
        for value in UInt32(0)...0x1FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let category = scalar.properties.generalCategory
            let isControl =
                category == .control || category == .lineSeparator || category == .paragraphSeparator
                || scalar.properties.isBidiControl
            #expect(ControlCharacters.contains(scalar) == isControl, "U+\(String(value, radix: 16))")
        }
    }

    @Test(arguments: controlCharacters) func controlCharacterIsEscaped(_ scalar: Unicode.Scalar) {
        let text = "a\(scalar)é"
        let number = String(scalar.value, radix: 16, uppercase: true)
        #expect(text.escapingControlCharacters == "a\\u{\(number)}é")
        #expect(text.escapingControlCharacters(keepingLines: true) == (scalar == "\n" ? text : "a\\u{\(number)}é"))
    }

    @Test(arguments: ["", "plain", "Ünïcödé 日本 🎬", "عربى", "\u{A0}«x»"]) func otherTextStays(_ text: String) {
        #expect(text.escapingControlCharacters == text)
    }

    @Test(arguments: controlCharacters) func escapedJSONIsTheSameText(_ scalar: Unicode.Scalar) throws {
        let document = try JSONEncoder().encode(["a\(scalar)é\\"])
        let escaped = ControlCharacters.escaped(json: Array(document))
        #expect(try JSONDecoder().decode([String].self, from: Data(escaped)) == ["a\(scalar)é\\"])
        #expect(!String(decoding: escaped, as: UTF8.self).unicodeScalars.contains(scalar))
    }

    @Test(arguments: controlCharacters.filter { $0 != "\t" })
    func noPlaylistHasAControlCharacter(_ scalar: Unicode.Scalar) {
        var segment = MediaSegment(uri: "a\(scalar)b.ts", duration: .seconds(6))
        segment.unknownTags = ["#EXT-X-CUE-OUT:\(scalar)"]
        segment.dateRanges = [DateRange(id: "a\(scalar)b")]
        let media = MediaPlaylist(targetDuration: .seconds(6), segments: [segment, segment])
        let rendition = Rendition(type: .audio, groupID: "a", name: "a\(scalar)b", uri: "\(scalar)")
        let master = MultivariantPlaylist(
            variants: [Variant(uri: "\(scalar)", bandwidth: 1)], renditions: [rendition])
        for text in [PlaylistWriter.write(media), PlaylistWriter.write(master)] {
            let found = text.unicodeScalars.filter { ControlCharacters.contains($0) && $0 != "\n" }
            #expect(found.isEmpty)
        }
    }

    @Test(arguments: controlCharacters.filter { $0 != "\t" && $0 != "\n" })
    func controlCharacterIsNotRead(_ scalar: Unicode.Scalar) throws {
        let text = "#EXTM3U\n#EXTINF:6,a\(scalar)b“é”\na\(scalar)b.ts\n"
        let segment = try #require(try MediaPlaylistParser.parse(Array(text.utf8)).segments.first)
        #expect(segment.uri == "ab.ts")
    }

    @Test func secretShowsNothing() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(["a": secret], to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)", dumped] {
            #expect(!text.contains("hunter2"), "\(text)")
        }
        #expect(secret.value == "hunter2")
    }
}
