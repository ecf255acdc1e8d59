// Requests, places and the start of runs.

extension ChannelSupervisor {
    package mutating func request(
        _ name: String, _ waiter: Waiter, at now: Duration, _ effects: inout [Effect]
    ) {
        if recordRequest(of: name, isStream: waiter.isStream, at: now) != nil {
            effects.append(.answer(waiter.id, nil))
            return
        }
        let entry = channels[name]
        if case .failed(let reason, let until) = entry?.state, now < until {
            effects.append(.answer(waiter.id, .failed(reason: reason, retryAfter: until - now)))
            return
        }
        if entry == nil { channels[name] = Entry(state: .queued, lastSeen: now) }
        let needsPlace = entry.map { !$0.isDemanded && $0.placeDeadline == nil } ?? true
        if needsPlace { queueCount += 1 }
        channels.update(name) { [queueCount] entry in
            if needsPlace {
                if entry.state.run == nil { entry.state = .queued }
                (entry.queuedAt, entry.placeDeadline) = (queueCount, now + Self.placeTime)
            }
            entry.waiters.append(waiter)
            entry.lastSeen = now
        }
    }

    /// Forgets a request that is held. A channel that only waited to be started for it is idle again.
    mutating func abandon(_ name: String, waiter id: UInt64, at now: Duration) {
        guard channels[name]?.waiters.contains(where: { $0.id == id }) == true else { return }
        channels.update(name) { entry in
            entry.waiters.removeAll { $0.id == id }
            entry.lastSeen = now
        }
        let isOver = channels[name].map { $0.state == .queued && $0.waiters.isEmpty } ?? false
        if isOver, !channels.isAlways(name) { channels[name] = nil }
    }

    /// Gives places to the channels that wait for one, as far as there are some, and refuses those that waited for too long.
    mutating func findPlaces(at now: Duration, _ effects: inout [Effect]) {
        while let name = channels.firstWaiting.first(where: { isGone($0) || hasPlace($0) }) {
            if isGone(name) {
                refusePlace(name, at: now, &effects)
            } else {
                if let run = unwatchedRun(inPlaceOf: name) { end(run, &effects) }
                channels.update(name) { $0.placeDeadline = nil }
            }
        }
        for name in channels.refusedPlaces(by: now) { refusePlace(name, at: now, &effects) }
    }

    /// Whether nobody waits for the place any more.
    private func isGone(_ name: String) -> Bool { channels[name]?.waiters.isEmpty == true }

    /// Whether one more channel may run, now or once another one has ended.
    private func hasPlace(_ name: String) -> Bool {
        channels.obstacle(to: name) == nil || unwatchedRun(inPlaceOf: name) != nil
    }

    /// The run that ends for a channel: of those that have the place that it needs, the one idle longest.
    private func unwatchedRun(inPlaceOf name: String) -> Run? {
        switch channels.obstacle(to: name) {
        case .account(_, _, let unwatched?), .process(_, let unwatched?): channels[unwatched]?.state.run
        case .account, .process, nil: nil
        }
    }

    private mutating func refusePlace(_ name: String, at now: Duration, _ effects: inout [Effect]) {
        let refusal: Refusal =
            if case .account(let account, let connections, _) = channels.obstacle(to: name) {
                .accountFull(account, connections: connections)
            } else { .full(limit: policy.runLimit ?? 0) }
        answer(name, refusal, at: now, &effects) { _ in true }
        channels.update(name) { $0.placeDeadline = nil }
        if channels[name]?.state == .queued, !channels.isAlways(name) { channels[name] = nil }
    }

    mutating func enqueue(_ entry: Entry, as name: String) {
        var entry = entry
        enqueue(&entry)
        channels[name] = entry
    }

    mutating func enqueue(_ entry: inout Entry) {
        queueCount += 1
        (entry.state, entry.queuedAt) = (.queued, queueCount)
    }

    /// Queues the channels that always run from now on. Those that do no longer have their idle time.
    mutating func apply(_ demands: [String: Demand], at now: Duration) {
        for (name, demand) in demands.sorted(by: { $0.key < $1.key }) {
            let wasAlways = channels.isAlways(name)
            channels.setDemand(demand, of: name)
            if demand.isAlways {
                if case .lingering(let run, _) = channels[name]?.state { channels[name]?.state = .running(run) }
                if channels[name] == nil { enqueue(Entry(state: .queued, lastSeen: now), as: name) }
                channels[name]?.placeDeadline = nil
            } else if wasAlways {
                channels[name]?.lastSeen = now
                if channels[name]?.state == .queued, channels[name]?.waiters.isEmpty == true { channels[name] = nil }
            }
        }
    }

    /// Starts queued channels in the order of their requests, as far as there are places.
    mutating func startQueued(_ effects: inout [Effect]) {
        while let name = channels.firstQueued {
            runCount += 1
            let run = Run(channel: name, number: runCount)
            channels[name]?.state = .starting(run)
            effects.append(.start(run))
        }
    }

    package mutating func publish(_ run: Run, at now: Duration, _ effects: inout [Effect]) {
        guard case .starting(run) = channels[run.channel]?.state else { return }
        channels[run.channel]?.state = .running(run)
        channels[run.channel]?.publishedAt = now
        answer(run.channel, nil, at: now, &effects) { _ in true }
    }

    /// Answers the held requests that `isAnswered` selects. Their viewers were present until now.
    mutating func answer(
        _ name: String, _ refusal: Refusal?, at now: Duration, _ effects: inout [Effect],
        where isAnswered: (Waiter) -> Bool
    ) {
        let answered = channels[name]?.waiters.filter(isAnswered) ?? []
        guard !answered.isEmpty else { return }
        channels.update(name) { $0.waiters.removeAll(where: isAnswered) }
        for waiter in answered {
            recordPresence(in: name, isStream: waiter.isStream, at: now)
            effects.append(.answer(waiter.id, refusal))
        }
    }
}
