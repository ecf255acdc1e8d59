import Channel
import Fetch
import Foundation
import LiveRing
import Media
import Splice
import Support
import Tracker

/// Runs the whole pipeline of a channel on a virtual clock against the origin of a history, into a directory in memory.
struct HistoryRun {
    /// Where spools are made: a file system in memory if there is one.
    static let folder: URL = {
        let memory = URL(filePath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    }()

    let history: History
    /// Whether events are kept, for a table.
    var keepsEvents = false
    /// A directory that is kept; nil: one in memory that is removed.
    var spool: String?

    private struct Killed: Error {}

    /// Runs the channel and judges what it published. A channel that throws an error has a finding.
    func judgement() async throws -> Judgement {
        do { return try await run().judgement } catch {
            return Judgement(findings: [Finding(rule: .crash, at: 0, text: "\(error)")])
        }
    }

    /// As `run`; nil if the channel threw an error.
    func finished() async throws -> FinishedHistory? { try? await run() }

    /// Runs the channel.
    func run() async throws -> FinishedHistory {
        let spool = self.spool ?? Self.folder.appending(path: "liverelay-history-\(UUID().uuidString)").path
        defer { if self.spool == nil { try? FileManager.default.removeItem(atPath: spool) } }
        var origin = Origin(Broadcast(history))
        var record = PublicationRecord(directory: spool)
        (record.keepsEvents, record.keepsFiles) = (keepsEvents, history.has(.store))
        record.keepsRemovals = history.has(.shortRewind) && !history.has(.fullDisk)
        var store = StoreRun(history)
        let kills = history.events.filter { [.killed, .killedInPublish, .longKill].contains($0.thing) }
        var start = 0
        for kill in kills + [nil] {
            guard start < history.length, kill.map({ $0.at > start }) ?? true else { continue }
            let end = kill?.at ?? history.length
            let isOver = try await live(from: start, until: end, kill, &origin, &record, &store, spool)
            if isOver { break }
            if let kill { start = record.lastTime + max(1000, kill.duration) }
        }
        if let store, store.isClosed { record.archived = store.archived }
        let judgement = Oracle(broadcast: origin.broadcast, log: origin.log, record: record).judge()
        return FinishedHistory(broadcast: origin.broadcast, log: origin.log, record: record, judgement: judgement)
    }

    /// Runs one process.
    /// - Returns: whether the channel has ended.
    private func live(
        from start: Int, until end: Int, _ kill: Event?, _ origin: inout Origin, _ record: inout PublicationRecord,
        _ store: inout StoreRun?, _ spool: String
    ) async throws -> Bool {
        var configuration = RelayConfiguration(
            upstream: origin.upstream, giveUp: nil, spool: spool,
            retention: RetentionPolicy(rewind: .seconds(history.rewind), freeReserve: 0))
        configuration.beginning = .beginning.advanced(by: .seconds(history.start))
        let disk = FaultyDisk(history)
        configuration.fileSystem = disk.fileSystem
        disk.advance(to: start)
        if history.has(.backup) { configuration.backups = [Origin.backup] }
        let state = ChannelState(upstream: origin.upstream) { .zero }
        let wallClock = Origin.epoch + Int64(start)
        var relay = Relay(configuration, state: state, wallClock: { wallClock })
        let previous = DVRRing.previousRing(in: spool)
        try await relay.resume(after: previous)
        let clock = MachineClock(history, since: start)
        let count = InspectedSession.Count()
        let session = ChannelSession(upstream: origin.upstream, policy: configuration.policy(after: previous))
        var driver = ReplayDriver(session: SleepingSession(InspectedSession(session: session, count: count), clock))
        record.beginLife(at: start, plannedEnd: end)
        store?.beginLife(at: start)
        defer { store?.endLife() }
        let killsInPublish = kill?.thing == .killedInPublish
        // A process that is killed in a publish is killed in the first one after its time.
        let limit = killsInPublish ? end + 20_000 : end
        var version: UInt64?
        do {
            let sessionEnd = try await driver.run(
                until: clock.awake(at: .milliseconds(limit - start)),
                respond: { request, awake in
                    guard !clock.neverSleeps else {
                        return origin.response(to: request, at: start + awake.milliseconds)
                    }
                    let (log, time) = (origin.log, start + clock.time(awake: awake).milliseconds)
                    let (response, isLost) = clock.received(
                        origin.response(to: request, at: time), to: request, at: awake)
                    let arrival = clock.time(awake: awake + (response.end?.latency ?? .zero))
                    origin.log.delay(since: log, until: isLost ? nil : start + arrival.milliseconds)
                    return response
                },
                perform: { output, awake in
                    let now = clock.time(awake: awake)
                    let time = start + now.milliseconds
                    disk.advance(to: time)
                    let outcome = try await relay.perform(output, at: now)
                    record.lastTime = time
                    if case .event(let event) = output { record.append(event, at: time) }
                    if case .delivery = output, let snapshot = state.snapshot, snapshot.version != version {
                        version = snapshot.version
                        if killsInPublish, time >= end, let kill, record.tearJournal(kill) { throw Killed() }
                        record.append(snapshot, at: time)
                    }
                    store?.advance(to: time, state.snapshot)
                    if case .status = output, record.measures(at: time, count) {
                        record.append(
                            count.sizes.merging(CollectionSizes.sizes(of: relay, state)) { $1 }, at: time)
                    }
                    return outcome
                })
            if sessionEnd == nil { record.lastTime = limit }
            if sessionEnd == .drained { try relay.recordEnd(.drained) }
            if let snapshot = state.snapshot { record.append(snapshot, at: record.lastTime) }
            if kill == nil || sessionEnd != nil { store?.close(at: record.lastTime, state.snapshot) }
            record.endLife(state.status, sessionEnd)
            return sessionEnd != nil
        } catch is Killed {
            record.endLife(state.status, nil)
            return false
        }
    }
}

extension Duration {
    /// Rounded down.
    var milliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
