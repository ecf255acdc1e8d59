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
    /// Whether renditions are made of captions and teletext.
    let makesCaptions: Bool
    private var timeline: SubtitleTimeline
    private(set) var undecryptableSegments = 0
    private(set) var unwrittenFiles = 0
    /// Whether the newest file could not be written.
    private var isWriteFailing = false
    /// Captions and teletext pages without a rendition, because there are too many.
    private(set) var excessSources: Set<CaptionSource> = []

    /// - Parameter isLive: whether late subtitles are skipped. Those of a finished playlist are waited for.
    init(_ ring: DVRRing, makesCaptions: Bool, isLive: Bool) {
        self.ring = ring
        self.makesCaptions = makesCaptions
        let lateness = max(Ticks.seconds(Int64(ring.targetDuration) * 2), .seconds(6))
        timeline = SubtitleTimeline(
            sources: ring.snapshot.subtitles.map { $0.source.flatMap(CaptionSource.init) },
            lateness: isLive ? lateness : nil)
    }

    /// Adds renditions of captions and teletext pages that come with `segment`, which is about to be published.
    mutating func addCaptionRenditions(for segment: SplicedSegment) async {
        guard makesCaptions else { return }
        let snapshot = ring.snapshot
        let known = timeline.captionSources
        let new = CaptionRendition.renditions(
            declared: snapshot.captions(after: segment.captions.instreamIDs),
            pages: segment.privateDataStreams.flatMap(\.subtitlePages),
            except: known, names: snapshot.subtitles.map(\.rendition.name))
        let room = max(0, CaptionRendition.limit - known.count)
        excessSources.formUnion(new.dropFirst(room).map(\.source))
        for added in new.prefix(room) {
            timeline.add(added.source, as: ring.snapshot.subtitles.count)
            await ring.addSubtitles(added.rendition, source: added.source.text)
        }
    }

    var tracks: [(rendition: SubtitleRendition, counts: Counts<SubtitleCount>)] {
        ring.snapshot.subtitles.enumerated().map { ($1, timeline.counts(of: $0)) }
    }

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
        let initialization: [UInt8]?
        do throws(DecryptError) {
            initialization = try tracked.clearInitialization()
            clear = try SegmentDecryptor.decrypt(
                tracked.body, under: segment.keys.aes128, key: tracked.key, keyURL: tracked.keyURL,
                mediaSequence: segment.mediaSequence, content: .subtitles)
        } catch {
            if error.reason == .canceled { throw .canceled }
            undecryptableSegments += 1
            return [.skipped(mediaSequence: segment.mediaSequence, .undecryptableSubtitles(error))]
        }
        let input = SubtitleInput(
            mediaSequence: segment.mediaSequence, discontinuitySequence: segment.discontinuitySequence,
            duration: Ticks(segment.duration), programDateTime: segment.programDateTime?.millisecondsSince1970,
            isAfterDiscontinuity: tracked.isAfterDiscontinuity, initialization: initialization, bytes: clear)
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
