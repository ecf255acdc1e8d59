import Media
import Playlist
import Splice

/// A subtitle rendition that is made of captions in the video, or of a teletext page.
struct CaptionRendition: Equatable, Sendable {
    let source: CaptionSource
    /// Without GROUP-ID and URI.
    let rendition: Rendition

    /// Renditions of a channel.
    static let limit = 8
    /// The media characteristics of captions (draft-pantos-hls-rfc8216bis §4.4.6.1).
    private static let characteristics = "public.accessibility.transcribes-spoken-dialog"
    private static let allCharacteristics = characteristics + ",public.accessibility.describes-music-and-sound"

    /// Returns the renditions that a channel does not have yet.
    ///
    /// If nothing is known of captions, CC1 has a rendition: it is there before the first captions, so that viewers can
    /// choose it. Master playlists list it until others are found.
    /// - Parameters:
    ///   - declared: the closed captions that the master playlist declares with the segment in hand.
    ///   - pages: the teletext pages of the program.
    ///   - known: the sources of the renditions that there are.
    ///   - names: the names of the renditions that there are. No two of a group have the same one (RFC 8216 §4.3.4.1.1).
    static func renditions(
        declared: [Rendition], pages: [TeletextPage], except known: [CaptionSource], names: [String]
    ) -> [CaptionRendition] {
        let channels = (1...4).compactMap { channel -> (source: CaptionSource, name: String, language: String?)? in
            let source = CaptionSource.cea608(channel: channel)
            let captions = declared.first { $0.attributes["INSTREAM-ID"] == source.text }
            return captions.map { (source, $0.name, $0.language) }
        }
        var found = channels + pages.map { (.teletext($0), $0.name, $0.language.text) }
        if found.isEmpty, known.isEmpty { found = [(.cea608(channel: 1), "CC1", nil)] }
        var (sources, used) = (Set(known), Set(names))
        return found.filter { sources.insert($0.source).inserted }.map { source, name, language in
            let unique = used.insert(name).inserted ? name : source.text
            used.insert(unique)
            return CaptionRendition(source, name: unique, language: language)
        }
    }

    private init(_ source: CaptionSource, name: String, language: String?) {
        self.source = source
        var rendition = Rendition(type: .subtitles, groupID: "", name: name)
        rendition.language = language
        rendition.attributes.set("AUTOSELECT", to: "YES")
        rendition.attributes.set("CHARACTERISTICS", to: Self.characteristics(of: source), isQuoted: true)
        self.rendition = rendition
    }

    private static func characteristics(of source: CaptionSource) -> String? {
        guard case .teletext(let page) = source else { return characteristics }
        return page.isForHearingImpaired ? allCharacteristics : nil
    }
}

extension TeletextPage {
    fileprivate var name: String {
        language == .unknown
            ? "Teletext \(String(number, radix: 16))"
            : language.ownName + (isForHearingImpaired ? " (hearing impaired)" : "")
    }
}
