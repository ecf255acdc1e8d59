import Playlist

extension Rendition {
    /// The LANGUAGE of a rendition without one (BCP 47). Every published rendition has a LANGUAGE.
    private static let unknownLanguage = "und"
    /// The attributes of the upstream that are published unchanged.
    private static let copiedAttributes = [
        "ASSOC-LANGUAGE", "STABLE-RENDITION-ID", "DEFAULT", "AUTOSELECT", "FORCED", "CHARACTERISTICS", "INSTREAM-ID",
        "CHANNELS",
    ]

    /// The rendition of an upstream as it is published, without a URI.
    init(publishing upstream: Rendition, as groupID: String) {
        self.init(type: upstream.type, groupID: groupID, name: upstream.name)
        language = upstream.language ?? Self.unknownLanguage
        for name in Self.copiedAttributes {
            guard let attribute = upstream.attributes.attributes.last(where: { $0.name == name }) else { continue }
            attributes.set(name, to: attribute.value, isQuoted: attribute.isQuoted)
        }
    }
}
