/// The memory of one channel and the shares of its parts: the only place where a part's limit is chosen.
///
/// The shares and the fixed bytes add up to the limit, so that no upstream makes a channel use more memory.
package struct MemoryBudget: Equatable, Sendable {
    /// A part of the memory that grows with the limit. The raw values are the names in the documents.
    package enum Share: String, CaseIterable, Sendable {
        /// The segment of the main rendition that is delivered next.
        case segment
        /// The next segment of the companion.
        case companion
        /// The segments after the next one, fetched or in flight, and second requests for late segments.
        case ahead
        /// The segment that is being processed: decrypted, as elementary streams, as samples. Parsing a playlist takes
        /// less memory, and nothing is processed meanwhile.
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

    /// The share of the variants beside the leading one, in the same unit: fetched, and waiting for the leading track.
    private static let ladderWeight = 52

    /// Bytes that do not grow with the limit: an access unit that two segments share (4 MiB), two maps in flight (4 MiB),
    /// the frames of a segment as values (20 MiB), eight renditions of subtitles (16 MiB), and the segments that are
    /// recognized when an upstream renumbers them (4 MiB).
    static let fixedBytes = 48 << 20
    static let standardLimit = 256 << 20
    package static let smallestLimit = 96 << 20
    /// One tebibyte, in bytes. A larger size of any part is a typing error.
    package static let largestLimit = 1 << 40

    // The sizes that the operator set; nil: derived from the others.
    private let requestedLimit: Int?
    private let requestedSegment: Int?
    private let requestedPlaylist: Int?
    private var hasLadder = false

    /// - Parameters:
    ///   - limit: in bytes; nil: the standard limit, or as much as `segment` and `playlist` need.
    ///   - segment: the largest segment in bytes, if that is less than its share; nil: its share.
    ///   - playlist: the largest playlist in bytes, in the same way.
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

    /// The budget with the sizes that are not nil replaced.
    package func replacing(limit: Int?, segment: Int?, playlist: Int?) -> MemoryBudget {
        MemoryBudget(
            limit: limit ?? requestedLimit, segment: segment ?? requestedSegment,
            playlist: playlist ?? requestedPlaylist)
    }

    /// The size of a share, in bytes.
    package func bytes(of share: Share) -> Int { unit * share.weight }

    /// The same memory for a channel with several variants: every share is smaller by a fifth.
    package var withLadder: MemoryBudget {
        var budget = self
        budget.hasLadder = true
        return budget
    }

    /// The memory of the variants beside the leading one, half for fetched and half for waiting media; 0 without such
    /// variants.
    package var ladderBytes: Int { hasLadder ? unit * Self.ladderWeight : 0 }

    /// The smallest limit that permits segments of a size.
    package static func limit(forSegment bytes: Int) -> Int {
        fixedBytes + (bytes + Share.segment.weight - 1) / Share.segment.weight * Share.total
    }

    /// The smallest limit that permits playlists of a size: two thirds of the share are for the main rendition's
    /// playlist.
    package static func limit(forPlaylist bytes: Int) -> Int {
        let parts = Share.playlists.weight * 2
        return fixedBytes + (bytes * 3 + parts - 1) / parts * Share.total
    }

    private var unit: Int { (limit - Self.fixedBytes) / (Share.total + (hasLadder ? Self.ladderWeight : 0)) }
}
