import Media
import Playlist

// A manifest as a multivariant playlist: representations of video are variants, adaptation sets of audio renditions.

extension DASHManifest {
    private static let audioGroup = "audio"

    /// The period that a client joins: the last one of a dynamic manifest that has media.
    private var joined: Period? {
        isDynamic ? periods.last { !$0.main.isEmpty } : periods.first { !$0.main.isEmpty }
    }

    /// The variants of the period that is joined, each at every base URL, and the audio of all periods.
    /// - Parameter choice: which of them is the main track.
    func master(_ choice: VariantChoice) -> MultivariantPlaylist {
        guard let joined else { return MultivariantPlaylist() }
        let renditions = audioRenditions
        let main = joined.representation(of: .main(alternative: 0), choice: choice)
        let variants = joined.main.flatMap { representation in
            representation.baseURLs.indices.map { index in
                let track: ManifestTrack =
                    representation == main || joined.video.isEmpty
                    ? .main(alternative: index)
                    : .variant(representation.trackIdentity, alternative: index)
                return Variant(representation, uri: "#\(track.fragment)")
            }
        }
        guard !joined.video.isEmpty, !renditions.isEmpty else { return MultivariantPlaylist(variants: variants) }
        return MultivariantPlaylist(
            variants: variants.map {
                var variant = $0
                variant.audio = Self.audioGroup
                return variant
            }, renditions: renditions)
    }

    private var audioRenditions: [Rendition] {
        var renditions: [Rendition] = []
        var names: Set<String> = []
        for (name, set) in periods.flatMap(\.namedAudio) where names.insert(name).inserted {
            guard renditions.count < DASHManifestParser.largestRepresentationCount else { break }
            let uri = "#\(ManifestTrack.audio(name: name).fragment)"
            var rendition = Rendition(type: .audio, groupID: Self.audioGroup, name: name, uri: uri)
            rendition.language = set.language
            rendition.isDefault = set.isMain && !renditions.contains { $0.isDefault }
            rendition.attributes.set("AUTOSELECT", to: "YES")
            rendition.attributes.set("CHANNELS", to: set.channels, isQuoted: true)
            renditions.append(rendition)
        }
        return renditions
    }
}

extension DASHManifest.Period {
    /// The representations of video, or of audio where there is no video.
    var main: [DASHManifest.Representation] { (video.isEmpty ? audio : video).flatMap(\.representations).preferred }

    /// The audio with names that are unique in the period.
    var namedAudio: [(name: String, set: DASHManifest.AdaptationSet)] {
        var counts: [String: Int] = [:]
        return audio.map { set in
            let name = set.label ?? set.language ?? "audio"
            counts[name, default: 0] += 1
            let count = counts[name] ?? 1
            return (count > 1 ? "\(name) \(count)" : name, set)
        }
    }

    /// The representation of a track. Where a period has no audio of that name, it is that of the same language, else the
    /// main one.
    func representation(of track: ManifestTrack, choice: VariantChoice) -> DASHManifest.Representation? {
        switch track {
        case .main:
            let playlist = MultivariantPlaylist(
                variants: main.enumerated().map { Variant($0.element, uri: String($0.offset)) })
            return choice.choose(from: playlist).first.flatMap { Int($0.uri) }.map { main[$0] }
        case .variant(let identity, _):
            return identity.nearest(among: main.map(\.trackIdentity)).map { main[$0] }
        case .audio(let name):
            let named = namedAudio
            let language = name.split(separator: " ").first.map(String.init)
            let set =
                named.first { $0.name == name } ?? named.first { $0.set.language == language }
                ?? named.first { $0.set.isMain } ?? named.first
            return set?.set.representations.preferred.max { $0.bandwidth < $1.bandwidth }
        }
    }
}

extension DASHManifest.Representation {
    fileprivate var codecNames: [CodecName] { CodecName.list(codecs) }

    /// The height is 0 if the manifest does not say it.
    fileprivate var trackIdentity: VideoTrackIdentity {
        VideoTrackIdentity(height: resolution?.height ?? 0, bandwidth: bandwidth)
    }
}

extension [DASHManifest.Representation] {
    /// The clear ones, of them those whose codecs are republished, and of them those that every player decodes. Where
    /// there is none, all.
    fileprivate var preferred: [DASHManifest.Representation] {
        preferring { $0.protection == nil }.republished(codecs: \.codecNames)
            .preferring { $0.codecNames.allSatisfy(\.isPlain) }
    }
}

extension Variant {
    fileprivate init(_ representation: DASHManifest.Representation, uri: String) {
        self.init(uri: uri, bandwidth: representation.bandwidth)
        codecs = representation.codecs.isEmpty ? [] : [representation.codecs]
        resolution = representation.resolution
        frameRate = representation.frameRate
    }
}
