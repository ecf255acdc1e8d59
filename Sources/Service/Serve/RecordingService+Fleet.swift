import ChannelList
import Export
import Fleet
import Foundation
import Logging
import Record
import Support
import Synchronization

// Recordings that the nodes of a fleet share: each node has all that are planned, and the node that runs the channel
// records.

extension RecordingService {
    private var texts: SharedTexts? { host.fleet?.texts }

    /// Changes the planned recordings of this process, or those of all nodes.
    /// - Parameter edit: called again if another node has changed them meanwhile.
    func changePlans<Value: Sendable>(
        _ edit: (inout RecordingSchedule) throws(RecordingSchedule.Refusal) -> Value
    ) async throws(Problem) -> Value {
        guard let texts else { return try state.withLock { state in Self.result(of: edit, &state.schedule) }.get() }
        let change: (result: Result<Value, Problem>, before: RecordingSchedule, next: RecordingSchedule)
        do throws(SharedTexts.Failure) {
            change = try await texts.change(.recordings) { [clock] text in
                var next = Self.schedule(text) ?? RecordingSchedule(sharedSince: clock.now())
                next.remove(endedBefore: clock.now().advanced(by: .zero - Self.grace * 2))
                let before = next
                let result = Self.result(of: edit, &next)
                return ((result, before, next), next == before ? nil : Self.text(of: next))
            }
        } catch { throw .fleet(error) }
        if change.next != change.before {
            let added = Set(change.next.recordings.map(\.id)).subtracting(change.before.recordings.map(\.id))
            adopt(change.next, with: added)
        }
        return try change.result.get()
    }

    private static func result<Value: Sendable>(
        of edit: (inout RecordingSchedule) throws(RecordingSchedule.Refusal) -> Value,
        _ schedule: inout RecordingSchedule
    ) -> Result<Value, Problem> {
        do throws(RecordingSchedule.Refusal) { return .success(try edit(&schedule)) } catch {
            return .failure(.refused(error))
        }
    }

    private static func schedule(_ text: String?) -> RecordingSchedule? {
        text.flatMap { try? JSONDecoder().decode(RecordingSchedule.self, from: Data($0.utf8)) }
    }

    private static func text(of schedule: RecordingSchedule) -> String {
        (try? JSONEncoder().encode(schedule)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Changes a recording that all nodes have; nothing in a process alone.
    func share(_ id: Int, _ change: @Sendable (inout RequestedRecording) -> Void) async throws(Problem) {
        guard texts != nil, RecordingSchedule.sharedIDs.contains(id) else { return }
        try await changePlans { $0.update(id, change) }
    }

    /// Removes a recording from those that all nodes have.
    /// - Returns: false if they do not have it.
    func withdraw(_ id: Int) async throws(Problem) -> Bool {
        guard texts != nil, RecordingSchedule.sharedIDs.contains(id) else { return false }
        return try await changePlans { schedule in
            defer { schedule.remove(id) }
            return schedule[id] != nil
        }
    }

    /// Whether all nodes have a recording that has not ended, so that its end at one node is its end at all.
    func isPlannedByAll(_ id: String) -> Bool {
        guard let texts, let plan = Int(id).flatMap({ Self.schedule(texts.newest(.recordings))?[$0] }) else {
            return false
        }
        return clock.now() < plan.endDate
    }

    /// Begins and ends recordings as the nodes have planned.
    package func adoptShared() {
        if let schedule = texts.flatMap({ Self.schedule($0.newest(.recordings)) }) { adopt(schedule, with: []) }
    }

    /// - Parameter added: recordings that this node has planned, perhaps of the past.
    private func adopt(_ shared: RecordingSchedule, with added: Set<Int>) {
        let now = clock.now()
        let isChanged = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            let before = state.schedule
            for plan in shared.recordings {
                if before[plan.id] != nil {
                    state.schedule.update(plan.id) { ($0.isKept, $0.repetition) = (plan.isKept, plan.repetition) }
                } else if added.contains(plan.id) || now < plan.endDate.advanced(by: Self.grace) {
                    state.schedule.insert(plan)
                    launch(plan.id, &state)
                }
            }
            for gone in before.recordings where Self.isWithdrawn(gone, from: shared, at: now) {
                if gone.files == nil {
                    state.schedule.remove(gone.id)
                } else {
                    state.schedule.update(gone.id) { $0.end(at: now) }
                }
                state.tasks[gone.id]?.cancel()
            }
            return state.schedule != before
        }
        if isChanged { change { _ in } }
    }

    /// Whether a node has removed a recording before its end. After that, it leaves the shared list by itself.
    private static func isWithdrawn(
        _ recording: RequestedRecording, from shared: RecordingSchedule, at now: ProgramDateTime
    ) -> Bool {
        RecordingSchedule.sharedIDs.contains(recording.id) && !recording.isOver && !recording.isEnded
            && now < recording.endDate && shared[recording.id] == nil
    }

    // MARK: - Channels of other nodes

    /// Whether another node runs the channel of a recording, and makes it.
    func isElsewhere(_ recording: RequestedRecording) -> Bool {
        if case .at? = host.fleet?.place(of: recording.channel) { true } else { false }
    }

    func waitForChannel(of recording: RequestedRecording, _ file: RecordingFile?) async {
        if let file { pause(recording, file, "Another node runs the channel, and records it.", .notice) }
        await host.fleet?.waitForChange(of: recording.channel)
    }
}
