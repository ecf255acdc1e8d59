import Channel
import Export
import LiveRing
import Media
import Mux
import Playlist

// The audio renditions of the master playlist.

extension RingSnapshot {
    /// The renditions of the audio tracks, the leading one first, without URIs, and their codecs; empty if the channel has
    /// one track, or no audio. The upstream's names and attributes are kept.
    var audioRenditions: [(rendition: Rendition, codec: String?)] {
        guard let newest, hasTracks else { return [] }
        let state = newest.transportStream.flatMap { TransportStreamState($0) }
        let leading = newest.resumePoint.audioConfiguration.flatMap { AudioConfiguration(text: $0) }
        if leading == nil, audioTrackCount == 0 { return [] }
        let leadingIdentity = AudioTrackIdentity(language: state?.language ?? .unknown)
        var tracks = [
            NamedAudioTrack(leadingIdentity, leading, declared: declaredAudio(AudioTrackIdentity.leadingName))
        ]
        for track in newest.resumePoint.audioTracks {
            let identity = AudioTrackIdentity(text: track.identity) ?? AudioTrackIdentity(language: .unknown)
            tracks.append(
                NamedAudioTrack(
                    identity, AudioConfiguration(text: track.configuration), declared: declaredAudio(track.identity)))
        }
        return NamedAudioTrack.renditions(of: tracks)
    }
}

/// An audio track and its attributes from the upstream.
struct NamedAudioTrack {
    let identity: AudioTrackIdentity
    let configuration: AudioConfiguration?
    let declared: Rendition?

    init(_ identity: AudioTrackIdentity, _ configuration: AudioConfiguration?, declared: Rendition?) {
        self.identity = identity
        self.configuration = configuration
        self.declared = declared
    }

    /// - Parameter tracks: the leading one first.
    static func renditions(of tracks: [NamedAudioTrack]) -> [(rendition: Rendition, codec: String?)] {
        var names: Set<String> = []
        return tracks.enumerated().map { index, track in
            let name = track.identity.name(preferring: track.declared?.name ?? "", except: names)
            names.insert(name)
            var rendition = rendition(of: track.identity, named: name, track.configuration, isDefault: index == 0)
            if let declared = track.declared { rendition.keepAttributes(of: declared, track.configuration) }
            return (rendition, track.configuration?.codecString)
        }
    }

    private static func rendition(
        of track: AudioTrackIdentity, named name: String, _ configuration: AudioConfiguration?, isDefault: Bool
    ) -> Rendition {
        var rendition = Rendition(type: .audio, groupID: "audio", name: name)
        rendition.language = track.language.text
        if isDefault { rendition.attributes.set("DEFAULT", to: "YES") }
        rendition.attributes.set("AUTOSELECT", to: "YES")
        if track.kind == .commentary {
            rendition.attributes.set("CHARACTERISTICS", to: "public.accessibility.describes-video", isQuoted: true)
        }
        if let count = configuration?.channelCount {
            rendition.attributes.set("CHANNELS", to: String(count), isQuoted: true)
        }
        return rendition
    }
}

extension Rendition {
    /// Copies the upstream's attributes of the track. CHANNELS may say more than the configuration, such as `16/JOC`,
    /// but is dropped if the audio is encoded with another number of channels.
    fileprivate mutating func keepAttributes(of declared: Rendition, _ configuration: AudioConfiguration?) {
        if let characteristics = declared.attributes["CHARACTERISTICS"] {
            attributes.set("CHARACTERISTICS", to: characteristics, isQuoted: true)
        }
        if !isDefault, declared.attributes["AUTOSELECT"] == "NO" { attributes.set("AUTOSELECT", to: "NO") }
        guard let channels = declared.attributes["CHANNELS"], let configuration else { return }
        let isSame = channels.split(separator: "/").first == Substring(String(configuration.channelCount))
        if isSame || channels.contains("/") && configuration.codecString == "ec-3" {
            attributes.set("CHANNELS", to: channels, isQuoted: true)
        }
    }
}

extension AudioTrackIdentity {
    /// A name that is not in `used`, because names are unique in their group (RFC 8216 §4.3.4.1.1).
    /// - Parameter declared: the upstream's name; empty if it has none.
    fileprivate func name(preferring declared: String, except used: Set<String>) -> String {
        let suffix =
            switch kind {
            case .main: ""
            case .cleanEffects: " (clean effects)"
            case .hearingImpaired: " (hearing impaired)"
            case .commentary: " (audio description)"
            }
        let first = declared.isEmpty ? language.ownName + suffix : declared
        let names = [first] + (2...99).map { "\(first) \($0)" }
        return names.first { !used.contains($0) } ?? text
    }
}
