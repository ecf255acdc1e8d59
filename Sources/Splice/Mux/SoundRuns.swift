/// Runs of sound alone: one output segment for each of the upstream, whole frames, placed to the sample behind what was
/// written before.
extension RunAssembler {
    /// - Parameter late: of a run with pictures before it, what came too late for it.
    mutating func append(_ piece: SoundPiece, late: [TimedAudio]) -> [SplicedSegment] {
        guard let first = piece.frames.first else { return [] }
        var segments: [SplicedSegment] = []
        if piece.signal != nil {
            segments += finish(with: late)
            beginRun(first)
        }
        guard let timeline else {
            marks.refuse(piece)
            return segments
        }
        audio.append(piece.frames)
        spans.append(SourceSpan(piece, run: runs - 1, on: timeline))
        if let date = piece.programDateTime { dates.note(date, at: timeline.presentation(of: first.pts)) }
        marks.take(piece, on: timeline)
        return segments + writeSound(mediaSequence: piece.mediaSequence)
    }

    /// The current run has no picture.
    var isSoundAlone: Bool { description.map { $0.picture == nil } ?? false }

    private mutating func beginRun(_ first: TimedAudio) {
        do throws(SpliceError) {
            let configuration = first.packet.configuration
            initSection = try InitWriter.write(video: nil, audio: configuration)
            let timeline = ProgramTimeline(firstSound: first.pts, at: nextSoundTime)
            self.timeline = timeline
            audio.beginRun(configuration, silence: silence.frame(for: configuration), on: timeline)
            position.sound = configuration
            dates.beginRun(at: timeline.outputPresentation)
            description = RunDescription(run: runs, audio: configuration)
            runs += 1
            beginsRun = true
        } catch {
            timeline = nil
            refusal = error
        }
    }

    /// Where the sound written so far ends, if no picture was shown after that: to the sample, not to the tick.
    private var nextSoundTime: Int64 {
        let end = ProgramTimeline.audioTime(position.presentationEnd)
        guard let next = audio.next, end - next < ProgramTimeline.audioTime(Ticks(1)) else { return end }
        return next
    }

    /// - Parameter isEnding: nothing of the run follows.
    mutating func writeSound(mediaSequence: UInt64, isEnding: Bool = false) -> [SplicedSegment] {
        lastSequence = mediaSequence
        guard let cut = audio.cutAll(isEnding: isEnding) else { return [] }
        var decodeTime = cut.decodeTime
        var segments: [SplicedSegment] = []
        for samples in split(cut.samples) {
            let track = FragmentTrack(trackID: TrackID.audio, decodeTime: UInt64(decodeTime), samples: samples)
            decodeTime += samples.lasting
            if let segment = write(track, until: decodeTime, mediaSequence: mediaSequence) { segments.append(segment) }
        }
        return segments
    }

    /// In parts that the sealed TARGETDURATION allows.
    private func split(_ samples: [MuxSample]) -> [[MuxSample]] {
        // Both ends of a segment are rounded to ticks.
        let longest = ProgramTimeline.audioTime(longestSegment - Ticks(1))
        var parts: [[MuxSample]] = []
        var lasting: Int64 = 0
        for sample in samples {
            if parts.isEmpty || lasting + Int64(sample.duration) > longest {
                parts.append([])
                lasting = 0
            }
            parts[parts.count - 1].append(sample)
            lasting += Int64(sample.duration)
        }
        return parts
    }

    private mutating func write(_ track: FragmentTrack, until end: Int64, mediaSequence: UInt64) -> SplicedSegment? {
        guard let initSection, let description else { return nil }
        let isChannelsFirst = position.isBeginning
        let start = ProgramTimeline.ticks(ofAudioTime: Int64(track.decodeTime))
        let fragment = FragmentWriter.write(
            sequenceNumber: position.fragmentSequence, video: nil, audio: track,
            messages: marks.takeMessages(before: ProgramTimeline.ticks(ofAudioTime: end)))
        position.soundEnds(at: end)
        let duration = position.presentationEnd - start
        defer {
            beginsRun = false
            spans = []
        }
        return SplicedSegment(
            initSection: initSection, fragment: fragment, isDiscontinuous: beginsRun && !isChannelsFirst,
            isIndependent: true,
            duration: duration, programDateTime: dates.date(at: start, lasting: duration), position: position,
            mediaSequence: mediaSequence, end: UpstreamPlace(mediaSequence: mediaSequence, pictures: nil),
            description: description, spans: spans,
            placements: marks.takePlacements(before: position.presentationEnd, dates: dates),
            splices: marks.takeSplices(before: position.presentationEnd, dates: dates))
    }
}

extension [MuxSample] {
    /// The sum of the durations.
    fileprivate var lasting: Int64 { reduce(0) { $0 + Int64($1.duration) } }
}
