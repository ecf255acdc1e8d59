import Demux
import Media
import Mux
import Transcode

/// The tracks of a file that its slate uses, as indices into the movie's tracks.
struct SlateTrackChoice: Equatable, Sendable {
    /// First video track with a supported codec.
    let video: Int
    /// First enabled audio track that can be copied, else the first that can be copied.
    let audio: Int?
    /// Sample entries of the audio tracks if none can be copied, else empty.
    let unusable: [String]

    /// - Throws: if the file has no supported video track, or the video is encrypted.
    init(_ movie: Movie) throws(MediaError) {
        let tracks = movie.tracks
        let videoIndices = tracks.indices.filter { tracks[$0].handler == "vide" }
        let audioIndices = tracks.indices.filter { tracks[$0].handler == "soun" }
        video = try Self.firstVideoTrack(videoIndices, of: tracks)
        let ordered = audioIndices.filter { tracks[$0].isEnabled } + audioIndices.filter { !tracks[$0].isEnabled }
        let copied = ordered.first { Self.isCopied(tracks[$0].sampleEntries[0]) }
        audio = copied
        unusable = copied == nil ? audioIndices.map { "\(tracks[$0].sampleEntries[0].type)" } : []
    }

    private static func firstVideoTrack(_ indices: [Int], of tracks: [MovieTrack]) throws(MediaError) -> Int {
        for index in indices {
            let entries = tracks[index].sampleEntries
            if entries[0].protectionScheme != nil { throw SampleEntry.unusableError(0, of: entries) }
            if try VideoSampleDescription(entries[0]) != nil { return index }
        }
        throw MediaError(
            .noSupportedTrack(sampleEntries: tracks.map { "\($0.sampleEntries[0].type)" }),
            section: "ISO/IEC 14496-12 §8.5.2")
    }

    /// Whether audio with this sample entry can be copied.
    ///
    /// The layer of MPEG audio is known only from its frames. Layers and codecs that players do not decode are transcoded
    /// later.
    private static func isCopied(_ entry: SampleEntry) -> Bool {
        do throws(MediaError) {
            switch try AudioSampleDescription(entry) {
            case .complete(let configuration), .needsSampleDurations(let configuration):
                return [.copy, .transcode(.codec)].contains(AudioCompatibility(configuration))
            case .needsFrameHeaders: return true
            case nil: return false
            }
        } catch {
            return false
        }
    }
}
