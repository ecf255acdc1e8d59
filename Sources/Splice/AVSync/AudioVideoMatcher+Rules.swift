import Media
import Support

/// The rules of `AudioMatchRule`.
extension AudioVideoMatcher {
    func match(_ span: VideoSpan) -> AudioMatch? {
        if span.hasNoAudio { return nil }
        StepCounter.add(audioSpans.count)
        let candidates = audioSpans.indices.filter { !audioSpans[$0].frames.isEmpty || isOpen($0) }
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
            return candidates.first {
                fitsNext(audioSpans[$0], span) && !hasLaterSequence(audioSpans[$0], than: span)
            }
        case .signaledOverlapping:
            return isSignaled(span) ? first(of: candidates, for: span, by: .sequenceOverlapping) : nil
        case .signaledOwnClock:
            guard isSignaled(span), !isMuxed, discontinuitySequenceOffset != nil else { return nil }
            return first(of: candidates, for: span, by: .sequenceOwnClock)
        case .unbrokenSpan: return unbroken(of: candidates, for: span)
        case .sequenceOverlapping:
            return new.first { matchesSequence(audioSpans[$0], span) && overlaps(audioSpans[$0], span) }
        case .newOverlapping:
            return new.first {
                overlaps(audioSpans[$0], span) && (isMuxed || !hasLaterSequence(audioSpans[$0], than: span))
            }
        case .sequenceOwnClock:
            return new.first { matchesSequence(audioSpans[$0], span) && hasOwnClock(audioSpans[$0], span) }
        case .rematchedSpan:
            guard let matched = candidates.first(where: { audioSpans[$0].clockOffset != nil }) else { return nil }
            let audio = audioSpans[matched]
            return overlaps(audio, span) || outlasts(audio, span) && hasOwnClock(audio, span) ? matched : nil
        }
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

    private func matchesSequence(_ audio: AudioSpan, _ span: VideoSpan) -> Bool {
        discontinuitySequenceOffset.map {
            audio.discontinuitySequence == span.discontinuitySequence &+ $0
        } ?? true
    }

    /// Whether the audio follows a discontinuity that `span` precedes.
    func hasLaterSequence(_ audio: AudioSpan, than span: VideoSpan) -> Bool {
        guard let discontinuitySequenceOffset else { return false }
        return Int64(
            bitPattern: audio.discontinuitySequence &- span.discontinuitySequence &- discontinuitySequenceOffset)
            > 0
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
