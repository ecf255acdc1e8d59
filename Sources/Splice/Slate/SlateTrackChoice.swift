import Demux
import Media
import Mux
import Transcode

/// The tracks of a file that its slate is made of, by their places in the movie.
struct SlateTrackChoice: Equatable, Sendable {
    /// The first one with pictures that we carry.
    let video: Int
    /// Of those that can be copied the first that plays unless somebody chooses, else the first.
    let audio: Int?
    /// Sample entries of the tracks of sound, if there are some and none can be copied.
    let unusable: [String]

    /// - Throws: when no pictures can be shown, or they are encrypted.
    init(_ movie: Movie) throws(MediaError) {
        let tracks = movie.tracks
        let pictures = tracks.indices.filter { tracks[$0].handler == "vide" }
        let sounds = tracks.indices.filter { tracks[$0].handler == "soun" }
        video = try Self.firstVideoTrack(pictures, of: tracks)
        let ordered = sounds.filter { tracks[$0].isEnabled } + sounds.filter { !tracks[$0].isEnabled }
        let copied = ordered.first { Self.isCopied(tracks[$0].sampleEntries[0]) }
        audio = copied
        unusable = copied == nil ? sounds.map { "\(tracks[$0].sampleEntries[0].type)" } : []
    }

    private static func firstVideoTrack(_ places: [Int], of tracks: [MovieTrack]) throws(MediaError) -> Int {
        for place in places {
            let entries = tracks[place].sampleEntries
            if entries[0].protectionScheme != nil { throw SampleEntry.unusableError(0, of: entries) }
            if try VideoSampleDescription(entries[0]) != nil { return place }
        }
        throw MediaError(
            .noSupportedTrack(sampleEntries: tracks.map { "\($0.sampleEntries[0].type)" }),
            section: "ISO/IEC 14496-12 §8.5.2")
    }

    /// MPEG audio says only in its frames which layer it is; what players do not take of it is encoded again.
    private static func isCopied(_ entry: SampleEntry) -> Bool {
        do throws(MediaError) {
            switch try AudioSampleDescription(entry) {
            case .complete(let configuration), .needsSampleDurations(let configuration):
                return AudioCompatibility(configuration) == .copy
            case .needsFrameHeaders: return true
            case nil: return false
            }
        } catch {
            return false
        }
    }
}
