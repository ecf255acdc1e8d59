// The end of runs, and what is due at which time.

extension ChannelSupervisor {
    mutating func end(_ run: Run, _ effects: inout [Effect]) {
        channels[run.channel]?.state = .ending(run)
        effects.append(.end(run))
    }

    mutating func retire(_ name: String, _ effects: inout [Effect]) {
        switch channels[name]?.state {
        case .starting(let run), .running(let run), .lingering(let run, _): end(run, &effects)
        case .failed: channels[name] = nil
        case .queued, .ending, nil: break
        }
    }

    mutating func end(_ run: Run, failure: String?, at now: Duration, _ effects: inout [Effect]) {
        guard var entry = channels[run.channel], entry.state.run == run else { return }
        (entry.streams, entry.publishedAt) = (0, nil)
        if case .ending = entry.state {
            enqueue(&entry)
            channels[run.channel] = entry.waiters.isEmpty && !isAlways(run.channel) ? nil : entry
            return
        }
        let reason = failure ?? "The channel has ended."
        // A run that published something old, or for a moment, is no success.
        if let since = channels[run.channel]?.publishedAt, now - since >= Self.longestPause { entry.failures = 0 }
        let pause = min(Self.firstPause * (1 << min(entry.failures, 6)), Self.longestPause)
        entry.failures += 1
        channels[run.channel] = entry
        answer(run.channel, .failed(reason: reason, retryAfter: pause), at: now, &effects) { _ in true }
        channels[run.channel]?.state = .failed(reason: reason, until: now + pause)
    }

    /// Carries out what is due: refuses requests that were held too long, and ends channels without viewers.
    mutating func advance(to now: Duration, _ effects: inout [Effect]) {
        for (name, entry) in channels.sorted(by: { $0.key < $1.key }) {
            if entry.waiters.contains(where: { $0.deadline <= now }) {
                answer(name, .startTimedOut, at: now, &effects) { $0.deadline <= now }
            }
            guard let due = channels[name].flatMap({ dueTime(of: name, $0) }), due <= now else { continue }
            switch entry.state {
            case .running(let run): channels[name]?.state = .lingering(run, since: entry.lastSeen)
            case .starting(let run): end(run, &effects)
            case .failed where isAlways(name): enqueue(entry, as: name)
            case .queued, .failed: channels[name] = nil
            case .lingering, .ending: break
            }
        }
        for (run, since) in cooling where since + idle(of: run.channel) <= now { end(run, &effects) }
    }

    /// When a channel changes its state by itself; nil: not before something happens.
    private func dueTime(of name: String, _ entry: Entry) -> Duration? {
        guard !entry.isInUse else { return nil }
        let isAlways = isAlways(name)
        return switch entry.state {
        case .queued, .starting: isAlways ? nil : entry.lastSeen + idle(of: name)
        case .running: isAlways ? nil : entry.presentUntil
        case .failed(_, let until): isAlways ? until : until + Self.longestPause
        case .lingering, .ending: nil
        }
    }

    /// The channels without viewers beyond those that are kept warm.
    private var cooling: ArraySlice<(run: Run, since: Duration)> {
        channels.values.compactMap { entry -> (run: Run, since: Duration)? in
            guard case .lingering(let run, let since) = entry.state else { return nil }
            return (run, since)
        }.sorted { ($0.since, $0.run.number) > ($1.since, $1.run.number) }.dropFirst(policy.keepWarm)
    }

    /// When `.wake` is due; nil: not before something happens.
    var nextWake: Duration? {
        let due = channels.compactMap { dueTime(of: $0, $1) }
        let deadlines = channels.values.flatMap { $0.waiters.map(\.deadline) }
        let places = channels.values.compactMap(\.placeDeadline)
        return (due + deadlines + places + cooling.map { $0.since + idle(of: $0.run.channel) }).min()
    }
}
