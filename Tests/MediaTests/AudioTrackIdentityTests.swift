import Testing

@testable import Media

/// Languages and audio tracks, and their text forms.
struct AudioTrackIdentityTests {
    private static let languages: [(code: String, text: String?, iso639: String)] = [
        ("deu", "de", "deu"), ("ger", "de", "deu"), ("DE", "de", "deu"), ("en-US", "en-us", "eng"),
        ("gsw", "gsw", "gsw"), ("zh-Hant-TW", "zh-hant-tw", "zho"), ("oc", "oc", "oci"), ("und", nil, ""),
        ("mul", nil, ""), ("qaa", nil, ""), ("", nil, ""), ("...", nil, ""), ("e1", nil, ""), ("en-", nil, ""),
        ("english", nil, ""), ("en,de", nil, ""),
    ]

    @Test(arguments: languages)
    func language(code: String, text: String?, iso639: String) {
        let tag = LanguageTag(code)
        #expect(tag?.text == text)
        if let tag { #expect(tag.iso639 == iso639) }
    }

    @Test func tracksOfOneLanguageHaveDifferentOrdinals() throws {
        let german = try #require(LanguageTag("de"))
        let tracks = AudioTrackIdentity.all(of: [
            (german, .main), (german, .commentary), (german, .main), (.unknown, .main),
        ])
        #expect(tracks.map(\.text) == ["de.0.0", "de.3.0", "de.0.1", "und.0.0"])
        #expect(tracks.map { AudioTrackIdentity(text: $0.text) } == tracks)
        for text in ["", "de", "de.0", "de.4.0", "de.0.-1", "de.0.256", "de.0.0.0", "1.0.0"] {
            #expect(AudioTrackIdentity(text: text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("all", ["de", "fr", "und"], nil), ("default", [], nil), ("de", ["de"], "de"), ("fr,de", ["de", "fr"], "fr"),
        ("ger,und", ["de", "und"], "de"), ("es", [], nil), ("es,fra", ["fr"], "fr"),
    ])
    func choice(text: String, admitted: [String], leading: String?) throws {
        let choice = try #require(AudioTrackChoice(text))
        let tracks = [LanguageTag("de"), LanguageTag("fr"), .unknown].compactMap(\.self)
        #expect(tracks.filter(choice.admits).map(\.text) == admitted)
        #expect(choice.leading(of: tracks) { $0 }?.text == leading)
    }

    @Test(arguments: ["", "de,", ",", "english", "de fr", "all,de,"])
    func textThatNamesNoLanguages(_ text: String) { #expect(AudioTrackChoice(text) == nil) }
}
