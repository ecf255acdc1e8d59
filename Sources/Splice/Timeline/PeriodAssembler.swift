import Demux
import Media
import Mux
import Transcode

/// Writes runs: places each on the timeline, cuts it, lays its sound beside it, and gives finished segments.
struct PeriodAssembler: Sendable {
    var position: TimelinePosition
    var timeline: PeriodTimeline?
    var description: PeriodDescription?
    var initSection: InitSection?
    private var cutter: SegmentCutter
    var audio: AudioTrackAssembler
    var silence = SilentFrameCache()
    private let fillsSilence: Bool
    private var sanitizer = TimestampSanitizer()
    var dates: ProgramDateTimeClock
    var markers = PendingMarkers()
    private var frameDuration = VideoTimestampUnwrapper.assumedFrameDuration
    var beginsPeriod = false
    var periodCount = 0
    private var periodsBeyondDelay = 0
    private var segmentsWithoutSync = 0
    private var framesRefused = 0
    var lastSequence: UInt64 = 0
    /// Of pieces taken since the last segment was written.
    var spans: [SourceSpan] = []
    /// Why the last run that was left out could not be described.
    var lastRefusal: MediaError?

    init(_ configuration: SpliceEngine.Configuration) {
        position = configuration.position
        cutter = SegmentCutter(longest: configuration.maxSegmentDuration)
        audio = AudioTrackAssembler(
            next: configuration.position.audioDecodeTime, configuration: configuration.position.audio,
            fillsHoles: configuration.fillsAudioGaps)
        fillsSilence = configuration.fillsAudioGaps
        dates = ProgramDateTimeClock(wallClock: configuration.wallClock, end: configuration.datedUntil)
    }

    /// No segment may be longer, if anything permits it.
    var longestSegment: Ticks { cutter.longest }

    /// Pictures of the current run wait for what comes next.
    var isHolding: Bool { cutter.isHolding }

    /// The sound that the current run's init section describes.
    var audioConfiguration: AudioConfiguration? { audio.configuration }

    var counts: SpliceCounts {
        var counts = SpliceCounts()
        counts.periods = periodCount
        counts.timestampsSanitized = sanitizer.changed
        counts.periodsBeyondCompositionDelay = periodsBeyondDelay
        counts.segmentsWithoutSync = segmentsWithoutSync
        counts.unsupportedFrames = framesRefused
        counts.audioOverlapping = audio.counts.overlapping
        counts.audioTrimmed = audio.counts.trimmed
        counts.audioSilence = audio.counts.silentFrames
        counts.audioDriftCorrections = audio.counts.driftCorrections
        counts.datesRejected = dates.rejectedDates
        counts.messagesWritten = markers.messages.written
        counts.duplicateMessages = markers.messages.duplicates
        counts.metadataDiscarded = markers.messages.discarded + markers.discarded
        return counts
    }

    mutating func append(_ sounded: VideoSpanQueue.MatchedPart) -> [SplicedSegment] {
        let piece = sounded.part
        if piece.isCutMidGOP { cutter.recordMidGOPCut() }
        var segments: [SplicedSegment] = []
        if piece.signal != nil {
            segments += finish(with: sounded.lateAudio)
            beginPeriod(piece, configuration: sounded.configuration)
        }
        guard let timeline else {
            framesRefused += piece.units.count
            markers.discard(piece)
            return segments
        }
        frameDuration = piece.frameDuration
        audio.append(sounded.audio)
        spans.append(SourceSpan(piece, run: periodCount - 1, on: timeline))
        if let date = piece.programDateTime, let first = piece.units.first {
            dates.record(date, at: timeline.presentation(of: first.pts))
        }
        markers.append(piece, on: timeline)
        let cuts = cutter.append(
            piece.units, of: piece.mediaSequence, continuesPeriod: piece.signal == nil,
            frameDuration: piece.frameDuration,
            reordering: timeline.reordering)
        return segments + write(cuts, mediaSequence: piece.mediaSequence)
    }

    /// The run, or the channel, ended: gives what was held back.
    /// - Parameter late: the last of its sound.
    mutating func finish(with late: [TimedAudio] = []) -> [SplicedSegment] {
        audio.append(late)
        if isAudioOnly { return writeAudioOnly(mediaSequence: lastSequence, isEnding: true) }
        let cuts = cutter.finish()
        let written = write(Array(cuts.dropLast()), mediaSequence: lastSequence)
        guard let last = cuts.last, let end = write(last, mediaSequence: lastSequence, endsPeriod: true) else {
            return written
        }
        return written + [end]
    }

    /// The channel went on to `position` without this one; the next piece begins a run there.
    mutating func resume(at position: TimelinePosition, datedUntil: Int64?) {
        self.position = position
        (timeline, description) = (nil, nil)
        audio.resume(at: position)
        markers.resume(at: position.presentationEnd)
        dates.resume(datedUntil: datedUntil)
    }

    /// A run whose parameter sets cannot be described is left out, openly, until the next one begins.
    private mutating func beginPeriod(_ piece: PeriodPart, configuration: AudioConfiguration?) {
        do throws(MediaError) {
            try describePeriod(piece, configuration: configuration)
        } catch {
            timeline = nil
            lastRefusal = error
        }
    }

    private mutating func describePeriod(
        _ piece: PeriodPart, configuration: AudioConfiguration?
    ) throws(MediaError) {
        guard let first = piece.units.first else { return }
        let video = try VideoDescription(first.packet.configuration)
        // A run without sound keeps the track, filled with silence: players that lose a track do not get it back.
        let sound = configuration ?? silentConfiguration
        initSection = try InitWriter.write(video: first.packet.configuration, audio: sound)
        let timeline = PeriodTimeline(first: first, at: position.presentationEnd)
        if timeline.leastOffset < 0 { periodsBeyondDelay += 1 }
        self.timeline = timeline
        audio.beginPeriod(sound, silence: sound.flatMap { silence.frame(for: $0) }, on: timeline)
        position.audio = sound ?? position.audio
        dates.beginPeriod(at: position.presentationEnd)
        description = PeriodDescription(
            run: periodCount, video: video, first: first.packet, audio: sound, frameDuration: piece.meanFrameDuration)
        periodCount += 1
        beginsPeriod = true
    }

    /// What a run without sound of its own goes on in; nil when it has to do without a track.
    private var silentConfiguration: AudioConfiguration? {
        mutating get {
            guard fillsSilence, let last = audio.configuration, silence.frame(for: last) != nil else { return nil }
            return last
        }
    }

    private mutating func write(_ cuts: [SegmentCutter.CutSegment], mediaSequence: UInt64) -> [SplicedSegment] {
        lastSequence = mediaSequence
        var segments: [SplicedSegment] = []
        for cut in cuts {
            if let segment = write(cut, mediaSequence: mediaSequence) { segments.append(segment) }
        }
        return segments
    }

    /// - Parameter endsRun: nothing of its run comes after it, and that is known.
    private mutating func write(
        _ cut: SegmentCutter.CutSegment, mediaSequence: UInt64, endsPeriod: Bool = false
    ) -> SplicedSegment? {
        guard let timeline, let initSection, let description, let first = cut.units.first else { return nil }
        let start = timeline.presentation(of: first.pts)
        let isChannelsFirst = position.isInitial
        let decodeTime = position.videoDecodeTime ?? timeline.decode(of: first.dts).count
        let samples = videoSamples(cut, on: timeline, from: decodeTime, endsRun: endsPeriod)
        let duration = samples.reduce(Int64(0)) { $0 + Int64($1.duration) }
        let sound = audio.dequeueSamples(from: start, to: position.presentationEnd)
        let fragment = FragmentWriter.write(
            sequenceNumber: position.fragmentSequence,
            video: MuxTrack(trackID: TrackID.video, decodeTime: UInt64(decodeTime), samples: samples),
            audio: sound.map {
                MuxTrack(trackID: TrackID.audio, decodeTime: UInt64($0.decodeTime), samples: $0.samples)
            }, messages: markers.dequeueMessages(before: position.presentationEnd))
        position.videoDecodeTime = decodeTime + duration
        position.audioDecodeTime = audio.nextDecodeTime
        position.fragmentSequence &+= 1
        if !first.isSync { segmentsWithoutSync += 1 }
        defer {
            beginsPeriod = false
            spans = []
        }
        return SplicedSegment(
            initSection: initSection, fragment: fragment, isDiscontinuous: beginsPeriod && !isChannelsFirst,
            isIndependent: first.isSync,
            duration: Ticks(duration),
            programDateTime: dates.stamp(from: start, duration: Ticks(duration)), position: position,
            mediaSequence: mediaSequence,
            upstreamEnd: UpstreamSegmentEnd(mediaSequence: cut.mediaSequence, frames: PublishedFrames(cut.units)),
            description: description, spans: spans,
            placements: markers.dequeuePlacements(before: position.presentationEnd, dates: dates),
            spliceCommands: markers.dequeueSpliceCommands(before: position.presentationEnd, dates: dates))
    }

    /// Times the samples of one segment, and moves the end of presentation.
    private mutating func videoSamples(
        _ cut: SegmentCutter.CutSegment, on timeline: PeriodTimeline, from decodeTime: Int64, endsRun: Bool
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
        if endsRun, let last = times.last?.decode {
            // Pictures that were to be shown before the last one never came: decoding goes on when showing does.
            let decodeEnd = (position.presentationEnd - PeriodTimeline.compositionDelay).count
            lastDuration = min(
                max(lastDuration, decodeEnd - last), lastDuration + VideoTimestampUnwrapper.longestFrame.count)
        }
        return units.indices.map { index in
            let next = index + 1 < times.count ? times[index + 1].decode : times[index].decode + lastDuration
            return MuxSample(
                duration: UInt32(next - times[index].decode),
                compositionOffset: Int32(times[index].presentation - times[index].decode), isSync: units[index].isSync,
                payload: units[index].payload)
        }
    }

    /// What the last picture of a segment lasts: until the next one comes or, as far as that can be known before it
    /// does, as long as most do. A picture missing in front of it does not count.
    private func lastDuration(of cut: SegmentCutter.CutSegment) -> Int64 {
        if let end = cut.end, let last = cut.units.last, end > last.dts { return (end - last.dts).count }
        let steps = zip(cut.units, cut.units.dropFirst()).map { ($1.dts - $0.dts).count }.sorted()
        guard let middle = steps.dropFirst(steps.count / 2).first, middle > 0,
            middle <= VideoTimestampUnwrapper.longestFrame.count
        else { return frameDuration.count }
        return middle
    }
}
