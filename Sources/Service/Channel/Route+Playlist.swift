import Channel
import LiveRing
import WebServer

// How a playlist of a channel is made.

extension Route.Playlist {
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
    func render(_ snapshot: RingSnapshot, as form: PlaylistForm, ads: AdView) -> [UInt8]? {
        switch self {
        case .live(let content): snapshot.livePlaylist(of: content, as: form, ads: ads)
        case .rewind(let content, let range): snapshot.dvrPlaylist(range, of: content, as: form, ads: ads)
        case .selection(let content, let selection):
            snapshot.dvrPlaylist(selection, of: content, as: form, ads: ads)
        case .master(.transportStream, let range):
            snapshot.transportStreamMasterPlaylist(range, format: SegmentFormat.init(transportStreamOf:parameters:))
        case .master(_, let range):
            snapshot.masterPlaylist(range, audio: snapshot.audioRenditions, listsIFrames: true)
        }
    }

    /// The number of the variant beside the leading one that the playlist is of; nil if it is of something else.
    var furtherVariant: Int? {
        switch self {
        case .live(.video(let number)), .rewind(.video(let number), _), .selection(.video(let number), _):
            number > 0 ? number : nil
        case .live, .rewind, .selection, .master: nil
        }
    }

    /// The files that the playlist lists whose newest a player may wait for; nil if it may not.
    var awaitedContent: PlaylistContent? {
        switch self {
        case .live(let content), .rewind(let content, .whole), .rewind(let content, .last),
            .rewind(let content, .between(_, end: nil)):
            content
        case .rewind, .selection, .master: nil
        }
    }

    /// The same playlist with its range rounded to segments, so that requests for other moments of the same segments are
    /// answered alike.
    func rounded(in snapshot: RingSnapshot) -> Route.Playlist {
        guard case .rewind(let content, let range) = self else { return self }
        return snapshot.selection(of: range).map { .selection(content, $0) } ?? self
    }
}
