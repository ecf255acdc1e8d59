/// The memory of one channel, and the shares of it that its parts get: the only place where a part's limit is chosen.
///
/// The shares and what does not grow with the limit add up to the limit, so that no upstream makes a channel take more.
package struct MemoryBudget: Equatable, Sendable {
    /// A part of the memory that grows with the limit. The raw values are the names in the documents.
    package enum Share: String, CaseIterable, Sendable {
        /// The segment of the main rendition that is delivered next.
        case segment
        /// The same of its companion.
        case companion
        /// The segments after them, fetched or in flight, and second requests for late ones.
        case ahead
        /// The segment in hand: decrypted, as elementary streams, as samples. A playlist that is read takes less, and
        /// nothing is processed meanwhile.
        case processing
        /// Video that waits for its audio, or for the end of its GOP.
        case held
        /// Audio that waits for its video.
        case heldAudio
        /// Playlists in flight: of the main rendition, of its companion, of eight renditions of subtitles.
        case playlists
        /// Keys and maps that are kept.
        case resources
        /// Listed segments that wait to be fetched.
        case queue

        /// In parts of `Share.total`.
        var weight: Int {
            switch self {
            case .segment: 32
            case .companion: 6
            case .ahead: 16
            case .processing: 100
            case .held: 10
            case .heldAudio: 6
            case .playlists: 24
            case .resources: 3
            case .queue: 11
            }
        }

        static let total = allCases.reduce(0) { $0 + $1.weight }
    }

    /// The share of the variants beside the leading one, in the same parts: fetched, and waiting for the leading track.
    private static let ladderWeight = 52

    /// Bytes that do not grow with the limit: an access unit that two segments share (4 MiB), two maps in flight (4 MiB),
    /// the frames of a segment as values (20 MiB), eight renditions of subtitles (16 MiB), and the segments that are
    /// recognized when an upstream renumbers them (4 MiB).
    static let fixedBytes = 48 << 20
    static let standardLimit = 256 << 20
    package static let smallestLimit = 96 << 20
    /// A tebibyte: a larger number of bytes, of whatever part, is a typing error.
    package static let largestLimit = 1 << 40

    // The sizes that were asked for. nil: what the others leave.
    private let requestedLimit: Int?
    private let requestedSegment: Int?
    private let requestedPlaylist: Int?
    private var hasLadder = false

    /// - Parameters:
    ///   - limit: nil: the standard one, or as much as the two others need.
    ///   - segment: the largest segment, if it is less than its share; nil: its share.
    ///   - playlist: the largest playlist in the same way.
    package init(limit: Int? = nil, segment: Int? = nil, playlist: Int? = nil) {
        (requestedLimit, requestedSegment, requestedPlaylist) = (limit, segment, playlist)
    }

    var limit: Int {
        let needed = [requestedSegment.map(Self.limit(forSegment:)), requestedPlaylist.map(Self.limit(forPlaylist:))]
        return max(Self.smallestLimit, requestedLimit ?? needed.compactMap(\.self).reduce(Self.standardLimit, max))
    }

    /// The largest segment, decompressed.
    package var segmentBytes: Int { min(requestedSegment ?? .max, bytes(of: .segment)) }
    /// The largest playlist, decompressed.
    package var playlistBytes: Int { min(requestedPlaylist ?? .max, bytes(of: .playlists) * 2 / 3) }

    /// The budget with some of what was asked for replaced; nil: as it was.
    package func replacing(limit: Int?, segment: Int?, playlist: Int?) -> MemoryBudget {
        MemoryBudget(
            limit: limit ?? requestedLimit, segment: segment ?? requestedSegment,
            playlist: playlist ?? requestedPlaylist)
    }

    package func bytes(of share: Share) -> Int { unit * share.weight }

    /// The same memory for a channel with several variants: every share is smaller by a fifth.
    package var withLadder: MemoryBudget {
        var budget = self
        budget.hasLadder = true
        return budget
    }

    /// The memory of the variants beside the leading one, half of it on the way and half of it held; 0: there are none.
    package var ladderBytes: Int { hasLadder ? unit * Self.ladderWeight : 0 }

    /// The smallest limit that permits segments of a size.
    package static func limit(forSegment bytes: Int) -> Int {
        fixedBytes + (bytes + Share.segment.weight - 1) / Share.segment.weight * Share.total
    }

    /// The smallest limit that permits playlists of a size: two thirds of the share are for that of the main rendition.
    package static func limit(forPlaylist bytes: Int) -> Int {
        let parts = Share.playlists.weight * 2
        return fixedBytes + (bytes * 3 + parts - 1) / parts * Share.total
    }

    private var unit: Int { (limit - Self.fixedBytes) / (Share.total + (hasLadder ? Self.ladderWeight : 0)) }
}
