package import Media
import Playlist
import Splice
import Tracker

/// The identities of the audio renditions of a source.
struct AudioRenditionTracks: Equatable, Sendable {
    /// The audio of the variant; nil if the playlist does not name it.
    let leading: AudioTrackIdentity?
    /// The renditions beside it, in the order of `UpstreamEvent.audioTracksSelected`.
    let tracks: [AudioTrackIdentity]
    private let renditions: [Rendition]

    init(_ renditions: [Rendition], leading: Rendition?) {
        self.renditions = [leading].compactMap(\.self) + renditions
        let all = AudioTrackIdentity.all(of: self.renditions.map { ($0.languageTag, $0.kind) })
        self.leading = leading == nil ? nil : all.first
        tracks = Array(all.suffix(renditions.count))
    }

    /// The renditions by the names that `DVRRing.declareAudio` takes.
    var declared: [(track: String, rendition: Rendition)] {
        let names = (leading == nil ? [] : [AudioTrackIdentity.leadingName]) + tracks.map(\.text)
        return Array(zip(names, renditions))
    }
}

extension AudioTrackIdentity {
    /// The name of the leading track, whatever it is.
    package static let leadingName = "leading"
}

extension Rendition {
    fileprivate var kind: AudioTrackIdentity.Kind {
        let characteristics = attributes["CHARACTERISTICS"]?.split(separator: ",") ?? []
        return characteristics.contains("public.accessibility.describes-video") ? .commentary : .main
    }
}

extension InputRendition {
    init(_ role: RenditionRole) {
        switch role {
        case .main: self = .main
        case .audio, .subtitles: self = .audio
        case .furtherAudio(let index): self = .furtherAudio(index)
        case .furtherVideo(let index): self = .furtherVideo(index)
        }
    }
}
