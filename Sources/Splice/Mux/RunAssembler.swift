/// Writes runs: places each on the timeline, cuts it, lays its sound beside it, and gives finished segments.
struct RunAssembler: Sendable {
    var position: TimelinePosition
    var timeline: ProgramTimeline?
    var description: RunDescription?
    var initSection: InitSection?
    private var cutter: SegmentCutter
    var audio: AudioClock
    var silence = SilenceSource()
    private let fillsSilence: Bool
    private var sanitizer = TimestampSanitizer()
    var dates: DateClock
    var marks = PendingMarks()
    private var frameDuration = VideoClock.assumedFrameDuration
    var beginsRun = false
    var runs = 0
    private var runsBeyondDelay = 0
    private var segmentsWithoutSync = 0
    private var picturesRefused = 0
    var lastSequence: UInt64 = 0
    /// Of pieces taken since the last segment was written.
    var spans: [SourceSpan] = []
    /// Why the last run that was left out could not be described.
    var refusal: SpliceError?

    init(_ configuration: SpliceEngine.Configuration) {
        position = configuration.position
        cutter = SegmentCutter(longest: configuration.longestSegment)
        audio = AudioClock(
            next: configuration.position.audioDecodeTime, configuration: configuration.position.sound,
            fillsHoles: configuration.fillsSilence)
        fillsSilence = configuration.fillsSilence
        dates = DateClock(wallClock: configuration.wallClock, end: configuration.datedUntil)
    }

    /// No segment may be longer, if anything permits it.
    var longestSegment: Ticks { cutter.longest }

    /// Pictures of the current run wait for what comes next.
    var isHolding: Bool { cutter.isHolding }

    /// The sound that the current run's init section describes.
    var audioConfiguration: AudioConfiguration? { audio.configuration }

    var counts: SpliceCounts {
        var counts = SpliceCounts()
        counts.runs = runs
        counts.sanitized = sanitizer.changed
        counts.runsBeyondDelay = runsBeyondDelay
        counts.segmentsWithoutSync = segmentsWithoutSync
        counts.picturesRefused = picturesRefused
        counts.audioOverlapping = audio.counts.overlapping
        counts.audioTrimmed = audio.counts.trimmed
        counts.audioSilence = audio.counts.silent
        counts.audioDepartures = audio.counts.departures
        counts.datesNotFollowed = dates.notFollowed
        counts.messagesWritten = marks.messages.written
        counts.messagesRepeated = marks.messages.repeated
        counts.metadataDiscarded = marks.messages.discarded + marks.refused
        return counts
    }

    mutating func append(_ sounded: PictureQueue.Sounded) -> [SplicedSegment] {
        let piece = sounded.piece
        if piece.isCutMidGroup { cutter.noteCutMidGroup() }
        var segments: [SplicedSegment] = []
        if piece.signal != nil {
            segments += finish(with: sounded.late)
            beginRun(piece, configuration: sounded.configuration)
        }
        guard let timeline else {
            picturesRefused += piece.units.count
            marks.refuse(piece)
            return segments
        }
        frameDuration = piece.frameDuration
        audio.append(sounded.sound)
        spans.append(SourceSpan(piece, run: runs - 1, on: timeline))
        if let date = piece.programDateTime, let first = piece.units.first {
            dates.note(date, at: timeline.presentation(of: first.pts))
        }
        marks.take(piece, on: timeline)
        let cuts = cutter.append(
            piece.units, of: piece.mediaSequence, goesOn: piece.signal == nil, lasting: piece.frameDuration,
            reordering: timeline.reordering)
        return segments + write(cuts, mediaSequence: piece.mediaSequence)
    }

    /// The run, or the channel, ended: gives what was held back.
    /// - Parameter late: the last of its sound.
    mutating func finish(with late: [TimedAudio] = []) -> [SplicedSegment] {
        audio.append(late)
        if isSoundAlone { return writeSound(mediaSequence: lastSequence, isEnding: true) }
        let cuts = cutter.finish()
        let written = write(Array(cuts.dropLast()), mediaSequence: lastSequence)
        guard let last = cuts.last, let end = write(last, mediaSequence: lastSequence, endsRun: true) else {
            return written
        }
        return written + [end]
    }

    /// The channel went on to `position` without this one; the next piece begins a run there.
    mutating func resume(at position: TimelinePosition, datedUntil: Int64?) {
        self.position = position
        (timeline, description) = (nil, nil)
        audio.resume(at: position)
        marks.resume(at: position.presentationEnd)
        dates.resume(datedUntil: datedUntil)
    }

    /// A run whose parameter sets cannot be described is left out, openly, until the next one begins.
    private mutating func beginRun(_ piece: RunPiece, configuration: AudioConfiguration?) {
        do throws(SpliceError) {
            try describeRun(piece, configuration: configuration)
        } catch {
            timeline = nil
            refusal = error
        }
    }

    private mutating func describeRun(
        _ piece: RunPiece, configuration: AudioConfiguration?
    ) throws(SpliceError) {
        guard let first = piece.units.first else { return }
        let video = try VideoDescription(first.packet.configuration)
        // A run without sound keeps the track, filled with silence: players that lose a track do not get it back.
        let sound = configuration ?? silentConfiguration
        initSection = try InitWriter.write(video: first.packet.configuration, audio: sound)
        let timeline = ProgramTimeline(first: first, at: position.presentationEnd)
        if timeline.leastOffset < 0 { runsBeyondDelay += 1 }
        self.timeline = timeline
        audio.beginRun(sound, silence: sound.flatMap { silence.frame(for: $0) }, on: timeline)
        position.sound = sound ?? position.sound
        dates.beginRun(at: position.presentationEnd)
        description = RunDescription(
            run: runs, video: video, first: first.packet, audio: sound, frameDuration: piece.meanFrameDuration)
        runs += 1
        beginsRun = true
    }

    /// What a run without sound of its own goes on in; nil when it has to do without a track.
    private var silentConfiguration: AudioConfiguration? {
        mutating get {
            guard fillsSilence, let last = audio.configuration, silence.frame(for: last) != nil else { return nil }
            return last
        }
    }

    private mutating func write(_ cuts: [SegmentCutter.Piece], mediaSequence: UInt64) -> [SplicedSegment] {
        lastSequence = mediaSequence
        var segments: [SplicedSegment] = []
        for cut in cuts {
            if let segment = write(cut, mediaSequence: mediaSequence) { segments.append(segment) }
        }
        return segments
    }

    /// - Parameter endsRun: nothing of its run comes after it, and that is known.
    private mutating func write(
        _ cut: SegmentCutter.Piece, mediaSequence: UInt64, endsRun: Bool = false
    ) -> SplicedSegment? {
        guard let timeline, let initSection, let description, let first = cut.units.first else { return nil }
        let start = timeline.presentation(of: first.pts)
        let isChannelsFirst = position.isBeginning
        let decodeTime = position.videoDecodeTime ?? timeline.decode(of: first.dts).count
        let samples = videoSamples(cut, on: timeline, from: decodeTime, endsRun: endsRun)
        let duration = samples.reduce(Int64(0)) { $0 + Int64($1.duration) }
        let sound = audio.cut(from: start, to: position.presentationEnd)
        let fragment = FragmentWriter.write(
            sequenceNumber: position.fragmentSequence,
            video: FragmentTrack(trackID: TrackID.video, decodeTime: UInt64(decodeTime), samples: samples),
            audio: sound.map {
                FragmentTrack(trackID: TrackID.audio, decodeTime: UInt64($0.decodeTime), samples: $0.samples)
            }, messages: marks.takeMessages(before: position.presentationEnd))
        position.videoDecodeTime = decodeTime + duration
        position.audioDecodeTime = audio.next
        position.fragmentSequence &+= 1
        if !first.isSync { segmentsWithoutSync += 1 }
        defer {
            beginsRun = false
            spans = []
        }
        return SplicedSegment(
            initSection: initSection, fragment: fragment, isDiscontinuous: beginsRun && !isChannelsFirst,
            isIndependent: first.isSync,
            duration: Ticks(duration),
            programDateTime: dates.date(at: start, lasting: Ticks(duration)), position: position,
            mediaSequence: mediaSequence,
            end: UpstreamPlace(mediaSequence: cut.mediaSequence, pictures: PublishedPictures(cut.units)),
            description: description, spans: spans,
            placements: marks.takePlacements(before: position.presentationEnd, dates: dates),
            splices: marks.takeSplices(before: position.presentationEnd, dates: dates))
    }

    /// Times the samples of one segment, and moves the end of presentation.
    private mutating func videoSamples(
        _ cut: SegmentCutter.Piece, on timeline: ProgramTimeline, from decodeTime: Int64, endsRun: Bool
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
            let decodeEnd = (position.presentationEnd - ProgramTimeline.compositionDelay).count
            lastDuration = min(max(lastDuration, decodeEnd - last), lastDuration + VideoClock.longestFrame.count)
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
    private func lastDuration(of cut: SegmentCutter.Piece) -> Int64 {
        if let end = cut.end, let last = cut.units.last, end > last.dts { return (end - last.dts).count }
        let steps = zip(cut.units, cut.units.dropFirst()).map { ($1.dts - $0.dts).count }.sorted()
        guard let middle = steps.dropFirst(steps.count / 2).first, middle > 0, middle <= VideoClock.longestFrame.count
        else { return frameDuration.count }
        return middle
    }
}
