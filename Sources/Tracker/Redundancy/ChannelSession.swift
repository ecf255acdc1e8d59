/// One channel's intake: its upstream, and the backups that stand in for it when it is silent.
///
/// One source is published. When it is in an outage, because it lists nothing new or because nothing of what it lists can
/// be published, the next one is opened beside it, on trial, and takes over once it is seen to be alive and what it
/// brings could be published; whichever brings media first decides. While a backup is published the channel's own
/// upstream is watched without its media, and comes back when it was healthy for a while.
///
///     home is published ──outage──▸ next source on trial ──passed──▸ backup is published, home is watched
///             ▴                          │ in vain: the one behind it          │ healthy for a while
///             └──────────passed────────  home on trial  ◂──────────────────────┘
///
/// Time during which nothing came is given out as missing, so that the output can go on. Sources that have dates are
/// joined where what was published ends.
package struct ChannelSession: Sendable {
    let policy: Policy
    var roster: SourceRoster
    var onAir = OnAir.nobody(behind: nil)
    /// Beside it, in an outage or before the channel's own upstream is taken back.
    var trial: SourceTrial?
    var rota = TrialRota()
    /// While a backup is published.
    var home = HomeWatch()
    var output: ChannelOutput
    var record = SourceRecord()
    /// What sources counted that were published before the one that is.
    var earlier = IntakeCounts()
    var switches = 0
    /// Of all sources: they may be on one host.
    var gate: HostGate
    var effects = StepEffects()

    /// - Parameter upstream: absolute address of the channel's own multivariant or media playlist.
    package init(upstream: String, policy: Policy) {
        self.policy = policy
        roster = SourceRoster(upstream: upstream, policy: policy)
        output = ChannelOutput(policy)
        gate = HostGate(maxConnections: policy.session.maxConnections)
    }

    package mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration
    ) -> [UpstreamSession.Effect] {
        guard !onAir.isOver else { return [] }
        take(input, at: now)
        while !onAir.isOver, let step = nextSwitch(at: now) { take(step, at: now) }
        bearSilence(at: now)
        yieldConnections(at: now)
        arm(at: now)
        return effects.take()
    }
}

// MARK: - Which source is published

extension ChannelSession {
    /// What is done about the sources.
    private enum Switch: Equatable {
        /// The source on trial is published from now on.
        case takeOver
        /// The trial was in vain.
        case dropTrial
        /// The source whose turn it is is opened.
        case tryNext
        /// The channel's own upstream is opened, to be taken back.
        case comeHome
        /// It is followed by its playlists.
        case watchHome
        /// It is not, for a while.
        case leaveHome
    }

    /// What is to be done first, as they stand now; nil when nothing is.
    private func nextSwitch(at now: Duration) -> Switch? {
        guard roster.hasBackups else { return nil }
        if let trial {
            let hasEnded = record.isOver(trial.member)
            if trial.isPassed, !hasEnded { return .takeOver }
            if hasEnded || trial.isInVain(isNeeded: onAir.isInOutage, at: now) { return .dropTrial }
        } else if onAir.isInOutage, rota.nextAt <= now {
            return .tryNext
        }
        let isAway = onAir.member.map { $0.source != 0 } ?? false
        return isAway && trial?.source != 0 ? nextLookHome(at: now) : nil
    }

    /// Of a channel whose backup is published, and whose own upstream is not on trial.
    private func nextLookHome(at now: Duration) -> Switch? {
        guard let watched = home.member else { return home.isDue(at: now) ? .watchHome : nil }
        if let since = watched.healthySince, since + policy.homeAfter <= now { return .comeHome }
        return watched.listedEnd != nil ? .leaveHome : nil
    }

    private mutating func take(_ step: Switch, at now: Duration) {
        switch step {
        case .takeOver: takeOver(at: now)
        case .dropTrial:
            dropTrial()
            rota.rest(from: now)
        case .tryNext:
            let source = rota.advance(of: roster.urls.count, besides: onAir.member?.source)
            if source == 0 { effects.append(home.stop(through: &gate)) }
            open(source, on: .outage, at: now)
        case .comeHome:
            effects.append(home.stop(through: &gate))
            dropTrial()
            open(0, on: .homecoming, at: now)
        case .watchHome:
            let member = member(of: 0, fetchesMedia: false)
            effects.append(home.begin(member, at: now, through: &gate))
        case .leaveHome: effects.append(home.rest(at: now, through: &gate))
        }
    }

    private mutating func takeOver(at now: Duration) {
        guard let trial else { return }
        self.trial = nil
        if let left = onAir.status { earlier += IntakeCounts(left) }
        effects.append(onAir.giveWay(to: trial.member, through: &gate))
        switches += 1
        rota.goOn(behind: trial.source)
        record.tookOver(trial.source)
        effects.report(.switched(to: trial.source, url: roster.urls[trial.source]))
        publish(output.edge.trimming(trial.held))
        if trial.source == 0 { effects.append(home.stop(through: &gate)) }
    }

    private mutating func open(_ source: Int, on occasion: SourceTrial.Occasion, at now: Duration) {
        trial = SourceTrial(member(of: source), on: occasion, until: now + policy.trialLimit)
        effects.report(record.tries(source, url: roster.urls[source]))
        handTrial(.start, at: now)
    }

    mutating func dropTrial() {
        effects.append(trial?.abandon(&gate) ?? [])
        trial = nil
    }

    /// A session that goes on where the channel was published.
    mutating func member(of source: Int, fetchesMedia: Bool = true) -> SourceMember {
        roster.member(of: source, joinsAt: output.edge.joinPoint(of: source), fetchesMedia: fetchesMedia)
    }
}
