import Playlist

/// A subtitle rendition that is made of the captions in one channel of CEA-608.
struct CaptionRendition: Equatable, Sendable {
    /// 1 ... 4.
    let channel: Int
    /// Without GROUP-ID and URI.
    let rendition: Rendition

    /// The media characteristic of captions (draft-pantos-hls-rfc8216bis §4.4.6.1).
    private static let characteristics = "public.accessibility.transcribes-spoken-dialog"

    /// - Parameters:
    ///   - declared: the closed captions that the upstream declares. If none of them is of CEA-608, CC1 has a rendition: it
    ///     is there before the first captions, so that viewers can choose it.
    ///   - subtitles: the upstream's renditions. No two of a group have the same name (RFC 8216 §4.3.4.1.1).
    static func renditions(declared: [Rendition], beside subtitles: [Rendition]) -> [CaptionRendition] {
        var names = Set(subtitles.map(\.name))
        let known = (1...4).compactMap { channel -> CaptionRendition? in
            let identifier = "CC\(channel)"
            guard let captions = declared.first(where: { $0.attributes["INSTREAM-ID"] == identifier }) else {
                return nil
            }
            let name = names.insert(captions.name).inserted ? captions.name : identifier
            return CaptionRendition(channel: channel, name: name, language: captions.language)
        }
        return known.isEmpty ? [CaptionRendition(channel: 1, name: "CC1", language: nil)] : known
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
