import Media
import Mux
import Transcode

/// Audio-only periods: one output segment for each upstream segment, in whole frames, placed to the sample after what
/// was written before.
extension PeriodAssembler {
    /// - Parameter late: late audio of the period before, if that had video.
    mutating func append(_ part: AudioPeriodPart, late: [TimedAudio]) -> [SplicedSegment] {
        guard let first = part.frames.first else { return [] }
        var segments: [SplicedSegment] = []
        if let cause = part.signal {
            segments += finish(with: late, before: part.videoSpan)
            beginAudioOnlyPeriod(first, cause: cause, lostBefore: part.lostBefore)
        }
        guard let period, !isRejected else {
            markers.discard(part)
            return segments
        }
        let timeline = period.timeline
        audio.append(part.frames)
        further.adopt(part.videoSpan, on: timeline, leading: part.frames, audio.configuration)
        spans.append(SourceSpan(part, period: period.description.index, on: timeline))
        if let date = part.programDateTime { dates.record(date, at: timeline.presentation(of: first.pts)) }
        markers.append(part, on: timeline)
        return segments + writeAudioOnly(mediaSequence: part.mediaSequence)
    }

    var isAudioOnly: Bool { period.map { $0.description.video == nil } ?? false }

    private mutating func beginAudioOnlyPeriod(_ first: TimedAudio, cause: PeriodCause, lostBefore: Ticks) {
        do throws(MediaError) {
            let configuration = first.packet.configuration
            let initSection = try InitWriter.write(video: nil, audio: configuration)
            let timeline = PeriodTimeline(firstAudio: first.pts, at: nextAudioTime)
            audio.beginPeriod(configuration, silence: silence.frame(for: configuration), on: timeline)
            position.audio = configuration
            dates.beginPeriod(at: timeline.outputPresentation, lostBefore: lostBefore)
            markers.beginPeriod()
            let description = PeriodDescription(
                index: ownCounts[.periods], cause: cause, video: nil, audioCodec: configuration.codecString)
            begin(OpenPeriod(timeline: timeline, initSection: initSection, description: description))
        } catch {
            isRejected = true
            lastRejection = error
        }
    }

    /// End of the audio written so far, if no video was presented after it: to the sample, not to the tick.
    private var nextAudioTime: Int64 {
        let end = PeriodTimeline.audioTime(position.presentationEnd)
        guard let next = audio.nextDecodeTime, end - next < PeriodTimeline.audioTime(Ticks(1)) else { return end }
        return next
    }

    /// - Parameter isEnding: whether nothing of the period follows.
    mutating func writeAudioOnly(mediaSequence: UInt64, isEnding: Bool = false) -> [SplicedSegment] {
        lastSequence = mediaSequence
        guard let dequeued = audio.dequeueAllSamples(isEnding: isEnding) else { return [] }
        var decodeTime = dequeued.decodeTime
        var segments: [SplicedSegment] = []
        for samples in split(dequeued.samples) {
            let track = MuxTrack(trackID: TrackID.audio, decodeTime: UInt64(decodeTime), samples: samples)
            decodeTime += samples.duration
            if let segment = write(track, until: decodeTime, mediaSequence: mediaSequence) { segments.append(segment) }
        }
        return segments
    }

    private func split(_ samples: [MuxSample]) -> [[MuxSample]] {
        // Both ends of a segment are rounded to ticks.
        let longest = PeriodTimeline.audioTime(longestSegment - Ticks(1))
        var parts: [[MuxSample]] = []
        var duration: Int64 = 0
        for sample in samples {
            if parts.isEmpty || duration + Int64(sample.duration) > longest {
                parts.append([])
                duration = 0
            }
            parts[parts.count - 1].append(sample)
            duration += Int64(sample.duration)
        }
        return parts
    }

    private mutating func write(_ track: MuxTrack, until end: Int64, mediaSequence: UInt64) -> SplicedSegment? {
        let start = PeriodTimeline.ticks(ofAudioTime: Int64(track.decodeTime))
        let next = position.advanced(toAudioAlone: end)
        return emit(
            SegmentTracks(
                video: nil, audio: track, start: start, duration: next.presentationEnd - start, isIndependent: true,
                position: next, mediaSequence: mediaSequence,
                upstreamEnd: UpstreamSegmentEnd(mediaSequence: mediaSequence, frames: nil)))
    }
}

extension [MuxSample] {
    fileprivate var duration: Int64 { reduce(0) { $0 + Int64($1.duration) } }
}
