import Fleet

// Runs of channels, readers, and what is judged.

extension FleetSimulation {
    private static let window = 8
    /// The longest time for which a channel may have nothing new while a node could run it.
    private static let longestSilence = Duration.seconds(20)

    /// The time at the end in which take-overs are counted.
    private static let calmJudged = Duration.seconds(75)

    /// The silence after which a run says that its upstream does not answer.
    private static let unansweredTime = Duration.seconds(3)

    private var newestUpstream: Int { Int(now / Self.segmentTime) }

    mutating func begin(
        _ channel: String, _ epoch: UInt64, _ base: UInt64, _ after: PublishedMark?, on index: Int
    ) {
        outcome.epochs += 1
        let key = "\(channel) \(epoch)"
        if let other = epochOwners[key] { find("\(key) is run by \(other) and \(nodes[index].name)") }
        epochOwners[key] = "\(nodes[index].name)"
        let first = max(0, newestUpstream - Self.window + 1)
        let next = max(
            first, fault == .ownTimeline ? 0 : after.flatMap { Int($0.resume) }.map { $0 + 1 } ?? newestUpstream)
        nodes[index].runs[channel] = Run(
            epoch: epoch, number: fault == .ownNumbers ? after?.number ?? base : base,
            discontinuity: (after?.discontinuity ?? 0) + 1, next: next, answeredAt: now)
        checkConnections(channel, on: index)
        // Another node has to take the channel.
        if nodes[index].upstreamAwayUntil > now { disturbed[channel] = now }
        prepareNext(channel, on: index)
    }

    private mutating func checkConnections(_ channel: String, on index: Int) {
        guard let account = demands[channel]?.account else { return }
        let users = running.reduce(0) { count, node in
            count + nodes[node].runs.count { demands[$0.key]?.account == account && !$0.value.isStopping }
        }
        if users > connectionCount { find("\(users) runs use \(connectionCount) connections of \(account)") }
    }

    mutating func advanceUpstream(to count: Int) {
        schedule(Self.segmentTime, .upstream(count + 1))
        for index in running {
            for channel in nodes[index].runs.keys.sorted() { prepareNext(channel, on: index) }
        }
        judgeSilence()
    }

    private mutating func prepareNext(_ channel: String, on index: Int) {
        guard askUpstream(of: channel, on: index), var run = nodes[index].runs[channel], run.waiting == nil,
            !run.isStopping
        else { return }
        run.next = max(run.next, newestUpstream - Self.window + 1)
        guard run.next <= newestUpstream else { return }
        let segment = Segment(number: run.number, discontinuity: run.discontinuity, index: run.next, epoch: run.epoch)
        run.waiting = segment
        nodes[index].runs[channel] = run
        send(
            .prepared(
                channel,
                PublishedMark(
                    number: segment.number, discontinuity: segment.discontinuity,
                    end: Int64(segment.index + 1) * 2000, resume: "\(segment.index)"), rate: 5000), to: index)
        if fault == .earlySegments { admit(channel, segment.number, on: index) }
    }

    /// - Returns: whether the upstream answers.
    private mutating func askUpstream(of channel: String, on index: Int) -> Bool {
        guard var run = nodes[index].runs[channel], !run.isStopping else { return false }
        let isAnswering = nodes[index].upstreamAwayUntil <= now
        if isAnswering { run.answeredAt = now }
        let (before, isUnanswered) = (run.isUnanswered, now - run.answeredAt >= Self.unansweredTime)
        run.isUnanswered = isUnanswered
        nodes[index].runs[channel] = run
        if before != isUnanswered { send(.upstream(channel, isAnswering: isAnswering), to: index) }
        return isAnswering
    }

    mutating func admit(_ channel: String, _ number: UInt64, on index: Int) {
        guard var run = nodes[index].runs[channel], let segment = run.waiting, segment.number == number, !run.isStopping
        else { return }
        run.newest = segment
        run.waiting = nil
        (run.number, run.next) = (number + 1, segment.index + 1)
        nodes[index].runs[channel] = run
        outcome.segments += 1
        if let other = published[channel]?[number], other != segment {
            find("\(channel): the number \(number) is that of two segments")
        }
        published[channel, default: [:]][number] = segment
        if let (newest, _) = newestIndex[channel] {
            if segment.index <= newest { find("\(channel): segment \(segment.index) again after \(newest)") }
            outcome.lostSegments += max(0, segment.index - newest - 1)
        }
        newestIndex[channel] = (segment.index, now)
        prepareNext(channel, on: index)
    }

    // MARK: - Readers

    mutating func read(_ index: Int) {
        schedule(.milliseconds(2000), .read(index))
        let channel = channels[readers[index].channel]
        var candidates = running
        if let node = readers[index].node, candidates.contains(node) {
            candidates = [node]
        } else {
            // A load balancer uses nodes that are ready.
            candidates = candidates.filter { nodes[$0].decisions.holdsLease(at: clock($0)) }
        }
        guard let node = candidates.randomElement(using: &random) else {
            readers[index].node = nil
            return
        }
        switch nodes[node].decisions.place(of: channel, at: clock(node)) {
        case .here: look(index, channel, at: node)
        case .at(let peer):
            guard let other = Int(peer.address), running.contains(other) else {
                readers[index].node = nil
                return
            }
            if nodes[other].decisions.place(of: channel, at: clock(other)) == .here { look(index, channel, at: other) }
        case .nowhere: readers[index].node = nil
        }
    }

    private mutating func look(_ index: Int, _ channel: String, at node: Int) {
        readers[index].node = node
        guard let newest = nodes[node].runs[channel]?.newest else { return }
        if let last = readers[index].last {
            if newest.number < last.number { find("\(channel): a reader sees \(newest.number) after \(last.number)") }
            if newest.discontinuity < last.discontinuity { find("\(channel): the discontinuity number goes back") }
            if newest.index < last.index { find("\(channel): a reader sees an earlier date") }
        }
        readers[index].last = newest
    }

    // MARK: - Judgement

    /// Nodes that could have taken a channel: nothing has happened to them for a while.
    private func couldRun(since: Duration) -> Bool {
        running.contains { nodes[$0].isHealthySince <= since && nodes[$0].cutUntil <= since }
    }

    private mutating func judgeSilence() {
        let since = now - Self.longestSilence - Self.segmentTime
        guard since >= .seconds(20), engineDownUntil <= since, couldRun(since: since) else { return }
        for channel in channels where demands[channel]?.isAlways == true && demands[channel]?.account == nil {
            let silence = now - max(newestIndex[channel]?.at ?? .zero, disturbed[channel] ?? .zero)
            outcome.longestSilence = max(outcome.longestSilence, min(silence, now - since))
            if silence > Self.longestSilence + Self.segmentTime { find("\(channel): nothing new for \(silence)") }
        }
        if now >= end - Self.calmJudged, epochsAtCalm.isEmpty { epochsAtCalm = newestEpochs }
    }

    private var newestEpochs: [String: UInt64] { engine.owners.compactMapValues { $0.keys.max() } }

    mutating func judgeEnd() {
        for channel in channels where demands[channel]?.isAlways == true {
            let holders = running.filter { nodes[$0].runs[channel] != nil }
            let needsConnection = demands[channel]?.account != nil
            let isNew = now - (newestIndex[channel]?.at ?? .zero) < Self.longestSilence
            if holders.count > 1 || holders.isEmpty && !needsConnection && !isNew {
                find("\(channel) is run by \(holders.count) nodes at the end")
            }
        }
        let accounts = channels.filter { demands[$0]?.account != nil }
        let used = accounts.count { channel in
            let isNew = now - (newestIndex[channel]?.at ?? .zero) < Self.longestSilence
            return isNew || running.contains { nodes[$0].runs[channel] != nil }
        }
        if used < min(connectionCount, accounts.count) { find("\(used) connections are used at the end") }
        let changed = newestEpochs.reduce(0) { count, epoch in
            demands[epoch.key]?.isAlways == true
                ? count + Int(epoch.value - (epochsAtCalm[epoch.key] ?? epoch.value)) : count
        }
        // One channel a minute moves, two nodes may decide so at once, and the time has two such minutes' ends.
        if changed > 4 { find("\(changed) take-overs in calm \(Self.calmJudged)") }
    }
}
