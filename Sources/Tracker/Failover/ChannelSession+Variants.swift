import Fetch
import Playlist

/// Other variants of a source take the place of one of which nothing can be published.
extension ChannelSession {
    /// Segments in a row that are missing of a variant of a finished playlist, not of the program.
    private static let mostLostInRow = 3

    /// Whether there is another source, or another variant of the active one.
    var hasCandidate: Bool { hasBackups || state.active.map(hasOtherVariant) ?? false }

    func hasOtherVariant(_ session: SourceSession) -> Bool {
        guard let variant = session.variant, !session.isFinished else { return false }
        return session.hasVariant(otherThan: variants[session.source, default: VariantHistory()].refused + [variant])
    }

    /// Tries another variant of the active source: the one that is chosen if the published one is left out, or the one that
    /// fell silent before.
    mutating func startVariantTrial(
        beside active: SourceSession, isReturn: Bool, at now: Duration, as event: (SourceTrial) -> FailoverState.Event
    ) {
        guard let variant = active.variant else { return }
        let source = active.source
        var known = variants[source, default: VariantHistory()]
        if !isReturn, !active.hasVariant(otherThan: known.excluded + [variant]) { known.forgetSilence() }
        variants[source] = known
        let other = OtherVariant(
            published: variant, edge: output.edge.joinPointOfOtherVariant(of: source), isReturn: isReturn)
        pauseForTrial(at: now)
        let session = makeSession(
            for: source, joinPoint: other.edge, besides: isReturn ? known.refused : known.excluded + [variant],
            tracks: active.tracks)
        apply(
            event(
                SourceTrial(
                    session, until: now + policy.trialLimit, heldLimit: policy.session.limits.aheadBytes,
                    otherVariant: other)))
        forwardToTrial(.start, at: now)
    }

    /// Leaves the variant of a finished playlist of which segments in a row are missing, if there is another one.
    ///
    /// Missing segments of a live playlist are silence.
    mutating func leavesVariant(after delivery: Delivery, at now: Duration) -> Bool {
        guard delivery.rendition == .main, case .lost(let loss) = delivery.content, loss.reason != .gap,
            let active = state.active, active.source == delivery.source, active.isFinished,
            let variant = active.variant
        else { return false }
        lostInRow += loss.mediaSequences.count
        var known = variants[active.source, default: VariantHistory()]
        guard lostInRow >= Self.mostLostInRow, active.hasVariant(otherThan: known.excluded + [variant]) else {
            return false
        }
        known.recordSilence(of: variant, at: now)
        (variants[active.source], lostInRow) = (known, 0)
        let error = TrackerError(.nothingUsable(for: loss.duration, .lost(loss.reason)), url: urls[active.source])
        let event = UpstreamEvent.variantRefused(variant, .failed(error))
        effects.report(active.source == 0 ? event : .backup(active.source, event))
        retiredCounts += IngestCounts(active.status)
        apply(
            .activeReopened(
                makeSession(
                    for: active.source, joinPoint: output.edge.joinPointOfOtherVariant(of: active.source),
                    besides: known.excluded, tracks: active.tracks)))
        forwardToActive(.start, at: now)
        return true
    }

    /// Opens the active source again, to follow another variant.
    /// - Returns: false if the session follows no variant that may be refused.
    @discardableResult
    mutating func reopen(
        _ session: SourceSession, refusing refusal: VariantRefusal?, at now: Duration
    ) -> Bool {
        guard refuse(session, refusal, at: now) else { return false }
        retiredCounts += IngestCounts(session.status)
        let edge = output.edge.joinPointOfOtherVariant(of: session.source)
        apply(.activeReopened(makeSession(for: session.source, joinPoint: edge)))
        forwardToActive(.start, at: now)
        return true
    }

    /// Opens the source on trial again, likewise.
    @discardableResult
    mutating func reopen(_ trial: SourceTrial, refusing refusal: VariantRefusal?, at now: Duration) -> Bool {
        guard refuse(trial.session, refusal, at: now) else { return false }
        let known = variants[trial.source, default: VariantHistory()].excluded
        let session =
            trial.otherVariant.map { other in
                makeSession(
                    for: trial.source, joinPoint: other.edge, besides: known + [other.published],
                    tracks: trial.session.tracks)
            } ?? makeSession(for: trial.source)
        apply(.trialReopened(trial.reopened(with: session)))
        forwardToTrial(.start, at: now)
        return true
    }

    /// A variant that may only be away for the moment is tried again later.
    private mutating func refuse(_ session: SourceSession, _ refusal: VariantRefusal?, at now: Duration) -> Bool {
        guard let refusal, let variant = session.variantOnTrial else { return false }
        var known = variants[session.source, default: VariantHistory()]
        if case .failed(let error) = refusal, !error.isFinal {
            known.recordSilence(of: variant, at: now)
        } else {
            known.refuse(variant)
        }
        variants[session.source] = known
        let event = UpstreamEvent.variantRefused(variant, refusal)
        effects.report(session.source == 0 ? event : .backup(session.source, event))
        return true
    }

    /// Records the end of a trial of another variant that was not published.
    mutating func recordEnd(of trial: SourceTrial, _ other: OtherVariant, at now: Duration) {
        guard let variant = trial.session.variant else { return }
        if variant.isEquivalent(to: other.published) {
            // The variants that fell silent are not listed any more.
            variants[trial.source]?.forgetSilence()
        } else if !other.isReturn, state.isInOutage {
            variants[trial.source, default: VariantHistory()].recordSilence(of: variant, at: now)
        }
    }

    mutating func recordChange(of trial: SourceTrial, from other: OtherVariant, at now: Duration) {
        guard let variant = trial.session.variant else { return }
        if other.isReturn {
            variants[trial.source]?.forgetSilence()
        } else {
            variants[trial.source, default: VariantHistory()].recordSilence(of: other.published, at: now)
        }
        let event = UpstreamEvent.variantChanged(
            from: other.published, to: variant, other.isReturn ? .returned : .silent)
        effects.report(trial.source == 0 ? event : .backup(trial.source, event))
    }
}
