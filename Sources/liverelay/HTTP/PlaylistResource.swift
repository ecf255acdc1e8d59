import Channel
import LiveRing

/// A playlist of a channel, apart from the version of the ring.
enum PlaylistResource: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case fragmentedMP4
        case transportStream
        /// The segments of a subtitle rendition, by its number.
        case subtitles(Int)
    }

    case live(Content)
    case rewind(Content, RewindRange)
    /// A part of the rewind from one date to another, as segments.
    case selection(Content, RewindSelection)
    /// The master playlist; of a range, or nil: of the live playlists. `content` is no subtitles.
    case master(Content, RewindRange?)

    /// nil if the request is for something else than a playlist.
    init?(_ request: ResourceRequest) {
        switch request {
        case .livePlaylist: self = .live(.fragmentedMP4)
        case .masterPlaylist: self = .master(.fragmentedMP4, nil)
        case .dvrPlaylist(let range): self = .rewind(.fragmentedMP4, range)
        case .dvrMasterPlaylist(let range): self = .master(.fragmentedMP4, range)
        case .subtitlePlaylist(let number): self = .live(.subtitles(number))
        case .dvrSubtitlePlaylist(let number, let range): self = .rewind(.subtitles(number), range)
        case .transportStream(.livePlaylist): self = .live(.transportStream)
        case .transportStream(.masterPlaylist): self = .master(.transportStream, nil)
        case .transportStream(.dvrPlaylist(let range)): self = .rewind(.transportStream, range)
        case .transportStream(.dvrMasterPlaylist(let range)): self = .master(.transportStream, range)
        default: return nil
        }
    }

    /// Whether the playlist is of a part of the rewind, so that every client may ask for another.
    var isRange: Bool {
        switch self {
        case .live, .rewind(_, .whole), .master(_, nil), .master(_, .whole): false
        case .rewind, .selection, .master: true
        }
    }

    /// The number of segments that are looked at to render the playlist, at most.
    func segmentCount(in snapshot: RingSnapshot) -> Int {
        switch self {
        case .live: snapshot.liveSegmentCount
        case .rewind, .selection: snapshot.index.listed.count
        case .master: 0
        }
    }

    /// The playlist in UTF-8; nil if it lists no segment.
    func render(_ snapshot: RingSnapshot) -> [UInt8]? {
        switch self {
        case .live(.fragmentedMP4): snapshot.livePlaylist
        case .live(.transportStream): snapshot.transportStreamLivePlaylist()
        case .live(.subtitles(let number)): snapshot.subtitlePlaylist(number)
        case .rewind(.fragmentedMP4, let range): snapshot.dvrPlaylist(range)
        case .rewind(.transportStream, let range): snapshot.transportStreamDVRPlaylist(range)
        case .rewind(.subtitles(let number), let range): snapshot.subtitlePlaylist(number, range)
        case .selection(.fragmentedMP4, let selection): snapshot.dvrPlaylist(selection)
        case .selection(.transportStream, let selection): snapshot.transportStreamDVRPlaylist(selection)
        case .selection(.subtitles(let number), let selection): snapshot.subtitlePlaylist(number, selection)
        case .master(.transportStream, let range):
            snapshot.transportStreamMasterPlaylist(range, format: SegmentFormat.init(transportStreamOf:parameters:))
        case .master(_, let range?): snapshot.dvrMasterPlaylist(range)
        case .master(_, nil): snapshot.masterPlaylist()
        }
    }

    /// The same playlist with its range rounded to segments, so that requests for other moments of the same segments are
    /// answered alike.
    func rounded(in snapshot: RingSnapshot) -> PlaylistResource {
        guard case .rewind(let content, let range) = self else { return self }
        return snapshot.selection(of: range).map { .selection(content, $0) } ?? self
    }
}
