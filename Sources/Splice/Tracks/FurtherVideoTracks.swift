import Demux
import Media
import Support

/// The video tracks of a channel beside the leading one, in the order in which the channel got them.
struct FurtherVideoTracks: Sendable {
    private var tracks: [FurtherVideoTrack] = []
    private let variants: [VideoTrackIdentity?]
    private let leading: VideoTrackIdentity?
    private let areOnDemand: Bool
    /// The parts and segments that the tracks adopted lately, for one that begins.
    private var history = LadderHistory()
    /// Bytes of all tracks that wait for the leading one.
    private let byteLimit: Int

    /// - Parameter known: the tracks that the channel has, whether the source has them or not.
    init(
        _ variants: [VideoTrackIdentity?], leading: VideoTrackIdentity? = nil, areOnDemand: Bool = false,
        byteLimit: Int, after known: [VideoTrackIdentity]
    ) {
        self.variants = variants
        self.leading = leading
        self.areOnDemand = areOnDemand
        self.byteLimit = byteLimit
        resume(after: known)
    }

    var identities: [VideoTrackIdentity] { tracks.map(\.identity) }

    var counts: [(track: VideoTrackIdentity, counts: Counts<FurtherVideoCount>)] {
        tracks.map { ($0.identity, $0.counts) }
    }

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
        let history = history
        try update(variant) { (track) throws(MediaError) in try track.append(segment, after: history) }
    }

    mutating func breakContinuity(of variant: Int) { update(variant) { $0.breakContinuity() } }

    mutating func end(_ variant: Int) throws(MediaError) {
        try update(variant) { (track) throws(MediaError) in try track.end() }
    }

    /// Whether the leading video of `span` waits for another variant.
    func awaitsVideo(of span: AudioVideoMatcher.VideoSpan) -> Bool { tracks.contains { $0.awaitsVideo(of: span) } }

    mutating func adopt(_ span: AudioVideoMatcher.VideoSpan, frameDuration: Ticks) {
        guard !tracks.isEmpty else { return }
        history.append(.part(span, frameDuration: frameDuration))
        for index in tracks.indices { tracks[index].adopt(span, frameDuration: frameDuration) }
    }

    /// Returns what a segment has of each track. A track for which the source has no variant has the media of the nearest one,
    /// and equal media is that of the first track that has it.
    mutating func write(_ cut: FurtherVideoTrack.Cut) -> [VariantMedia<SplicedVideoTrack>] {
        guard !tracks.isEmpty else { return [] }
        history.append(.cut(cut))
        var media: [VariantMedia<SplicedVideoTrack>] = tracks.indices.map { index in
            guard tracks[index].hasSource else { return .gap }
            guard let own = tracks[index].write(cut) else { return .gap }
            return .own(own)
        }
        for index in media.indices.dropFirst() {
            guard let own = media[index].own, let same = media[..<index].firstIndex(where: { $0.own == own }) else {
                continue
            }
            media[index] = .other(same + 1)
        }
        for index in tracks.indices where !tracks[index].hasSource {
            tracks[index].recordOther()
            let nearest = nearest(to: index)
            if nearest > 0, case .other = media[nearest - 1] {
                media[index] = media[nearest - 1]
            } else {
                media[index] = .other(nearest)
            }
        }
        return media
    }

    /// Removes and returns the media of tracks that began late.
    mutating func dequeueLate() -> [LateVideo] {
        tracks.indices.flatMap { index in
            tracks[index].dequeueLate().map {
                LateVideo(track: index, sequenceNumber: $0.sequenceNumber, media: $0.media)
            }
        }
    }

    /// Returns the number of the track with a variant of the source that is nearest to one without; 0: the leading one.
    private func nearest(to index: Int) -> Int {
        let others = tracks.indices.filter { tracks[$0].hasSource }
        let candidates = [leading].compactMap(\.self) + others.map { tracks[$0].identity }
        let numbers = (leading == nil ? [] : [0]) + others.map { $0 + 1 }
        return tracks[index].identity.nearest(among: candidates).map { numbers[$0] } ?? 0
    }

    /// Resumes where other sources left the channel, with the tracks that it has by then. The next part begins a period.
    mutating func resume(after known: [VideoTrackIdentity]) {
        let all = known + variants.compactMap(\.self).filter { !known.contains($0) }
        tracks = all.prefix(VideoTrackIdentity.limit).map { identity in
            tracks.first { $0.identity == identity }
                ?? FurtherVideoTrack(
                    identity, hasSource: variants.contains(identity), isOnDemand: areOnDemand, byteLimit: 0)
        }
        history = LadderHistory()
        for index in tracks.indices { tracks[index].resume(byteLimit: byteLimit / tracks.count) }
    }
}

/// The parts and segments that the variants beside the leading one adopted lately. A variant that begins on demand begins
/// with them, so that its playlist has as many segments as players want at the live edge.
struct LadderHistory: Sendable {
    enum Event: Sendable {
        case part(AudioVideoMatcher.VideoSpan, frameDuration: Ticks)
        case cut(FurtherVideoTrack.Cut)
    }

    /// The segments that are remembered: those of a live window, or of a minute if they are longer.
    private static let segmentLimit = 12

    private(set) var events: [Event] = []
    private var cuts = 0

    mutating func append(_ event: Event) {
        events.append(event)
        if case .cut = event { cuts += 1 }
        while cuts > Self.segmentLimit || events.count > Self.segmentLimit * 8 {
            if case .cut = events.removeFirst() { cuts -= 1 }
        }
    }

    mutating func removeFirst(_ count: Int = 1) {
        for event in events[..<count] { if case .cut = event { cuts -= 1 } }
        events.removeFirst(count)
    }

    var isEmpty: Bool { events.isEmpty }

    var hasCuts: Bool { cuts > 0 }

    func firstPart(where condition: (AudioVideoMatcher.VideoSpan) -> Bool) -> Int? {
        events.firstIndex { if case .part(let span, _) = $0 { condition(span) } else { false } }
    }

    /// Removes and returns the first segment if it ends before a time of its source, and in the period of the first part.
    mutating func dequeueCut(endingBefore end: Ticks?) -> FurtherVideoTrack.Cut? {
        for (index, event) in events.enumerated() {
            switch event {
            case .part(let span, _) where span.beginsPeriod: return nil
            case .part: continue
            case .cut(let cut):
                guard let end, cut.timeline.presentation(of: end) >= cut.end else { return nil }
                events.remove(at: index)
                cuts -= 1
                return cut
            }
        }
        return nil
    }
}

/// The part of an earlier segment in a track that began after it.
package struct LateVideo: Sendable {
    package let track: Int
    package let sequenceNumber: UInt32
    package let media: SplicedVideoTrack
}
