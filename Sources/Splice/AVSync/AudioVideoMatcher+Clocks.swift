import Media

/// Comparison of the clocks of audio and video.
extension AudioVideoMatcher {
    /// Whether the video's clock continues from the span before, counted from the first frame, presented or dropped.
    func continuesClock(_ span: VideoSpan) -> Bool {
        guard let lastVideoSpan else { return false }
        return abs(((span.clockStart ?? span.start) - lastVideoSpan.end).count)
            <= Ticks.longestFrame.count
    }

    /// Whether one audio span continues another on the same clock, with a gap or without.
    func continues(_ index: Int, after other: Int, _ span: VideoSpan) -> Bool {
        let end = audioSpans[other].end
        let start = start(of: audioSpans[index], near: end)
        let presented = start + clockOffset(of: audioSpans[other], for: span)
        return start > end - Ticks.longestFrame && presented < span.end + Self.sharedClockTolerance
    }

    /// Whether the audio overlaps `span` and does not go back before the audio dequeued last.
    func fitsNext(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        guard overlaps(audio, span) else { return false }
        guard let audioEnd, continuesClock(span) else { return true }
        return start(of: audio, near: audioEnd) > audioEnd - Ticks.longestFrame
    }

    private func start(of audio: AudioSpan, near time: Ticks) -> Ticks {
        Ticks(wire: audio.start.wire, near: time)
    }

    /// Whether the rest of the audio overlaps `span` on the video's clock.
    func overlaps(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        let first = Ticks(wire: (audio.frames.first?.pts ?? audio.end).wire, near: span.start)
        let end = first + (audio.end - (audio.frames.first?.pts ?? audio.end))
        return first < span.end + Self.sharedClockTolerance && end > span.start - Self.sharedClockTolerance
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
        let nearest = span.beginsPeriod && !audio.followsLostFrames ? Self.sharedClockTolerance : Self.longestAudioGap
        return distance > nearest || distance < .zero - nearest
    }

    /// By how much the newest audio ends before `span`; nil if that is not known, because its clock is another.
    func lag(before span: VideoSpan) -> Ticks? {
        guard let newest = audioSpans.last, let offset = newest.clockOffset ?? lastClockOffset else { return nil }
        let lag = span.start - Ticks(wire: (newest.end + offset).wire, near: span.start)
        return abs(lag.count) < Self.longestAudioGap.count ? lag : nil
    }

    func isContinued(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        let first = (audio.frames.first?.pts ?? audio.end) + (audio.clockOffset ?? .zero)
        return first < span.end + Self.sharedClockTolerance && first > span.start - Ticks.seconds(10)
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
        if audio.followsLostFrames || isUnbroken && !wentBack(audio, span), let lastClockOffset,
            abs((first + lastClockOffset - span.start).count) < Self.longestAudioGap.count
        {
            return lastClockOffset
        }
        return (span.clockStart ?? span.start) - Self.assumedLead(audio) - first
    }
}
