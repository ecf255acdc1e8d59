import Demux
import Media
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
    /// Frames of further tracks than `AudioTrackChoice.limit`.
    private(set) var excessFrames = 0

    init(_ configuration: SpliceConfiguration) {
        policy = configuration.audio
        fillsSilence = configuration.fillsSilence
        longestSegment = configuration.longestSegment
        byteLimit = configuration.heldAudioBytes
        resume(at: configuration.position)
    }

    /// Where each track continues. A track keeps its place in the list.
    var positions: [AudioTrackPosition] { tracks.compactMap(\.position) }

    var counts: [(track: AudioTrackIdentity, counts: FurtherAudioCounts)] {
        tracks.map { ($0.identity, $0.counts) }
    }

    /// Appends the packets of one segment of the main rendition.
    mutating func append(
        _ demuxed: RenditionDemuxer.Demuxed, discontinuitySequence: UInt64
    ) throws(MediaError) {
        let (flushed, packets) = (demuxed.flushed.furtherAudio, demuxed.packets.furtherAudio)
        for audio in flushed + packets { insert(audio) }
        for index in tracks.indices {
            try tracks[index].append(
                flushed: flushed.packets(of: tracks[index].identity), packets.packets(of: tracks[index].identity),
                demuxed.boundary, isContinuous: demuxed.isContinuous, discontinuitySequence: discontinuitySequence)
        }
    }

    /// Appends the last packets of the rendition.
    mutating func finish(_ remaining: [FurtherAudio]) throws(MediaError) {
        for index in tracks.indices { try tracks[index].finish(remaining.packets(of: tracks[index].identity)) }
    }

    private mutating func insert(_ audio: FurtherAudio) {
        guard !tracks.contains(where: { $0.identity == audio.track }) else { return }
        guard tracks.count < AudioTrackChoice.limit else {
            excessFrames += audio.packets.count
            return
        }
        tracks.append(FurtherAudioTrack(audio.track, policy: policy, fillsSilence: fillsSilence, after: nil))
        for index in tracks.indices { tracks[index].limitQueue(bytes: byteLimit / tracks.count) }
    }

    /// Adopts a part of the leading track.
    /// - Parameters:
    ///   - leading: the leading audio of the part.
    ///   - configuration: the configuration of the leading audio in the period; nil if it has none.
    mutating func adopt(
        _ span: AudioVideoMatcher.VideoSpan, on timeline: PeriodTimeline, leading: [TimedAudio],
        _ configuration: AudioConfiguration?
    ) {
        for index in tracks.indices {
            tracks[index].adopt(span, on: timeline, leading: leading, configuration, silence: &silence)
        }
    }

    /// Appends audio of the current period that came after its segments.
    /// - Parameters:
    ///   - next: the next part of the leading track; nil if none follows.
    ///   - leading: the same of the leading audio.
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
