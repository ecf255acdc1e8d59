import Playlist

/// The segments that were handed downstream and are not processed yet. Their bodies take memory until then.
struct DeliveringSegments: Equatable, Sendable {
    private struct Entry: Equatable, Sendable {
        let role: RenditionRole
        let mediaSequence: UInt64
        let byteCount: Int
    }

    private var entries: [Entry] = []

    var byteCount: Int { entries.reduce(0) { $0 + $1.byteCount } }

    mutating func append(_ segment: TrackedSegment, of role: RenditionRole) {
        guard !role.isSubtitles else { return }
        entries.append(
            Entry(role: role, mediaSequence: segment.segment.mediaSequence, byteCount: segment.body.count))
    }

    /// Records that a segment was processed.
    mutating func remove(_ delivery: Delivery) {
        guard case .segment(let segment) = delivery.content else { return }
        entries.removeAll { $0.role == delivery.rendition && $0.mediaSequence == segment.segment.mediaSequence }
    }
}
