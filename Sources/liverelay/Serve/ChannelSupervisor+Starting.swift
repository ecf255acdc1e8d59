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
        switch entry?.state {
        case .ending where entry?.waiters.isEmpty == true && !hasPlace(&effects):
            effects.append(.answer(waiter.id, .full(limit: policy.maxRunning ?? 0)))
            return
        case nil, .failed:
            channels[name] = entry ?? Entry(state: .queued, lastSeen: now)
            queueCount += 1
            channels[name]?.queuedAt = queueCount
            channels[name]?.state = .waiting(until: now + Self.placeTime)
        default: break
        }
        channels[name]?.waiters.append(waiter)
        channels[name]?.lastSeen = now
    }

    /// Queues the channels that wait for a place, as far as there are places, and refuses those that waited for too long.
    mutating func findPlaces(at now: Duration, _ effects: inout [Effect]) {
        let waiting = channels.compactMap { name, entry -> (name: String, until: Duration, order: UInt64)? in
            guard case .waiting(let until) = entry.state else { return nil }
            return (name, until, entry.queuedAt)
        }
        for (name, until, _) in waiting.sorted(by: { $0.order < $1.order }) {
            if hasPlace(&effects) {
                channels[name]?.state = .queued
            } else if until <= now {
                answer(name, .full(limit: policy.maxRunning ?? 0), at: now, &effects) { _ in true }
                channels[name] = isAlways(name) ? Entry(state: .queued, lastSeen: now) : nil
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
        }
    }

    /// Whether one more channel may run, now or once another has ended. Ends the one idle longest if need be.
    private mutating func hasPlace(_ effects: inout [Effect]) -> Bool {
        guard let limit = policy.maxRunning else { return true }
        if channels.values.count(where: { $0.isDemanded }) < limit { return true }
        let lingering = channels.compactMap { name, entry -> (name: String, since: Duration, run: Run)? in
            guard case .lingering(let run, let since) = entry.state else { return nil }
            return (name, since, run)
        }
        guard let longest = lingering.min(by: { ($0.since, $0.name) < ($1.since, $1.name) }) else { return false }
        end(longest.run, &effects)
        return true
    }

    /// Starts queued channels in the order of their requests, as far as there are places.
    mutating func startQueued(_ effects: inout [Effect]) {
        let queued = channels.filter { $0.value.state == .queued }.sorted { $0.value.queuedAt < $1.value.queuedAt }
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
