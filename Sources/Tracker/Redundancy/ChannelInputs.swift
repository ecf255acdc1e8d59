// What a channel's members are told, and what becomes of what they say.

extension ChannelSession {
    mutating func take(_ input: UpstreamSession.Input, at now: Duration) {
        switch input {
        case .start: start(at: now)
        case .answered(let id, _): hand(input, at: now) { $0.owns(id) }
        case .received(let delivery, let reception): received(delivery, reception, at: now)
        case .examined(let delivery, let reception): examined(delivery, reception)
        case .wake:
            effects.wakeCame()
            hand(input, at: now) { $0.isDue(at: now) }
        }
    }

    private mutating func start(at now: Duration) {
        output.began(at: now)
        onAir = .source(member(of: 0))
        handOnAir(.start, at: now)
    }

    /// What was handed downstream is published, or cannot be.
    private mutating func received(_ delivery: Delivery, _ reception: Reception, at now: Duration) {
        guard delivery.isMedia else { return }
        output.heard(delivery, reception, at: now)
        if reception == .published {
            rota.calm()
            record.calm()
        }
        if onAir.member?.source == delivery.source { handOnAir(.received(delivery, reception), at: now) }
        // What is held, for its sound or for a picture to begin with, comes: but not for ever.
        let comes = reception == .published || reception == .held && !onAir.isInOutage
        if comes { output.goesOn(with: delivery, at: now) }
    }

    /// What the source on trial brought could be published, or not.
    private mutating func examined(_ delivery: Delivery, _ reception: Reception) {
        guard trial?.source == delivery.source else { return }
        trial?.examined(reception)
        guard case .refused(let why) = reception else { return }
        let error = TrackerError(.nothingUsable(for: .zero, why), url: roster.urls[delivery.source])
        effects.report(record.failed(delivery.source, error))
    }

    /// To each member that it concerns; to the one that is published first.
    mutating func hand(
        _ input: UpstreamSession.Input, at now: Duration, where concerns: (SourceMember) -> Bool
    ) {
        if let member = onAir.member, concerns(member) { handOnAir(input, at: now) }
        if let trial, concerns(trial.member) { handTrial(input, at: now) }
        if let member = home.member, concerns(member) {
            effects.append(home.handle(input, at: now, through: &gate))
        }
    }

    private mutating func handOnAir(_ input: UpstreamSession.Input, at now: Duration) {
        publish(onAir.handle(input, at: now, through: &gate))
    }

    mutating func handTrial(_ input: UpstreamSession.Input, at now: Duration) {
        for effect in trial?.handle(input, at: now, through: &gate) ?? [] {
            if case .end(let end) = effect { trialEnded(end, at: now) } else { effects.append(effect) }
        }
    }
}

// MARK: - What they say

extension ChannelSession {
    /// Effects of the source that is published.
    mutating func publish(_ published: [UpstreamSession.Effect]) {
        for effect in published where !onAir.isOver {
            switch effect {
            case .fetch, .cancel, .wake, .examine: break
            case .deliver(let delivery): output.note(delivery)
            case .report(let event): output.note(event)
            case .end(let end):
                onAirEnded(end)
                continue
            }
            effects.append(effect)
        }
    }

    /// The channel ends with its own upstream; a backup that ends, or a source that fails, is replaced.
    private mutating func onAirEnded(_ end: SessionEnd) {
        guard roster.hasBackups, let member = onAir.member else { return finish(end) }
        if member.source == 0, case .drained = end { return finish(end) }
        effects.report(record.lost(member, to: end))
        rota.goOn(behind: member.source)
        onAir.lose(to: end)
    }

    /// The source on trial has nothing to give. Of the channel's own upstream all was published then, of this source or
    /// of another.
    private mutating func trialEnded(_ end: SessionEnd, at now: Duration) {
        guard let ended = trial else { return }
        trial = nil
        if ended.source == 0, case .drained = end {
            publish(ended.held)
            return finish(.drained)
        }
        if case .failed(let error) = end { effects.report(record.failed(ended.source, error)) }
        rota.rest(from: now)
    }

    mutating func finish(_ end: SessionEnd) {
        effects.append(onAir.end(through: &gate))
        dropTrial()
        effects.append(home.stop(through: &gate))
        effects.append(.end(end))
    }
}
