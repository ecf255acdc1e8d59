import Media
import Support

/// The rules of `AudioMatchRule`.
extension AudioVideoMatcher {
    func match(_ span: VideoSpan) -> AudioMatch? {
        if span.hasNoAudio { return nil }
        StepCounter.add(audioSpans.count)
        let candidates = audioSpans.indices.filter {
            (!audioSpans[$0].frames.isEmpty || isOpen($0)) && !isOfOtherDate(audioSpans[$0], span)
        }
        for rule in span.beginsPeriod ? AudioMatchRule.atPeriodStart : AudioMatchRule.insidePeriod {
            guard let index = first(of: candidates, for: span, by: rule) else { continue }
            return AudioMatch(index: index, rule: rule, clockOffset: clockOffset(of: audioSpans[index], for: span))
        }
        return nil
    }

    private func first(of candidates: [Int], for span: VideoSpan, by rule: AudioMatchRule) -> Int? {
        let isInside = !span.beginsPeriod
        let new = candidates.filter { isInside || audioSpans[$0].clockOffset == nil }
        switch rule {
        case .continuedSpan:
            return candidates.first { audioSpans[$0].clockOffset != nil && isContinued(audioSpans[$0], span) }
        case .nextOverlapping:
            return candidates.first { fitsNext(audioSpans[$0], span) && mayPrecede($0, span) }
        case .signaledOverlapping:
            return isSignaled(span) ? first(of: candidates, for: span, by: .sequenceOverlapping) : nil
        case .signaledOwnClock:
            guard isSignaled(span), !isMuxed, discontinuitySequenceOffset != nil else { return nil }
            return new.first {
                let audio = audioSpans[$0]
                let isKnown = audio.cause == .signaled && (!span.followsLoss || isSettled($0, span))
                return isKnown && matchesSequence($0, span) && hasOwnClock(audio, span)
            }
        case .unbrokenSpan: return unbroken(of: candidates, for: span)
        case .sequenceOverlapping:
            return firstOverlapping(of: new.filter { matchesSequence($0, span) }, span)
        case .newOverlapping:
            return firstOverlapping(of: new.filter { isMuxed || mayPrecede($0, span) }, span)
        case .sequenceOwnClock:
            return new.first { matchesSequence($0, span) && isOnOwnClock($0, span) }
        case .rematchedSpan:
            guard let matched = candidates.first(where: { audioSpans[$0].clockOffset != nil }) else { return nil }
            let audio = audioSpans[matched]
            if overlaps(audio, span, within: isMuxed ? Self.sharedClockTolerance : .zero) { return matched }
            let mayBelong = overlaps(audio, span) || outlasts(audio, span) && hasOwnClock(audio, span)
            return mayBelong && isSettled(matched, span) ? matched : nil
        }
    }

    /// Audio of a rendition that is only near to its video may be that of other video, if the audio that overlaps comes later.
    private func firstOverlapping(of candidates: [Int], _ span: VideoSpan) -> Int? {
        if isMuxed { return candidates.first { overlaps(audioSpans[$0], span) } }
        return candidates.first { overlaps(audioSpans[$0], span, within: .zero) }
            ?? candidates.first { overlaps(audioSpans[$0], span) && isSettled($0, span) }
    }

    private func unbroken(of candidates: [Int], for span: VideoSpan) -> Int? {
        guard let matched = candidates.first(where: { audioSpans[$0].clockOffset != nil }), continuesClock(span),
            isContinued(audioSpans[matched], span)
        else { return nil }
        let remaining = audioSpans[matched].end + (audioSpans[matched].clockOffset ?? .zero) - span.start
        if remaining > Ticks.longestFrame || isContinued(matched) { return matched }
        let hasNew = [AudioMatchRule.sequenceOverlapping, .newOverlapping].contains {
            first(of: candidates, for: span, by: $0) != nil
        }
        return hasNew ? nil : matched
    }

    /// Whether the next audio begins where a span ends, so that both are presented whole.
    private func isContinued(_ index: Int) -> Bool {
        guard index + 1 < audioSpans.count else { return false }
        let (span, next) = (audioSpans[index], audioSpans[index + 1])
        let step = Ticks(wire: next.start.wire, near: span.end) - span.end
        return next.configuration == span.configuration && abs(step.count) * 2 <= span.configuration.frameDuration.count
    }

    /// Whether the upstream signaled a discontinuity between the span before and `span`.
    private func isSignaled(_ span: VideoSpan) -> Bool {
        lastVideoSpan?.discontinuitySequence != span.discontinuitySequence
    }

    /// Whether the audio has the number of `span`. Before the difference of the numbers was learned, equal numbers are
    /// believed (RFC 8216 §6.2.4), others once no equal one has come.
    private func matchesSequence(_ index: Int, _ span: VideoSpan) -> Bool {
        guard let offset = sequenceOffset(for: span) else { return isSettled(index, span) }
        return audioSpans[index].discontinuitySequence == span.discontinuitySequence &+ offset
    }

    /// Whether the numbers do not contradict that the audio belongs to `span`.
    private func mayPrecede(_ index: Int, _ span: VideoSpan) -> Bool {
        let audio = audioSpans[index]
        if hasLaterSequence(audio, than: span) { return false }
        // After a loss, audio with an earlier number may be that of the video that is missing.
        let mayBeMissing = span.followsLoss && isSignaled(span)
        if discontinuitySequenceOffset != nil, !hasRestarted(span), !mayBeMissing { return true }
        return matchesSequence(index, span) || isSettled(index, span)
    }

    /// Whether the audio follows a discontinuity that `span` precedes.
    func hasLaterSequence(_ audio: AudioSpan, than span: VideoSpan) -> Bool {
        guard let offset = sequenceOffset(for: span) else { return false }
        return Int64(bitPattern: audio.discontinuitySequence &- span.discontinuitySequence &- offset) > 0
    }

    /// The difference of the numbers of audio and video; nil if it is not known, as after a restart of the video's numbers.
    private func sequenceOffset(for span: VideoSpan) -> UInt64? {
        if let discontinuitySequenceOffset, !hasRestarted(span) { return discontinuitySequenceOffset }
        return audioSpans.contains { $0.discontinuitySequence == span.discontinuitySequence } ? 0 : nil
    }

    /// Whether the discontinuity sequence numbers begin again with `span`.
    func hasRestarted(_ span: VideoSpan) -> Bool {
        guard !isMuxed, let last = lastVideoSpan?.discontinuitySequence else { return false }
        return Int64(bitPattern: span.discontinuitySequence &- last) < 0
    }

    /// Whether new audio is on a clock of its own and begins with `span`, or goes on beside it as before.
    private func isOnOwnClock(_ index: Int, _ span: VideoSpan) -> Bool {
        let audio = audioSpans[index]
        guard hasOwnClock(audio, span) else { return false }
        if isMuxed || overlapsAsBefore(audio, span) { return true }
        // If audio alone is missing, its start is not that of the period.
        let beginsWithSpan = !audio.followsMissingFrames || span.followsLoss || lastVideoSpan == nil
        guard beginsWithSpan, !followsMatchedClock(audio) else { return false }
        return isSettled(index, span) && !audioSpans.contains { reaches($0, into: span) }
    }

    /// Whether enough audio was read after the start of a span to know that none of it overlaps `span`: that of the video that
    /// is missing, and that by which a rendition is joined before the video.
    func isSettled(_ index: Int, _ span: VideoSpan) -> Bool {
        if isMuxed || isEnded { return true }
        let needed = Ticks(longestSegment.count * (Self.settlingSegments + missingSegments(before: span)))
        var queued = Ticks.zero
        return audioSpans[index...].contains { audio in
            queued += audio.queuedDuration
            return queued >= needed || hasLaterSequence(audio, than: span)
        }
    }

    /// The segments of video that are missing between the span before and `span`.
    private func missingSegments(before span: VideoSpan) -> Int64 {
        Int64(clamping: min(span.missingBefore &- (lastVideoSpan?.missingBefore ?? 0), Self.longestMissing))
    }

    /// Whether the audio is longer than what a program leaves over at its end.
    private func outlasts(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        audio.queuedDuration.count * 2 >= (span.end - span.start).count
    }

    private func isOpen(_ index: Int) -> Bool {
        index == audioSpans.count - 1 && pendingDiscontinuity == nil && !isEnded
    }
}

/// Rule that matches a video span with an audio span. The lists rank the rules: the first that finds audio decides.
enum AudioMatchRule: CaseIterable, Equatable, Sendable {
    case continuedSpan
    /// The next span overlaps the video on its clock, and does not go back before the audio dequeued last.
    case nextOverlapping
    /// The upstream signaled a discontinuity: a new span has its sequence number and overlaps the video.
    case signaledOverlapping
    /// The same, but the new span is on its own clock. Requires a companion whose sequence numbers are known.
    case signaledOwnClock
    /// Video and matched audio both continue across the start of the period.
    ///
    /// If a new span overlaps the video, the matched one must have more than `Ticks.longestFrame` left.
    case unbrokenSpan
    /// A new span has the video's discontinuity sequence number and overlaps it.
    case sequenceOverlapping
    /// A new span overlaps the video, with another sequence number.
    case newOverlapping
    /// A span has the video's discontinuity sequence number and is on its own clock.
    case sequenceOwnClock
    /// No new span fits: the span matched before overlaps the video, or is long enough to be audio on its own clock.
    case rematchedSpan

    /// Rules for a video span that continues a period, in order.
    static let insidePeriod: [AudioMatchRule] = [.continuedSpan, .nextOverlapping, .sequenceOwnClock]

    /// Rules for a video span that begins a period, in order: new audio first, unless audio and video both continue.
    static let atPeriodStart: [AudioMatchRule] = [
        .signaledOverlapping, .signaledOwnClock, .unbrokenSpan, .sequenceOverlapping, .newOverlapping,
        .sequenceOwnClock, .rematchedSpan,
    ]
}

/// An audio span that matches a video span.
struct AudioMatch: Equatable, Sendable {
    let index: Int
    let rule: AudioMatchRule
    /// Ticks that are added to the audio's times to get times on the video's clock.
    let clockOffset: Ticks
}
