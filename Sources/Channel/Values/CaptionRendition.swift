import Playlist

/// A subtitle rendition that is made of the captions in one channel of CEA-608.
struct CaptionRendition: Equatable, Sendable {
    /// 1 ... 4.
    let channel: Int
    /// Without GROUP-ID and URI.
    let rendition: Rendition

    /// The media characteristic of captions (draft-pantos-hls-rfc8216bis §4.4.6.1).
    private static let characteristics = "public.accessibility.transcribes-spoken-dialog"

    /// - Parameter declared: the closed captions that the upstream declares. If none of them is of CEA-608, CC1 has a
    ///   rendition: it appears with the first captions, and viewers have chosen it by then.
    static func renditions(declared: [Rendition]) -> [CaptionRendition] {
        let known: [CaptionRendition] = declared.compactMap { captions in
            guard let identifier = captions.attributes["INSTREAM-ID"],
                let channel = (1...4).first(where: { identifier == "CC\($0)" })
            else { return nil }
            return CaptionRendition(channel: channel, name: captions.name, language: captions.language)
        }
        return known.isEmpty ? [CaptionRendition(channel: 1, name: "Captions", language: nil)] : known
    }

    private init(channel: Int, name: String, language: String?) {
        self.channel = channel
        var rendition = Rendition(type: .subtitles, groupID: "", name: name)
        rendition.language = language
        rendition.attributes.set("AUTOSELECT", to: "YES")
        rendition.attributes.set("CHARACTERISTICS", to: Self.characteristics, isQuoted: true)
        self.rendition = rendition
    }
}
