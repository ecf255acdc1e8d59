// Requests, places and the start of runs.

extension ChannelSupervisor {
    mutating func request(
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
        let needsPlace = entry.map { !$0.isDemanded && $0.placeDeadline == nil } ?? true
        var next = entry ?? Entry(state: .queued, lastSeen: now)
        if needsPlace {
            if next.state.run == nil { next.state = .queued }
            queueCount += 1
            (next.queuedAt, next.placeDeadline) = (queueCount, now + Self.placeTime)
        }
        next.waiters.append(waiter)
        next.lastSeen = now
        channels[name] = next
    }

    /// Forgets a request that is held. A channel that only waited to be started for it is idle again.
    mutating func abandon(_ name: String, waiter id: UInt64, at now: Duration) {
        guard var entry = channels[name], entry.waiters.contains(where: { $0.id == id }) else { return }
        entry.waiters.removeAll { $0.id == id }
        entry.lastSeen = now
        let isOver = entry.state == .queued && entry.waiters.isEmpty && !isAlways(name)
        channels[name] = isOver ? nil : entry
    }

    /// Gives places to the channels that wait for one, as far as there are some, and refuses those that waited for too long.
    mutating func findPlaces(at now: Duration, _ effects: inout [Effect]) {
        let waiting = channels.filter { $0.value.placeDeadline != nil }.sorted { $0.value.queuedAt < $1.value.queuedAt }
        for (name, entry) in waiting {
            if !entry.waiters.isEmpty, hasPlace(&effects) {
                channels[name]?.placeDeadline = nil
            } else if entry.waiters.isEmpty || entry.placeDeadline.map({ $0 <= now }) == true {
                answer(name, .full(limit: policy.maxRunning ?? 0), at: now, &effects) { _ in true }
                channels[name]?.placeDeadline = nil
                if entry.state == .queued, !isAlways(name) { channels[name] = nil }
            }
        }
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
    mutating func replaceDemands(by next: [String: Demand], at now: Duration) {
        let before = demands
        demands = next
        for (name, demand) in before where demand.isAlways && !isAlways(name) {
            channels[name]?.lastSeen = now
            if channels[name]?.state == .queued, channels[name]?.waiters.isEmpty == true { channels[name] = nil }
        }
        for name in next.filter(\.value.isAlways).keys.sorted() {
            if case .lingering(let run, _) = channels[name]?.state { channels[name]?.state = .running(run) }
            if channels[name] == nil { enqueue(Entry(state: .queued, lastSeen: now), as: name) }
            channels[name]?.placeDeadline = nil
        }
    }

    /// Whether one more channel may run, now or once another has ended. Ends the one idle longest if need be.
    private mutating func hasPlace(_ effects: inout [Effect]) -> Bool {
        guard let limit = policy.maxRunning else { return true }
        if channels.values.count(where: { $0.isDemanded }) < limit { return true }
        let unwatched = channels.compactMap { name, entry -> (name: String, since: Duration, run: Run)? in
            switch entry.state {
            case .lingering(let run, let since): (name, since, run)
            // Its viewers have left before it has published.
            case .starting(let run) where !entry.isInUse && !isAlways(name): (name, entry.lastSeen, run)
            case .queued, .starting, .running, .ending, .failed: nil
            }
        }
        guard let longest = unwatched.min(by: { ($0.since, $0.name) < ($1.since, $1.name) }) else { return false }
        end(longest.run, &effects)
        return true
    }

    /// Starts queued channels in the order of their requests, as far as there are places.
    mutating func startQueued(_ effects: inout [Effect]) {
        let queued = channels.filter { $0.value.state == .queued && $0.value.isDemanded }.sorted {
            $0.value.queuedAt < $1.value.queuedAt
        }
        guard !queued.isEmpty else { return }
        var count = runningCount
        for (name, _) in queued where count < policy.maxRunning ?? .max {
            runCount += 1
            count += 1
            let run = Run(channel: name, number: runCount)
            channels[name]?.state = .starting(run)
            effects.append(.start(run))
        }
    }

    mutating func publish(_ run: Run, at now: Duration, _ effects: inout [Effect]) {
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
        channels[name]?.waiters.removeAll(where: isAnswered)
        for waiter in answered {
            recordPresence(in: name, isStream: waiter.isStream, at: now)
            effects.append(.answer(waiter.id, refusal))
        }
    }
}
