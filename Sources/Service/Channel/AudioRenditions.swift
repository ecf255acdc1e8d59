import Channel
import LiveRing
import Media
import Mux
import Playlist

// The audio renditions of the master playlist.

extension RingSnapshot {
    /// The renditions of the audio tracks, the leading one first, without URIs, and their codecs; empty if the channel has
    /// one track, or no audio.
    var audioRenditions: [(rendition: Rendition, codec: String?)] {
        guard let newest, hasTracks else { return [] }
        let state = newest.transportStream.flatMap { TransportStreamState($0) }
        let leading = newest.resumePoint.audioConfiguration.flatMap { AudioConfiguration(text: $0) }
        if leading == nil, audioTrackCount == 0 { return [] }
        var tracks = [(AudioTrackIdentity(language: state?.language ?? .unknown), leading)]
        for track in newest.resumePoint.audioTracks {
            let identity = AudioTrackIdentity(text: track.identity) ?? AudioTrackIdentity(language: .unknown)
            tracks.append((identity, AudioConfiguration(text: track.configuration)))
        }
        var names: Set<String> = []
        return tracks.enumerated().map { index, track in
            let name = track.0.name(except: names)
            names.insert(name)
            return (Self.rendition(of: track.0, named: name, track.1, isDefault: index == 0), track.1?.codecString)
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

extension AudioTrackIdentity {
    /// A name that is not in `used`: names are unique in their group (RFC 8216 §4.3.4.1.1).
    fileprivate func name(except used: Set<String>) -> String {
        let language = language.ownName
        let suffix =
            switch kind {
            case .main: ""
            case .cleanEffects: " (clean effects)"
            case .hearingImpaired: " (hearing impaired)"
            case .commentary: " (audio description)"
            }
        let names = [language + suffix] + (2...99).map { "\(language)\(suffix) \($0)" }
        return names.first { !used.contains($0) } ?? text
    }
}
