import Playlist

/// The attributes of the upstream's renditions that the master playlists keep.
///
/// The closed captions are the ones that the upstream declares, or else the ones found in the video. They stay
/// declared, because video in the rewind may contain them, and players show no undeclared captions.
struct DeclaredRenditions: Equatable, Sendable {
    /// The GROUP-ID of every closed caption rendition.
    static let groupID = "cc"
    private static let instreamID = "INSTREAM-ID"
    /// The values that INSTREAM-ID may have (RFC 8216 §4.3.4.1).
    private static let instreamIDs = Set((1...4).map { "CC\($0)" } + (1...63).map { "SERVICE\($0)" })

    private(set) var captions: [Rendition]
    /// The audio tracks that the upstream names, with the attribute `track`.
    private(set) var audio: [Rendition]
    /// Whether the upstream of this process declares its captions, so that captions found in the video are not added.
    private var isDeclared = false

    /// - Parameter renditions: the renditions of an earlier process.
    init(_ renditions: [Rendition] = []) {
        captions = renditions.filter { $0.type == .closedCaptions }
        audio = renditions.filter { $0.type == .audio }
    }

    var all: [Rendition] { captions + audio }

    /// Replaces the captions by those that the upstream declares, if it declares any.
    ///
    /// A rendition without a valid INSTREAM-ID, or with another rendition's, is dropped. NAMEs are made unique in the
    /// group (RFC 8216 §4.3.4.1.1).
    /// - Returns: whether the renditions changed.
    mutating func declareCaptions(_ upstream: [Rendition]) -> Bool {
        var declared: [Rendition] = []
        for rendition in upstream {
            var published = Rendition(publishing: rendition, as: Self.groupID)
            guard let id = published.attributes[Self.instreamID], Self.instreamIDs.contains(id),
                !declared.contains(where: { $0.attributes[Self.instreamID] == id })
            else { continue }
            if published.name.isEmpty || declared.contains(where: { $0.name == published.name }) { published.name = id }
            declared.append(published)
        }
        guard !declared.isEmpty else { return false }
        isDeclared = true
        defer { captions = declared }
        return captions != declared
    }

    /// An audio attribute that no playlist contains: the identity of the track.
    static let track = "TRACK"

    /// Replaces the attributes of audio tracks, if the upstream declares any.
    /// - Parameter upstream: each track's name and its rendition.
    /// - Returns: whether they changed.
    mutating func declareAudio(_ upstream: [(track: String, rendition: Rendition)]) -> Bool {
        let declared = upstream.map { track, rendition in
            var published = Rendition(publishing: rendition, as: "")
            published.attributes.set(Self.track, to: track, isQuoted: true)
            return published
        }
        guard !declared.isEmpty else { return false }
        defer { audio = declared }
        return audio != declared
    }

    /// Adds channels found in the video.
    /// - Returns: whether the renditions changed.
    mutating func insert(_ instreamIDs: [String]) -> Bool {
        guard !isDeclared else { return false }
        let new = instreamIDs.filter { id in !captions.contains { $0.attributes[Self.instreamID] == id } }
        captions += new.map { id in
            var found = Rendition(type: .closedCaptions, groupID: Self.groupID, name: id)
            found.attributes.set("AUTOSELECT", to: "YES")
            found.attributes.set(Self.instreamID, to: id, isQuoted: true)
            return Rendition(publishing: found, as: Self.groupID)
        }
        return !new.isEmpty
    }
}

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
