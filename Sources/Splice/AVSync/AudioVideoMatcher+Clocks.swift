import Media

/// Comparison of the clocks of audio and video.
extension AudioVideoMatcher {
    /// Whether the video's clock continues from the span before, counted from the first frame, presented or dropped.
    func continuesClock(_ span: VideoSpan) -> Bool {
        guard let lastVideoSpan else { return false }
        return abs(((span.clockStart ?? span.start) - lastVideoSpan.end).count)
            <= Ticks.longestFrame.count
    }

    /// The number of clocks that the video had before that of `span`.
    func clock(of span: VideoSpan) -> Int { continuesClock(span) ? clockCount : clockCount + 1 }

    /// Whether `span` is on the clock of the video before it, after a gap or without.
    func followsClock(_ span: VideoSpan) -> Bool {
        guard let lastVideoSpan else { return false }
        let step = span.start - lastVideoSpan.end
        return !span.beginsPeriod || step > .zero - Ticks.longestFrame && step < Self.longestAudioGap
    }

    /// Whether one audio span continues another on the same clock, with a gap or without.
    func continues(_ index: Int, after other: Int, _ span: VideoSpan) -> Bool {
        guard !isOfOtherDate(audioSpans[index], span) else { return false }
        let end = audioSpans[other].end
        let start = start(of: audioSpans[index], near: end)
        let presented = start + clockOffset(of: audioSpans[other], for: span)
        return start > end - Ticks.longestFrame && presented < span.end + Self.sharedClockTolerance
    }

    /// Whether the audio overlaps `span` and does not go back before the audio dequeued last.
    func fitsNext(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        guard overlaps(audio, span) else { return false }
        // Times of audio on a clock of its own say nothing about that of other audio.
        let isComparable = isMuxed || lastClockOffset?.wire == .zero
        guard let audioEnd, isComparable, audioClock == clock(of: span) else { return true }
        return start(of: audio, near: audioEnd) > audioEnd - Ticks.longestFrame
    }

    private func start(of audio: AudioSpan, near time: Ticks) -> Ticks {
        Ticks(wire: audio.start.wire, near: time)
    }

    /// Whether the rest of the audio overlaps `span` on the video's clock.
    func overlaps(_ audio: AudioSpan, _ span: VideoSpan, within tolerance: Ticks = sharedClockTolerance) -> Bool {
        let first = Ticks(wire: (audio.frames.first?.pts ?? audio.end).wire, near: span.start)
        let end = first + (audio.end - (audio.frames.first?.pts ?? audio.end))
        return first < span.end + tolerance && end > span.start - tolerance
    }

    /// Whether the audio overlaps `span` if its clock has the same offset as that of the audio matched last.
    func overlapsAsBefore(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        guard let lastClockOffset, let first = audio.frames.first?.pts else { return false }
        let (start, end) = (first + lastClockOffset, audio.end + lastClockOffset)
        return start < span.end + Self.sharedClockTolerance && end > span.start - Self.sharedClockTolerance
    }

    /// Whether new audio goes on with the clock of the audio matched last, so that it belongs to the video after that.
    func followsMatchedClock(_ audio: AudioSpan) -> Bool {
        guard let lastClockOffset, let audioEnd, let first = audio.frames.first?.pts else { return false }
        let step = Ticks(wire: (first + lastClockOffset).wire, near: audioEnd) - audioEnd
        return audio.clockOffset == nil && step > .zero - Ticks.longestFrame && step < Self.longestAudioGap
    }

    /// Whether the audio belongs to other video by their dates, as if media was lost. Its clock may be that of `span` by
    /// chance, in a loop or an ad.
    func isOfOtherDate(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        guard !isMuxed, span.beginsPeriod || audio.clockOffset == nil else { return false }
        return dating.isEarlier(audio, than: span) || dating.isLater(audio, than: span)
    }

    /// Whether matched audio goes on in `span`, by more than a program leaves over at its end.
    func reaches(_ audio: AudioSpan, into span: VideoSpan) -> Bool {
        guard let offset = audio.clockOffset, let first = audio.frames.first?.pts else { return false }
        let least = min(Ticks.longestFrame, Ticks((span.end - span.start).count / 2))
        return first + offset < span.end && audio.end + offset >= span.start + least
    }

    /// Whether the audio, not matched yet, is on another clock than the video.
    func hasOwnClock(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        // Matched audio counts as unmatched again when the video's clock alone restarts.
        guard audio.clockOffset == nil || span.beginsPeriod, let first = audio.frames.first else {
            return false
        }
        // Audio that begins with the video of its own segment is on the clock of that.
        if audio.clockOffset == nil, let video = audio.videoStart {
            let lead = Ticks(wire: video.wire, near: audio.start) - audio.start
            if abs(lead.count) <= Self.sharedClockTolerance.count { return false }
        }
        let distance = Ticks(wire: first.pts.wire, near: span.start) - span.start
        // After a loss, audio that is near belongs to the video that is missing.
        let isStart = span.beginsPeriod && !audio.followsMissingFrames && (isMuxed || !span.followsLoss)
        let nearest = isStart ? Self.sharedClockTolerance : Self.longestAudioGap
        return distance > nearest || distance < .zero - nearest
    }

    /// By how much the newest audio ends before `span`; nil if that is not known, because its clock is another.
    func lag(before span: VideoSpan) -> Ticks? {
        guard let newest = audioSpans.last, let offset = newest.clockOffset ?? lastClockOffset else { return nil }
        let lag = span.start - Ticks(wire: (newest.end + offset).wire, near: span.start)
        return abs(lag.count) < Self.longestAudioGap.count ? lag : nil
    }

    /// Whether matched audio goes on with `span`. What came too late for the video before it may be queued too.
    func isContinued(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        let offset = audio.clockOffset ?? .zero
        let (first, end) = ((audio.frames.first?.pts ?? audio.end) + offset, audio.end + offset)
        return first < span.end + Self.sharedClockTolerance && max(first + Ticks.seconds(10), end) > span.start
    }

    /// Whether, at the start of a period, the known clock offset would move audio back before the audio dequeued last.
    private func wentBack(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        guard span.beginsPeriod, let lastClockOffset, let audioEnd, let first = audio.frames.first else { return false }
        return first.pts + lastClockOffset < audioEnd - Ticks.longestFrame
    }

    /// Assumed time between the start of audio on its own clock and its video. The first audio frame of a program
    /// begins with the video or up to one frame before it (encoder priming). Half a frame is wrong by half a frame at
    /// most.
    private static func assumedLead(_ audio: AudioSpan) -> Ticks {
        Ticks(audio.configuration.frameDuration.count / 2)
    }

    /// Returns the ticks that are added to times of `audio` to get times on the clock of `span`.
    func clockOffset(of audio: AudioSpan, for span: VideoSpan) -> Ticks {
        let isUnbroken = !span.beginsPeriod || continuesClock(span)
        if let offset = audio.clockOffset, isUnbroken { return offset }
        let first = audio.frames.first?.pts ?? audio.end
        let unwrapped = Ticks(wire: first.wire, near: span.start) - first
        if overlaps(audio, span) { return unwrapped }
        // On its own continuing clock, even after a loss, the offset to the video stays as it was.
        if audio.followsMissingFrames || isUnbroken && !wentBack(audio, span), let lastClockOffset,
            abs((first + lastClockOffset - span.start).count) < Self.longestAudioGap.count
        {
            return lastClockOffset
        }
        return (span.clockStart ?? span.start) - Self.assumedLead(audio) - first
    }
}
