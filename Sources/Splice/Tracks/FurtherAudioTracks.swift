import Demux
import Media
import Support
import Transcode

/// The audio tracks of a channel beside the leading one, in the order in which the channel got them.
struct FurtherAudioTracks: Sendable {
    private var tracks: [FurtherAudioTrack] = []
    private var silence = SilentFrameCache()
    private let policy: AudioPolicy
    private let fillsSilence: Bool
    private let longestSegment: Ticks
    /// Bytes of the audio of all tracks that waits for its video.
    private let byteLimit: Int
    private var renditions: [AudioTrackIdentity]

    /// - Parameter patience: how long the leading track waits for each of `renditions`.
    init(
        policy: AudioPolicy, fillsSilence: Bool, longestSegment: Ticks, byteLimit: Int,
        renditions: [AudioTrackIdentity] = [], patience: Ticks = .zero, position: TimelinePosition
    ) {
        self.policy = policy
        self.fillsSilence = fillsSilence
        self.longestSegment = longestSegment
        self.byteLimit = byteLimit
        self.renditions = renditions
        resume(at: position)
        for identity in renditions {
            insert(identity)
            update(identity) { track in
                track.follow(
                    renditionWithin: byteLimit / renditions.count, longestSegment: longestSegment, patience: patience)
            }
        }
    }

    /// Calls `body` with a track in place, if the channel has it.
    private mutating func update<Failure: Error>(
        _ identity: AudioTrackIdentity, _ body: (inout FurtherAudioTrack) throws(Failure) -> Void
    ) throws(Failure) {
        guard let index = tracks.firstIndex(where: { $0.identity == identity }) else { return }
        try body(&tracks[index])
    }

    mutating func append(_ segment: SegmentInput, of index: Int) throws(MediaError) {
        guard renditions.indices.contains(index) else { return }
        try update(renditions[index]) { (track) throws(MediaError) in try track.append(segment) }
    }

    mutating func breakContinuity(of index: Int) {
        guard renditions.indices.contains(index) else { return }
        update(renditions[index]) { $0.breakContinuity() }
    }

    mutating func end(_ index: Int) throws(MediaError) {
        guard renditions.indices.contains(index) else { return }
        try update(renditions[index]) { (track) throws(MediaError) in try track.endRendition() }
    }

    /// Drops the renditions: a channel without video waits for none.
    mutating func removeRenditions() {
        for identity in renditions { update(identity) { $0.removeRendition() } }
        tracks.removeAll { renditions.contains($0.identity) && $0.position == nil }
        renditions = []
    }

    mutating func awaitsAudio(for span: AudioVideoMatcher.VideoSpan) -> Bool {
        var isAwaited = false
        for index in tracks.indices where tracks[index].awaitsAudio(for: span) { isAwaited = true }
        return isAwaited
    }

    /// Where each track continues. A track keeps its place in the list.
    var positions: [AudioTrackPosition] { tracks.compactMap(\.position) }

    var counts: [(track: AudioTrackIdentity, counts: Counts<FurtherAudioCount>)] {
        tracks.map { ($0.identity, $0.counts) }
    }

    mutating func append(
        _ demuxed: RenditionDemuxer.Demuxed, discontinuitySequence: UInt64
    ) throws(MediaError) {
        let (flushed, packets) = (demuxed.flushed.furtherAudio, demuxed.packets.furtherAudio)
        for audio in flushed + packets { insert(audio.track) }
        for index in tracks.indices {
            try tracks[index].append(
                flushed: flushed.packets(of: tracks[index].identity), packets.packets(of: tracks[index].identity),
                demuxed.boundary, isContinuous: demuxed.isContinuous, discontinuitySequence: discontinuitySequence,
                videoStart: demuxed.packets.video.first?.pts)
        }
    }

    mutating func finish(_ remaining: [FurtherAudio]) throws(MediaError) {
        for index in tracks.indices { try tracks[index].finish(remaining.packets(of: tracks[index].identity)) }
    }

    /// Adds a track, unless the channel has it, or as many as it may.
    private mutating func insert(_ identity: AudioTrackIdentity) {
        guard !tracks.contains(where: { $0.identity == identity }), tracks.count < AudioTrackChoice.limit else {
            return
        }
        tracks.append(FurtherAudioTrack(identity, policy: policy, fillsSilence: fillsSilence, after: nil))
        for index in tracks.indices { tracks[index].limitQueue(bytes: byteLimit / tracks.count) }
    }

    /// - Parameter configuration: the configuration of the leading audio in the period; nil if it has none.
    mutating func adopt(
        _ span: AudioVideoMatcher.VideoSpan, on timeline: PeriodTimeline, leading: [TimedAudio],
        _ configuration: AudioConfiguration?
    ) {
        for index in tracks.indices {
            tracks[index].adopt(span, on: timeline, leading: leading, configuration, silence: &silence)
        }
    }

    /// Appends audio of the current period that came after its segments.
    mutating func appendLate(
        before next: AudioVideoMatcher.VideoSpan?, leading: [TimedAudio], isChannelEnding: Bool = false
    ) {
        let tail = isChannelEnding ? longestSegment : .zero
        for index in tracks.indices { tracks[index].appendLate(before: next, tail: tail, leading: leading) }
    }

    /// Returns what a segment has of each track that has begun.
    mutating func write(from start: Ticks, to end: Ticks, sequenceNumber: UInt32) -> [SplicedAudioTrack] {
        let written = tracks.indices.compactMap { index in
            tracks[index].write(from: start, to: end, sequenceNumber: sequenceNumber)
        }
        // A track that begins stands after those that have begun before.
        tracks = tracks.filter { $0.position != nil } + tracks.filter { $0.position == nil }
        return written
    }

    /// Resumes at `position`, which other sources reached. The channel's tracks come first, in their order, whether this
    /// source has them or not.
    mutating func resume(at position: TimelinePosition) {
        let known = position.audioTracks.map { position in
            var track =
                tracks.first { $0.identity == position.identity }
                ?? FurtherAudioTrack(position.identity, policy: policy, fillsSilence: fillsSilence, after: position)
            track.resume(at: position)
            return track
        }
        let others = tracks.filter { track in !known.contains { $0.identity == track.identity } }
        tracks = Array((known + others).prefix(AudioTrackChoice.limit))
        for index in tracks.indices { tracks[index].limitQueue(bytes: byteLimit / tracks.count) }
        for index in tracks.indices.dropFirst(known.count) { tracks[index].resume(at: nil) }
    }
}

extension [FurtherAudio] {
    fileprivate func packets(of track: AudioTrackIdentity) -> [AudioPacket] {
        first { $0.track == track }?.packets ?? []
    }
}
