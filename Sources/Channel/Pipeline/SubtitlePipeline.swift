import Decrypt
import LiveRing
import Media
import Playlist
import Splice
import Support
import Tracker

/// Decrypts, places and publishes the subtitles of a channel.
///
/// Errors in subtitles never stop the channel.
struct SubtitlePipeline: Sendable {
    private let ring: DVRRing
    private var timeline: SubtitleTimeline
    /// Segments that do not decrypt.
    private(set) var undecryptableSegments = 0
    /// Files that could not be written.
    private(set) var unwrittenFiles = 0
    /// Whether the newest file could not be written.
    private var isWriteFailing = false

    /// - Parameters:
    ///   - captions: the channels of CEA-608 that the last renditions of the ring are made of.
    ///   - isLive: whether late subtitles are skipped. Those of a finished playlist are waited for.
    init(_ ring: DVRRing, captions: [Int] = [], isLive: Bool) {
        self.ring = ring
        let lateness = max(Ticks.seconds(Int64(ring.targetDuration) * 2), .seconds(6))
        timeline = SubtitleTimeline(
            renditions: ring.snapshot.subtitles.count - captions.count, captions: captions,
            lateness: isLive ? lateness : nil)
    }

    var counts: Counts<SubtitleCount> { timeline.counts }

    /// - Throws: `.canceled`.
    mutating func process(
        _ content: Delivery.Content, of rendition: Int
    ) async throws(ChannelError) -> [ChannelPipeline.Event] {
        switch content {
        case .segment(let tracked): try await process(tracked, of: rendition)
        // The next segment is flagged as following a discontinuity.
        case .lost, .outageGap: []
        case .ended: await publish(timeline.end(rendition))
        }
    }

    private mutating func process(
        _ tracked: TrackedSegment, of rendition: Int
    ) async throws(ChannelError) -> [ChannelPipeline.Event] {
        let segment = tracked.segment
        let clear: [UInt8]
        do throws(DecryptError) {
            clear = try SegmentDecryptor.decrypt(
                tracked.body, under: segment.keys.aes128, key: tracked.key, keyURL: tracked.keyURL,
                mediaSequence: segment.mediaSequence)
        } catch {
            if error.reason == .canceled { throw .canceled }
            undecryptableSegments += 1
            return [.skipped(mediaSequence: segment.mediaSequence, .undecryptableSubtitles(error))]
        }
        let input = SubtitleInput(
            mediaSequence: segment.mediaSequence, discontinuitySequence: segment.discontinuitySequence,
            duration: Ticks(segment.duration), programDateTime: segment.programDateTime?.millisecondsSince1970,
            isAfterDiscontinuity: tracked.isAfterDiscontinuity, bytes: clear)
        return await publish(timeline.append(input, rendition: rendition))
    }

    /// Records that a media segment was published, and publishes the subtitles that waited for it.
    /// - Parameter mediaSequence: the published media sequence number; nil if the segment was not written.
    mutating func recordPublished(
        _ segment: SplicedSegment, as mediaSequence: UInt64?
    ) async -> [ChannelPipeline.Event] {
        guard let mediaSequence else {
            timeline.skip(segment)
            return []
        }
        return await publish(timeline.append(segment, publishedAs: mediaSequence))
    }

    /// Publishes the remaining subtitles after the last media segment.
    mutating func finish() async -> [ChannelPipeline.Event] { await publish(timeline.endVideo()) }

    private mutating func publish(_ completed: [SegmentSubtitles]) async -> [ChannelPipeline.Event] {
        var events: [ChannelPipeline.Event] = []
        for subtitles in completed {
            do throws(RingError) {
                try await ring.publish(NewSubtitles(subtitles))
                isWriteFailing = false
            } catch {
                unwrittenFiles += 1
                if !isWriteFailing { events.append(.subtitlePublishFailed(error)) }
                isWriteFailing = true
            }
        }
        return events
    }
}

extension NewSubtitles {
    fileprivate init(_ subtitles: SegmentSubtitles) {
        self.init(
            rendition: subtitles.rendition, mediaSequence: subtitles.mediaSequence, bytes: subtitles.bytes)
    }
}
