import Channel
import LiveRing
package import Support
import Synchronization

/// How far the channels of a process have changed hands.
struct HandoverProgress: Sendable {
    /// Whether this process hands its channels over: no run is started.
    var isGiving = false
    /// Runs that were to start meanwhile.
    var deferred: [ChannelSupervisor.Run] = []
    /// Channels that were released.
    var released: Set<String> = []
    /// The directories of rings that the next runs of channels continue.
    var directories: [String: String] = [:]
    /// The processes that publish channels which this process takes over, by channel.
    var predecessors: [String: ChannelPredecessor] = [:]

    /// The ring that a new run continues; nil: the run must not start now.
    mutating func origin(
        of run: ChannelSupervisor.Run
    ) -> (predecessor: ChannelPredecessor?, directory: String?)? {
        guard !isGiving else {
            deferred.append(run)
            return nil
        }
        if let predecessor = predecessors[run.channel] { return (predecessor, predecessor.directory) }
        return (nil, directories.removeValue(forKey: run.channel))
    }
}

extension ChannelHost.State {
    /// Whether the successor of this process answers for a channel.
    func isElsewhere(_ name: String) -> Bool {
        guard handover.isGiving else { return false }
        switch supervisor.channels[name]?.state {
        case .starting, .running, .lingering: return handover.released.contains(name)
        case .queued, .ending, .failed, nil: return true
        }
    }
}

// MARK: - Taking over

extension ChannelHost {
    /// Shows the channels of another process, which publishes them until it releases them. Until then, and at that moment,
    /// each counts as watched: its viewers may still be clients of the other process. Returns when the rings are read.
    /// - Parameters:
    ///   - channels: the directories of the rings, by channel.
    ///   - notify: called when a channel is taken over, or with the reason why it cannot be. It must not call back.
    package func follow(
        _ channels: [String: String], notify: @escaping @Sendable (_ channel: String, FailureText?) -> Void
    ) async {
        let started = state.withLock { state in
            let new = channels.filter { state.directory[$0.key] != nil && state.handover.predecessors[$0.key] == nil }
            for (name, directory) in new.sorted(by: { $0.key < $1.key }) {
                state.handover.predecessors[name] = ChannelPredecessor(in: directory) { notify(name, $0) }
                // No request has this number, so the answer is for nobody.
                handle(.requested(name, waiter: 0, isStream: false), &state)
            }
            // A channel without a place is not read.
            return new.keys.filter { state.supervisor.channels[$0]?.state.run != nil }
                .compactMap { state.handover.predecessors[$0] }
        }
        for predecessor in started {
            while !predecessor.isRead, (try? await Task.sleep(for: Self.readingInterval)) != nil {}
        }
    }

    private static let readingInterval = Duration.milliseconds(5)

    /// Takes over a channel whose ring the other process has closed.
    /// - Returns: whether the function of `follow` will be called.
    package func takeOverChannel(_ name: String) -> Bool {
        state.withLock { state in
            guard let predecessor = state.handover.predecessors.removeValue(forKey: name) else { return false }
            defer { predecessor.release() }
            guard let run = state.supervisor.channels[name]?.state.run else { return false }
            handle(.streamClosed(run), &state)
            return true
        }
    }

    /// Takes over all channels that were not released, because the other process has ended.
    package func takeOverAllChannels() {
        for name in state.withLock({ $0.handover.predecessors.keys }) { _ = takeOverChannel(name) }
    }
}

// MARK: - Handing over

extension ChannelHost {
    package var isHandingOver: Bool { state.withLock { $0.handover.isGiving } }

    /// Whether the successor of this process answers for a channel.
    func isElsewhere(_ name: String) -> Bool { state.withLock { $0.isElsewhere(name) } }

    /// The directories of the rings of running channels, by channel.
    package var spools: [String: String] {
        state.withLock { state in
            let running = state.runs.filter { state.supervisor.channels[$0.key.channel]?.state.run == $0.key }
            return Dictionary(running.map { ($0.key.channel, $0.value.spool) }) { first, _ in first }
        }
    }

    /// Starts no run any more.
    /// - Returns: as `spools`.
    package func beginHandover() -> [String: String] {
        state.withLock { $0.handover.isGiving = true }
        return spools
    }

    /// The number after the newest segment of each running channel.
    package var nextSegments: [String: UInt64] {
        let runs = state.withLock { $0.runs }
        return Dictionary(runs.map { ($0.key.channel, $0.value.state.snapshot?.index.nextMediaSequence ?? 0) }) {
            max($0, $1)
        }
    }

    /// Ends the run of a channel for the successor. Streams end at the next segment boundary.
    /// - Returns: whether a run ends, which `observe` is told. Otherwise the ring is closed already.
    package func release(_ name: String) -> Bool {
        let (isRunning, waiters) = state.withLock { state in
            let run = state.supervisor.channels[name]?.state.run
            if let run, let running = state.runs[run] {
                running.state.endStreams()
                state.handover.directories[name] = running.spool
            }
            state.handover.released.insert(name)
            if run != nil { handle(.retired(name), &state) }
            let waiters = state.waiters.filter { $0.value.channel == name }
            for id in waiters.keys {
                state.waiters[id] = nil
                handle(.abandoned(name, waiter: id), &state)
            }
            return (run != nil, waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: .handedOver) }
        return isRunning
    }

    /// Runs all channels again, because the successor has failed.
    package func endHandover() {
        state.withLock { state in
            let (deferred, released) = (state.handover.deferred, state.handover.released)
            (state.handover.isGiving, state.handover.deferred, state.handover.released) = (false, [], [])
            for run in deferred { start(run, &state) }
            for name in released.sorted() where state.supervisor.channels[name] == nil {
                handle(.requested(name, waiter: 0, isStream: false), &state)
            }
        }
    }
}
