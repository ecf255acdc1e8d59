import Media
import Mux
import Transcode

/// Places periods on the timeline, cuts them into segments, adds their audio, and writes finished segments.
struct PeriodAssembler: Sendable {
    var position: TimelinePosition
    /// The period whose segments are written; nil before the first since the channel started or resumed.
    var period: OpenPeriod?
    /// Whether the current period could not be described, so that its media is dropped. Late audio of an audio-only period
    /// before it, which `period` then is, is still written.
    var isRejected = false
    var cutter: SegmentCutter
    var audio: AudioTrackAssembler
    var further: FurtherAudioTracks
    var ladder: FurtherVideoTracks
    var silence = SilentFrameCache()
    private let fillsAudioGaps: Bool
    private var sanitizer = TimestampSanitizer()
    var dates: ProgramDateTimeClock
    var markers = PendingMarkers()
    private var frameDuration = VideoTimestampUnwrapper.assumedFrameDuration
    /// Counts of periods, of segments without a sync sample, and of frames of rejected periods.
    var ownCounts = SpliceCounts()
    var lastSequence: UInt64 = 0
    /// Source spans of parts appended since the last segment was written.
    var spans: [SourceSpan] = []
    var lastRejection: MediaError?

    init(_ configuration: SpliceConfiguration) {
        position = configuration.position
        cutter = SegmentCutter(longest: configuration.longestSegment, holdsNewest: configuration.isFinished)
        audio = AudioTrackAssembler(
            next: configuration.position.audioDecodeTime, configuration: configuration.position.audio,
            fillsGaps: configuration.fillsSilence)
        further = FurtherAudioTracks(
            policy: configuration.audio, fillsSilence: configuration.fillsSilence,
            longestSegment: configuration.longestSegment, byteLimit: configuration.heldAudioBytes,
            renditions: configuration.audioRenditions, patience: configuration.patience,
            position: configuration.position)
        ladder = FurtherVideoTracks(
            configuration.variants, leading: configuration.leadingVariant,
            areOnDemand: configuration.hasVariantsOnDemand,
            byteLimit: configuration.heldVariantBytes,
            after: configuration.position.videoTracks)
        fillsAudioGaps = configuration.fillsSilence
        dates = ProgramDateTimeClock(wallClock: configuration.wallClock, end: configuration.datedUntil)
    }

    var longestSegment: Ticks { cutter.longest }

    var counts: SpliceCounts {
        [sanitizer.counts, audio.counts, dates.counts, markers.counts].reduce(ownCounts, +)
    }

    mutating func append(_ matched: VideoSpanQueue.MatchedPart) -> [SplicedSegment] {
        let part = matched.part
        if part.isCutMidGOP { cutter.recordMidGOPCut() }
        var segments: [SplicedSegment] = []
        if part.signal != nil {
            segments += finish(with: matched.lateAudio, before: part.videoSpan)
            beginPeriod(part, configuration: matched.configuration)
        }
        guard let period, !isRejected else {
            ownCounts[.unsupportedFrames] += part.units.count
            markers.discard(part)
            return segments
        }
        let timeline = period.timeline
        frameDuration = part.frameDuration
        audio.append(matched.audio)
        further.adopt(part.videoSpan, on: timeline, leading: matched.audio, audio.configuration)
        ladder.adopt(part.videoSpan, frameDuration: part.frameDuration)
        spans.append(SourceSpan(part, period: period.description.index, on: timeline))
        if let date = part.programDateTime, let start = part.units.presentationStart {
            dates.record(date, at: timeline.presentation(of: start))
        }
        markers.append(part, on: timeline)
        let cuts = cutter.append(
            part.units, of: part.mediaSequence, continuesPeriod: part.signal == nil,
            frameDuration: part.frameDuration,
            reordering: timeline.reordering)
        return segments + write(cuts, mediaSequence: part.mediaSequence)
    }

    mutating func release() -> [SplicedSegment] { write(cutter.release(), mediaSequence: lastSequence) }

    /// Ends the period or the channel and returns the segments held back.
    mutating func finish(
        with late: [TimedAudio] = [], before next: AudioVideoMatcher.VideoSpan? = nil
    ) -> [SplicedSegment] {
        audio.append(late)
        further.appendLate(before: next, leading: late)
        if isAudioOnly { return writeAudioOnly(mediaSequence: lastSequence, isEnding: true) }
        let cuts = cutter.finish()
        let written = write(Array(cuts.dropLast()), mediaSequence: lastSequence)
        guard let last = cuts.last, let end = write(last, mediaSequence: lastSequence, endsPeriod: true) else {
            return written
        }
        return written + [end]
    }

    /// Resumes at `position`, which other sources reached; the next part begins a period there.
    mutating func resume(at position: TimelinePosition, datedUntil: Int64?) {
        self.position = position
        (period, isRejected) = (nil, false)
        audio.resume(at: position.audioDecodeTime, configuration: position.audio)
        further.resume(at: position)
        ladder.resume(after: position.videoTracks)
        markers.resume(at: position.presentationEnd)
        dates.resume(datedUntil: datedUntil)
    }

    /// Begins a period. If its parameter sets cannot be described, the period is rejected and counted until the next
    /// one begins.
    private mutating func beginPeriod(_ part: PeriodPart, configuration: AudioConfiguration?) {
        do throws(MediaError) {
            try describePeriod(part, configuration: configuration)
        } catch {
            isRejected = true
            lastRejection = error
        }
    }

    private mutating func describePeriod(
        _ part: PeriodPart, configuration: AudioConfiguration?
    ) throws(MediaError) {
        guard let first = part.units.first else { return }
        let video = try VideoDescription(first.packet.configuration)
        // A period without audio keeps the track, filled with silence: players that lose a track do not resume it.
        let audioConfiguration = configuration ?? silentConfiguration
        let initSection = try InitWriter.write(video: first.packet.configuration, audio: audioConfiguration)
        let timeline = PeriodTimeline(
            first: first, presentedFrom: part.units.presentationStart, at: position.presentationEnd)
        if timeline.leastOffset < 0 { ownCounts[.periodsBeyondCompositionDelay] += 1 }
        audio.beginPeriod(
            audioConfiguration, silence: audioConfiguration.flatMap { silence.frame(for: $0) }, on: timeline)
        position.audio = audioConfiguration ?? position.audio
        dates.beginPeriod(at: position.presentationEnd, lostBefore: part.lostBefore)
        markers.beginPeriod()
        let description = PeriodDescription(
            index: ownCounts[.periods], cause: part.signal ?? .resumed,
            video: PeriodDescription.VideoFormat(video, first: first.packet, frameDuration: part.meanFrameDuration),
            audioCodec: audioConfiguration?.codecString)
        begin(OpenPeriod(timeline: timeline, initSection: initSection, description: description))
    }

    mutating func begin(_ next: OpenPeriod) {
        (period, isRejected) = (next, false)
        ownCounts[.periods] += 1
    }

    /// Configuration in which a period without audio continues; nil if it has no audio track.
    private var silentConfiguration: AudioConfiguration? {
        mutating get {
            guard fillsAudioGaps, let last = audio.configuration, silence.frame(for: last) != nil else { return nil }
            return last
        }
    }

    mutating func write(_ cuts: [SegmentCutter.CutSegment], mediaSequence: UInt64) -> [SplicedSegment] {
        lastSequence = mediaSequence
        var segments: [SplicedSegment] = []
        for cut in cuts {
            if let segment = write(cut, mediaSequence: mediaSequence) { segments.append(segment) }
        }
        return segments
    }

    /// - Parameters:
    ///   - endsPeriod: whether it is known that nothing of the period follows.
    ///   - tail: time for which audio goes on after the video. The last frame stays that long, as far as the segment may
    ///     become longer.
    mutating func write(
        _ cut: SegmentCutter.CutSegment, mediaSequence: UInt64, endsPeriod: Bool = false, tail: Ticks = .zero
    ) -> SplicedSegment? {
        guard !isRejected, let timeline = period?.timeline, let first = cut.units.first else { return nil }
        let decodeTime = position.videoDecodeTime ?? timeline.decode(of: first.dts).count
        var samples = videoSamples(cut, on: timeline, from: decodeTime, endsPeriod: endsPeriod)
        var duration = samples.reduce(Int64(0)) { $0 + Int64($1.duration) }
        let start =
            timeline.presentation(of: cut.units.presentationStart ?? first.pts)
            - gap(before: first, on: timeline, from: decodeTime)
        let room = max(.zero, min(tail, longestSegment - Ticks(duration)))
        let audioTrack = audio.dequeueSamples(
            from: start, to: position.presentationEnd + room, isEnding: room > .zero
        ).map {
            MuxTrack(trackID: TrackID.audio, decodeTime: UInt64($0.decodeTime), samples: $0.samples)
        }
        if room > .zero { duration += holdLastFrame(&samples, for: room).count }
        recordStart(samples.first?.randomAccess)
        let tracks = SegmentTracks(
            video: MuxTrack(trackID: TrackID.video, decodeTime: UInt64(decodeTime), samples: samples),
            audio: audioTrack, start: start, duration: Ticks(duration), isIndependent: samples.first?.isSync ?? false,
            position: position.advanced(toVideo: decodeTime + duration, audio: audio.nextDecodeTime),
            mediaSequence: mediaSequence,
            upstreamEnd: UpstreamSegmentEnd(mediaSequence: cut.mediaSequence, frames: PublishedFrames(cut.units)),
            captions: cut.units.reduce(into: CaptionChannels()) { $0.formUnion($1.packet.captions) })
        return emit(tracks)
    }

    /// The time that is missing at the start of a segment. It is a part of it, because the last one is written.
    private func gap(before first: TimedVideo, on timeline: PeriodTimeline, from decodeTime: Int64) -> Ticks {
        let gap = timeline.decode(of: first.dts) - Ticks(decodeTime)
        // Less than most of a frame is the jitter of the last frame's duration.
        return period?.hasSegments == true && gap.count * 4 > frameDuration.count * 3 ? gap : .zero
    }

    private mutating func videoSamples(
        _ cut: SegmentCutter.CutSegment, on timeline: PeriodTimeline, from decodeTime: Int64, endsPeriod: Bool
    ) -> [MuxSample] {
        let units = cut.units
        var times: [(decode: Int64, presentation: Int64)] = []
        times.reserveCapacity(units.count)
        sanitizer.anchor(at: decodeTime)
        for (index, unit) in units.enumerated() {
            times.append(
                sanitizer.admit(
                    decode: index == 0 ? decodeTime : timeline.decode(of: unit.dts).count,
                    presentation: timeline.presentation(of: unit.pts).count, leastOffset: timeline.leastOffset))
        }
        var lastDuration = lastDuration(of: cut)
        position.presentationEnd = Ticks((times.map(\.presentation).max() ?? 0) + lastDuration)
        if endsPeriod, let last = times.last?.decode {
            // Frames to be presented before the last one never came: decoding resumes when presentation does.
            let decodeEnd = (position.presentationEnd - PeriodTimeline.compositionDelay).count
            lastDuration = min(
                max(lastDuration, decodeEnd - last), lastDuration + Ticks.longestFrame.count)
        }
        return units.indices.map { index in
            let next = index + 1 < times.count ? times[index + 1].decode : times[index].decode + lastDuration
            return MuxSample(
                duration: UInt32(next - times[index].decode),
                compositionOffset: Int32(times[index].presentation - times[index].decode),
                randomAccess: units.randomAccess(at: index), payload: units[index].payload)
        }
    }

    private mutating func recordStart(_ randomAccess: RandomAccessPoint?) {
        switch randomAccess {
        case .instantaneousRefresh: break
        case .cleanRandomAccess, .recoveryPoint, .gradualRefresh: ownCounts[.openSegments] += 1
        case nil: ownCounts[.segmentsWithoutSync] += 1
        }
    }

    /// Returns the frame duration, or as much of it as the segment has room for: slides stand for seconds.
    private func longestFrameDuration(in cut: SegmentCutter.CutSegment) -> Int64 {
        guard let last = cut.units.last, cut.latestEnd > last.dts else { return frameDuration.count }
        return min(frameDuration, cut.latestEnd - last.dts).count
    }

    /// Returns the duration of a segment's last frame: until the next frame if that is known, otherwise the median of
    /// the segment. A frame missing before the last one does not count.
    func lastDuration(of cut: SegmentCutter.CutSegment) -> Int64 {
        if let end = cut.end, let last = cut.units.last, end > last.dts { return (end - last.dts).count }
        let steps = zip(cut.units, cut.units.dropFirst()).map { ($1.dts - $0.dts).count }.sorted()
        guard let middle = steps.dropFirst(steps.count / 2).first, middle > 0,
            middle <= Ticks.longestFrame.count
        else { return longestFrameDuration(in: cut) }
        return middle
    }

    /// A period whose media is placed and written.
    struct OpenPeriod: Sendable {
        let timeline: PeriodTimeline
        let initSection: InitSection
        let description: PeriodDescription
        var hasSegments = false
    }

    /// Samples of one output segment, with what only their kind knows about it.
    struct SegmentTracks {
        let video: MuxTrack?
        let audio: MuxTrack?
        let start: Ticks
        let duration: Ticks
        let isIndependent: Bool
        let position: TimelinePosition
        /// Upstream media sequence number of the segment that completed this one.
        let mediaSequence: UInt64
        let upstreamEnd: UpstreamSegmentEnd
        var captions = CaptionChannels()
    }

    /// Writes one output segment and advances the timeline. Segments with and without video are built here alone.
    /// - Returns: nil if no period is open.
    mutating func emit(_ tracks: SegmentTracks) -> SplicedSegment? {
        guard let period else { return nil }
        let isFirstOfChannel = position.isInitial
        let end = tracks.position.presentationEnd
        let fragment = FragmentWriter.write(
            sequenceNumber: position.fragmentSequence, video: tracks.video, audio: tracks.audio,
            messages: markers.messages.dequeue(before: end))
        let furtherAudio = further.write(from: tracks.start, to: end, sequenceNumber: position.fragmentSequence)
        let furtherVideo = tracks.video.map {
            ladder.write(
                FurtherVideoTrack.Cut(
                    start: tracks.start, end: end, decodeTime: Int64($0.decodeTime), duration: tracks.duration.count,
                    isIndependent: tracks.isIndependent, timeline: period.timeline,
                    sequenceNumber: position.fragmentSequence))
        }
        position = tracks.position
        position.audioTracks = further.positions
        position.videoTracks = ladder.identities
        defer {
            self.period?.hasSegments = true
            spans = []
        }
        return SplicedSegment(
            initSection: period.initSection, fragment: fragment,
            isDiscontinuous: !period.hasSegments && !isFirstOfChannel,
            isIndependent: tracks.isIndependent, duration: tracks.duration,
            programDateTime: dates.stamp(from: tracks.start, duration: tracks.duration), position: position,
            mediaSequence: tracks.mediaSequence, upstreamEnd: tracks.upstreamEnd, description: period.description,
            furtherAudio: furtherAudio, furtherVideo: furtherVideo ?? [],
            leadingAudioBytes: tracks.audio?.samples.reduce(0) { $0 + $1.payload.count } ?? 0,
            captions: tracks.captions, privateData: markers.privateData.dequeue(before: end),
            spans: spans,
            placements: markers.dequeuePlacements(before: end, dates: dates),
            spliceCommands: markers.dequeueSpliceCommands(before: end, dates: dates))
    }
}
