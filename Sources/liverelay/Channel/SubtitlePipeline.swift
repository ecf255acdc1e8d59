import Decrypt
import LiveRing
import Media
import Playlist
import Splice
import Tracker

/// The subtitles beside a channel's line: what the tracker delivers of them is decrypted, placed and published. No trouble
/// with them is the channel's.
struct SubtitlePipeline: Sendable {
    private let ring: DVRRing
    private var timeline: SubtitleTimeline
    /// Segments that do not decrypt.
    private(set) var undecryptableSegments = 0
    /// Files that could not be stored.
    private(set) var unwrittenFiles = 0
    /// The newest one could not be stored.
    private var isWriteFailing = false

    /// - Parameter isLive: what falls behind is not waited for; of a finished programme everything is.
    init(_ ring: DVRRing, isLive: Bool) {
        self.ring = ring
        let lateness = max(Ticks.seconds(Int64(ring.targetDuration) * 2), .seconds(6))
        timeline = SubtitleTimeline(renditions: ring.snapshot.subtitles.count, lateness: isLive ? lateness : nil)
    }

    var counts: SubtitleCounts { timeline.counts }

    mutating func process(_ content: Delivery.Content, of rendition: Int) async -> [ChannelPipeline.Event] {
        switch content {
        case .segment(let tracked): await process(tracked, of: rendition)
        // The segment that comes next says that it follows a seam.
        case .lost, .outageGap: []
        case .ended: await publish(timeline.end(rendition))
        }
    }

    private mutating func process(_ tracked: TrackedSegment, of rendition: Int) async -> [ChannelPipeline.Event] {
        let segment = tracked.segment
        let clear: [UInt8]
        do throws(DecryptError) {
            clear = try SegmentDecryptor.decrypt(
                tracked.body, keys: segment.keys, key: tracked.key, keyURL: tracked.keyURL,
                mediaSequence: segment.mediaSequence)
        } catch {
            undecryptableSegments += 1
            return [.skipped(mediaSequence: segment.mediaSequence, why: "its subtitles: \(error.words)")]
        }
        let input = SubtitleInput(
            mediaSequence: segment.mediaSequence, discontinuitySequence: segment.discontinuitySequence,
            duration: Ticks(segment.duration), programDateTime: segment.programDateTime?.millisecondsSince1970,
            isAfterDiscontinuity: tracked.isAfterDiscontinuity, bytes: clear)
        return await publish(timeline.append(input, rendition: rendition))
    }

    /// A segment of the picture was published under `mediaSequence`; nil: it could not be.
    mutating func recordPublished(_ segment: SplicedSegment, as mediaSequence: UInt64?) async -> [ChannelPipeline.Event]
    {
        guard let mediaSequence else {
            timeline.skip(segment)
            return []
        }
        return await publish(timeline.append(segment, publishedAs: mediaSequence))
    }

    /// No more of the picture comes.
    mutating func finish() async -> [ChannelPipeline.Event] { await publish(timeline.endVideo()) }

    private mutating func publish(_ settled: [SegmentSubtitles]) async -> [ChannelPipeline.Event] {
        var events: [ChannelPipeline.Event] = []
        for subtitles in settled {
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
    fileprivate init(_ settled: SegmentSubtitles) {
        self.init(rendition: settled.rendition, mediaSequence: settled.mediaSequence, bytes: settled.bytes)
    }
}

extension Ticks {
    /// The nearest tick; of a length that no playlist means, the longest one that can be counted.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: Ticks.perSecond)
        let part = (attoseconds / 1_000_000_000 * Ticks.perSecond + 500_000_000) / 1_000_000_000
        self.init(overflows ? Int64.max / 4 : min(whole + part, Int64.max / 4))
    }
}
