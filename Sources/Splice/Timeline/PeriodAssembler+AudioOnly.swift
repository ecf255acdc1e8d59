import Demux
import Media
import Mux
import Transcode

/// Runs of sound alone: one output segment for each of the upstream, whole frames, placed to the sample behind what was
/// written before.
extension PeriodAssembler {
    /// - Parameter late: of a run with pictures before it, what came too late for it.
    mutating func append(_ piece: AudioPeriodPart, late: [TimedAudio]) -> [SplicedSegment] {
        guard let first = piece.frames.first else { return [] }
        var segments: [SplicedSegment] = []
        if piece.signal != nil {
            segments += finish(with: late)
            beginAudioOnlyPeriod(first)
        }
        guard let timeline else {
            markers.discard(piece)
            return segments
        }
        audio.append(piece.frames)
        spans.append(SourceSpan(piece, period: periodCount - 1, on: timeline))
        if let date = piece.programDateTime { dates.record(date, at: timeline.presentation(of: first.pts)) }
        markers.append(piece, on: timeline)
        return segments + writeAudioOnly(mediaSequence: piece.mediaSequence)
    }

    /// The current run has no picture.
    var isAudioOnly: Bool { description.map { $0.video == nil } ?? false }

    private mutating func beginAudioOnlyPeriod(_ first: TimedAudio) {
        do throws(MediaError) {
            let configuration = first.packet.configuration
            initSection = try InitWriter.write(video: nil, audio: configuration)
            let timeline = PeriodTimeline(firstAudio: first.pts, at: nextAudioTime)
            self.timeline = timeline
            audio.beginPeriod(configuration, silence: silence.frame(for: configuration), on: timeline)
            position.audio = configuration
            dates.beginPeriod(at: timeline.outputPresentation)
            description = PeriodDescription(run: periodCount, audio: configuration)
            periodCount += 1
            beginsPeriod = true
        } catch {
            timeline = nil
            lastRefusal = error
        }
    }

    /// Where the sound written so far ends, if no picture was shown after that: to the sample, not to the tick.
    private var nextAudioTime: Int64 {
        let end = PeriodTimeline.audioTime(position.presentationEnd)
        guard let next = audio.nextDecodeTime, end - next < PeriodTimeline.audioTime(Ticks(1)) else { return end }
        return next
    }

    /// - Parameter isEnding: nothing of the run follows.
    mutating func writeAudioOnly(mediaSequence: UInt64, isEnding: Bool = false) -> [SplicedSegment] {
        lastSequence = mediaSequence
        guard let cut = audio.dequeueAllSamples(isEnding: isEnding) else { return [] }
        var decodeTime = cut.decodeTime
        var segments: [SplicedSegment] = []
        for samples in split(cut.samples) {
            let track = MuxTrack(trackID: TrackID.audio, decodeTime: UInt64(decodeTime), samples: samples)
            decodeTime += samples.lasting
            if let segment = write(track, until: decodeTime, mediaSequence: mediaSequence) { segments.append(segment) }
        }
        return segments
    }

    /// In parts that the sealed TARGETDURATION allows.
    private func split(_ samples: [MuxSample]) -> [[MuxSample]] {
        // Both ends of a segment are rounded to ticks.
        let longest = PeriodTimeline.audioTime(longestSegment - Ticks(1))
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

    private mutating func write(_ track: MuxTrack, until end: Int64, mediaSequence: UInt64) -> SplicedSegment? {
        guard let initSection, let description else { return nil }
        let isChannelsFirst = position.isInitial
        let start = PeriodTimeline.ticks(ofAudioTime: Int64(track.decodeTime))
        let fragment = FragmentWriter.write(
            sequenceNumber: position.fragmentSequence, video: nil, audio: track,
            messages: markers.dequeueMessages(before: PeriodTimeline.ticks(ofAudioTime: end)))
        position.advanceAudioOnly(to: end)
        let duration = position.presentationEnd - start
        defer {
            beginsPeriod = false
            spans = []
        }
        return SplicedSegment(
            initSection: initSection, fragment: fragment, isDiscontinuous: beginsPeriod && !isChannelsFirst,
            isIndependent: true,
            duration: duration, programDateTime: dates.stamp(from: start, duration: duration), position: position,
            mediaSequence: mediaSequence, upstreamEnd: UpstreamSegmentEnd(mediaSequence: mediaSequence, frames: nil),
            description: description, spans: spans,
            placements: markers.dequeuePlacements(before: position.presentationEnd, dates: dates),
            spliceCommands: markers.dequeueSpliceCommands(before: position.presentationEnd, dates: dates))
    }
}

extension [MuxSample] {
    /// The sum of the durations.
    fileprivate var lasting: Int64 { reduce(0) { $0 + Int64($1.duration) } }
}
