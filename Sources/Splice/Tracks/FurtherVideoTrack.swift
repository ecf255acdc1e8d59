import Demux
import Media
package import Mux
import Support
import Transcode

/// A video track beside the leading one: another variant of the ladder.
///
/// It adopts what the leading track decides: where periods begin and are placed, and where segments begin and end, in
/// decode time too. A segment that it cannot begin there, or of which it lacks more than a frame rate explains, is a gap
/// of this track alone.
struct FurtherVideoTrack: Sendable {
    /// A segment of the leading track, on the channel's timeline.
    struct Cut: Sendable {
        /// Presentation times of the first frame, and of the end of the last.
        let start: Ticks
        let end: Ticks
        /// Decode time of the first sample, and the duration of all, in the video timescale.
        let decodeTime: Int64
        let duration: Int64
        /// Whether the segment begins with a sync sample. The track's then does too.
        let isIndependent: Bool
        let timeline: PeriodTimeline
        let sequenceNumber: UInt32
    }

    /// The segments of a variant that begins, none of which the leading track had lately.
    private static let unmatchedLimit = 8

    let identity: VideoTrackIdentity
    let hasSource: Bool
    private var demuxer = RenditionDemuxer(tracks: .video, audioStage: AudioTranscodeStage(.copy))
    private var matcher: VariantMatcher
    /// Frames that belong to the current period and were not written, on the clock of the leading track.
    private var pending: [TimedVideo] = []
    private var frameDuration = VideoTimestampUnwrapper.assumedFrameDuration
    private var description:
        (configuration: VideoConfiguration, initSection: InitSection, format: PeriodDescription.VideoFormat)?
    /// Whether the leading track went on without this one. It does not wait again before this one has caught up.
    private var isLate = false
    /// Whether the variant is followed: on demand from its first segment on, until its end.
    private var isFollowed: Bool
    /// The parts and segments of the leading track that this one has to adopt yet, because it began later.
    private var backlog = LadderHistory()
    private var late: [(sequenceNumber: UInt32, media: SplicedVideoTrack)] = []
    /// Whether the track has the segment before, in the same period.
    private var isContinuous = false
    private var ownCounts = Counts<FurtherVideoCount>()

    init(_ identity: VideoTrackIdentity, hasSource: Bool, isOnDemand: Bool = false, byteLimit: Int) {
        self.identity = identity
        isFollowed = !isOnDemand
        self.hasSource = hasSource
        matcher = VariantMatcher(byteLimit: byteLimit)
    }

    var counts: Counts<FurtherVideoCount> {
        var counts = ownCounts
        counts[.droppedFrames] += matcher.droppedFrames
        return counts
    }

    /// - Parameter history: what the leading track did lately, for a variant of which this is the first segment.
    mutating func append(_ segment: SegmentInput, after history: LadderHistory) throws(MediaError) {
        if !isFollowed {
            demuxer = RenditionDemuxer(tracks: .video, audioStage: AudioTranscodeStage(.copy))
            matcher.removeAll()
            beginPeriod()
            (isFollowed, isLate, backlog) = (true, !history.isEmpty, history)
        }
        defer { adoptBacklog() }
        let demuxed = try demuxer.demux(segment)
        matcher.appendLeftover(demuxed.flushed.video)
        append(demuxed.packets.video, discontinuitySequence: segment.discontinuitySequence)
    }

    mutating func append(_ packets: [VideoPacket], discontinuitySequence: UInt64) {
        matcher.append(packets, discontinuitySequence: discontinuitySequence)
    }

    mutating func breakContinuity() { demuxer.breakContinuity() }

    mutating func end() throws(MediaError) {
        matcher.appendLeftover(try demuxer.finish().video)
        matcher.end()
        (isFollowed, backlog) = (false, LadderHistory())
    }

    func awaitsVideo(of span: AudioVideoMatcher.VideoSpan) -> Bool {
        guard hasSource, isFollowed, !isLate else { return false }
        return backlog.isEmpty ? !matcher.covers(span) : !backlog.hasCuts
    }

    mutating func adopt(_ span: AudioVideoMatcher.VideoSpan, frameDuration: Ticks) {
        guard hasSource else { return }
        guard backlog.isEmpty else {
            isLate = true
            backlog.append(.part(span, frameDuration: frameDuration))
            return adoptBacklog()
        }
        adoptNext(span, frameDuration: frameDuration)
    }

    private mutating func adoptNext(_ span: AudioVideoMatcher.VideoSpan, frameDuration: Ticks) {
        isLate = !matcher.covers(span)
        if span.beginsPeriod {
            beginPeriod()
        }
        self.frameDuration = min(frameDuration, matcher.frameDuration, Ticks.longestFrame)
        pending += matcher.dequeueVideo(of: span, tolerance: tolerance)
    }

    /// The largest distance of a frame from a segment boundary of the leading track.
    private var tolerance: Ticks { Ticks(frameDuration.count / 2) }

    /// Returns the track's part of a segment of the leading track; nil if that is a gap.
    mutating func write(_ cut: Cut) -> SplicedVideoTrack? {
        guard backlog.isEmpty else {
            backlog.append(.cut(cut))
            return nil
        }
        return isFollowed || !pending.isEmpty ? writeNext(cut) : nil
    }

    private mutating func writeNext(_ cut: Cut) -> SplicedVideoTrack? {
        let presented = { (unit: TimedVideo) in cut.timeline.presentation(of: unit.pts) }
        let end = pending.firstIndex { presented($0) >= cut.end - tolerance } ?? pending.count
        let start = pending[..<end].firstIndex { presented($0) >= cut.start - tolerance } ?? end
        var units = Array(pending[start..<end])
        drop(start)
        pending.removeFirst(end - start)
        guard let first = units.first, presented(first) <= cut.start + tolerance else { return recordGap(units.count) }
        units[0].beginsPeriod = !isContinuous && first.packet.randomAccess != nil
        units[0].usesOpenRandomAccess = !cut.isIndependent
        if units[0].beginsPeriod {
            // Its leading pictures refer to frames that no decoder has.
            let count = units.count
            units.removeAll { $0.pts < first.pts }
            ownCounts[.droppedFrames] += count - units.count
        }
        let last = units.map(presented).max() ?? cut.start
        let isWhole = cut.end - last <= Ticks.longestFrame
        guard isWhole, describe(units), units.allSatisfy({ $0.packet.configuration == description?.configuration })
        else { return recordGap(units.count) }
        let samples = samples(of: units, in: cut)
        guard let description, samples.first?.isSync == true || isContinuous && !cut.isIndependent else {
            return recordGap(units.count)
        }
        ownCounts[.segments] += 1
        isContinuous = true
        let track = MuxTrack(trackID: TrackID.video, decodeTime: UInt64(cut.decodeTime), samples: samples)
        return SplicedVideoTrack(
            initSection: description.initSection, format: description.format,
            fragment: FragmentWriter.write(sequenceNumber: cut.sequenceNumber, video: track, audio: nil))
    }

    /// Removes and returns the media of segments that were written before the track began.
    mutating func dequeueLate() -> [(sequenceNumber: UInt32, media: SplicedVideoTrack)] {
        defer { late = [] }
        return late
    }

    /// Adopts what the leading track did before the variant began, from the first part of which it has video.
    private mutating func adoptBacklog() {
        if description == nil {
            guard let first = backlog.firstPart(where: matcher.overlaps) else {
                // On a clock of its own, the variant begins with the next period.
                if matcher.segmentCount > Self.unmatchedLimit { backlog = LadderHistory() }
                return
            }
            backlog.removeFirst(first)
        }
        while let event = backlog.events.first {
            switch event {
            case .part(let span, let frameDuration) where matcher.covers(span):
                backlog.removeFirst()
                adoptNext(span, frameDuration: frameDuration)
            case .part(let span, _):
                guard !span.beginsPeriod, let cut = backlog.dequeueCut(endingBefore: pendingEnd) else { return }
                writeLate(cut)
            case .cut(let cut):
                backlog.removeFirst()
                writeLate(cut)
            }
        }
    }

    private mutating func writeLate(_ cut: Cut) {
        // The segment before the first one of the track is none of its gaps.
        let first = pending.map(\.pts).min().map { cut.timeline.presentation(of: $0) }
        if description == nil, first.map({ $0 >= cut.end - tolerance }) ?? true { return }
        if let media = writeNext(cut) { late.append((cut.sequenceNumber, media)) }
    }

    /// The end of the frames that were not written; nil if there are none.
    private var pendingEnd: Ticks? { pending.map(\.pts).max().map { $0 + frameDuration + tolerance } }

    /// The samples take the decode time of the leading segment, to the tick.
    private func samples(of units: [TimedVideo], in cut: Cut) -> [MuxSample] {
        guard let first = units.first else { return [] }
        let end = cut.decodeTime + cut.duration
        var sanitizer = TimestampSanitizer()
        sanitizer.anchor(at: cut.decodeTime)
        let leastOffset = min(0, (PeriodTimeline.compositionDelay - (first.pts - first.dts)).count)
        let times = units.enumerated().map { index, unit in
            sanitizer.admit(
                decode: min(cut.decodeTime + (unit.dts - first.dts).count, end - Int64(units.count - index)),
                presentation: cut.timeline.presentation(of: unit.pts).count, leastOffset: leastOffset)
        }
        return units.indices.map { index in
            let next = index + 1 < times.count ? times[index + 1].decode : end
            return MuxSample(
                duration: UInt32(clamping: next - times[index].decode),
                compositionOffset: Int32(clamping: times[index].presentation - times[index].decode),
                randomAccess: units.randomAccess(at: index), payload: units[index].payload)
        }
    }

    /// Describes the period by its first segment with media.
    /// - Returns: whether the period has a description.
    private mutating func describe(_ units: [TimedVideo]) -> Bool {
        guard description == nil, let first = units.first, let last = units.last else { return description != nil }
        let configuration = first.packet.configuration
        let steps = units.count > 1 ? ((last.dts - first.dts).count, Int64(units.count - 1)) : (frameDuration.count, 1)
        do throws(MediaError) {
            description = (
                configuration, try InitWriter.write(video: configuration, audio: nil),
                PeriodDescription.VideoFormat(
                    try VideoDescription(configuration), first: first.packet, frameDuration: steps)
            )
        } catch { return false }
        return true
    }

    mutating func recordOther() { ownCounts[.otherSegments] += 1 }

    private mutating func recordGap(_ frames: Int) -> SplicedVideoTrack? {
        isContinuous = false
        ownCounts[.gaps] += 1
        ownCounts[.droppedFrames] += frames
        return nil
    }

    private mutating func drop(_ count: Int) {
        ownCounts[.droppedFrames] += count
        pending.removeFirst(count)
    }

    private mutating func beginPeriod() {
        drop(pending.count)
        (description, isContinuous) = (nil, false)
    }

    /// Resumes where other sources left the channel; the next part begins a period.
    mutating func resume(byteLimit: Int) {
        matcher.byteLimit = byteLimit
        (isLate, backlog) = (false, LadderHistory())
        beginPeriod()
    }
}

/// The part of a segment in a video track beside the leading one.
package struct SplicedVideoTrack: Equatable, Sendable {
    package let initSection: InitSection
    package let format: PeriodDescription.VideoFormat
    package let fragment: Fragment
}

/// The outcome of the segments and frames of a video track beside the leading one.
package enum FurtherVideoCount: Int, CountKey {
    /// Segments of the leading track that the track has, and those that are gaps of it.
    case segments, gaps
    /// Segments with the media of another track, because the source has no variant for this one.
    case otherSegments
    /// Frames that matched no leading video, were late, or belong to a segment that is a gap.
    case droppedFrames
}
