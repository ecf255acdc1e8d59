// The end of runs.

extension ChannelSupervisor {
    package mutating func end(_ run: Run, _ effects: inout [Effect]) {
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

    package mutating func end(_ run: Run, failure: String?, at now: Duration, _ effects: inout [Effect]) {
        guard var entry = channels[run.channel], entry.state.run == run else { return }
        (entry.streams, entry.publishedAt) = (0, nil)
        if case .ending = entry.state {
            enqueue(&entry)
            channels[run.channel] = entry.waiters.isEmpty && !channels.isAlways(run.channel) ? nil : entry
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
        for name in channels.due(by: now) {
            guard let entry = channels[name] else { continue }
            answer(name, .startTimedOut, at: now, &effects) { $0.deadline <= now }
            if let due = channels.dueTime(of: name), due <= now { expire(name, entry, &effects) }
        }
        for name in channels.cooled(by: now) {
            if let run = channels[name]?.state.run { end(run, &effects) }
        }
    }

    private mutating func expire(_ name: String, _ entry: Entry, _ effects: inout [Effect]) {
        switch entry.state {
        case .running(let run): channels[name]?.state = .lingering(run, since: entry.lastSeen)
        case .starting(let run): end(run, &effects)
        case .failed where channels.isAlways(name): enqueue(entry, as: name)
        case .queued, .failed: channels[name] = nil
        case .lingering, .ending: break
        }
    }
}
