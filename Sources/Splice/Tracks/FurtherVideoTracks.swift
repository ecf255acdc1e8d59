import Demux
import Media

/// The video tracks of a channel beside the leading one, in the order in which the channel got them.
struct FurtherVideoTracks: Sendable {
    private var tracks: [FurtherVideoTrack] = []
    /// The track that each variant of the source fills.
    private let variants: [VideoTrackIdentity?]
    /// Bytes of all tracks that wait for the leading one.
    private let byteLimit: Int

    /// - Parameter known: the tracks that the channel has, whether the source has them or not.
    init(_ variants: [VideoTrackIdentity?], byteLimit: Int, after known: [VideoTrackIdentity]) {
        self.variants = variants
        self.byteLimit = byteLimit
        resume(after: known)
    }

    /// The tracks in their order.
    var identities: [VideoTrackIdentity] { tracks.map(\.identity) }

    var counts: [(track: VideoTrackIdentity, counts: FurtherVideoCounts)] { tracks.map { ($0.identity, $0.counts) } }

    /// Calls `body` with the track that a variant fills in place.
    private mutating func update<Failure: Error>(
        _ variant: Int, _ body: (inout FurtherVideoTrack) throws(Failure) -> Void
    ) throws(Failure) {
        guard variants.indices.contains(variant), let identity = variants[variant],
            let index = tracks.firstIndex(where: { $0.identity == identity })
        else { return }
        try body(&tracks[index])
    }

    mutating func append(_ segment: SegmentInput, of variant: Int) throws(MediaError) {
        try update(variant) { (track) throws(MediaError) in try track.append(segment) }
    }

    /// Records that segments of a variant were lost.
    mutating func breakContinuity(of variant: Int) { update(variant) { $0.breakContinuity() } }

    mutating func end(_ variant: Int) throws(MediaError) {
        try update(variant) { (track) throws(MediaError) in try track.end() }
    }

    /// Whether the leading video of `span` waits for another variant.
    func awaitsVideo(of span: AudioVideoMatcher.VideoSpan) -> Bool { tracks.contains { $0.awaitsVideo(of: span) } }

    /// Adopts a part of the leading track.
    mutating func adopt(_ span: AudioVideoMatcher.VideoSpan, frameDuration: Ticks) {
        for index in tracks.indices { tracks[index].adopt(span, frameDuration: frameDuration) }
    }

    /// Returns what a segment has of each track; nil: a gap of the track.
    mutating func write(_ cut: FurtherVideoTrack.Cut) -> [SplicedVideoTrack?] {
        tracks.indices.map { tracks[$0].write(cut) }
    }

    /// Resumes where other sources left the channel, with the tracks that it has by then. The next part begins a period.
    mutating func resume(after known: [VideoTrackIdentity]) {
        let all = known + variants.compactMap(\.self).filter { !known.contains($0) }
        tracks = all.prefix(VideoTrackIdentity.limit).map { identity in
            tracks.first { $0.identity == identity }
                ?? FurtherVideoTrack(identity, hasSource: variants.contains(identity), byteLimit: 0)
        }
        for index in tracks.indices { tracks[index].resume(byteLimit: byteLimit / tracks.count) }
    }
}
