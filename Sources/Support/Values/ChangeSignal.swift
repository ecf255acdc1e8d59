import Synchronization

/// Lets any number of tasks wait for a change, at the cost of one timer for all of them.
package final class ChangeSignal: Sendable {
    private struct Waiter {
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var changes: UInt64 = 0
        var lastID: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        /// Ends the waits whose time is over; nil while nobody waits.
        var timer: Task<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    deinit { state.withLock { $0.timer?.cancel() } }

    /// The number of changes so far.
    package var changes: UInt64 { state.withLock { $0.changes } }

    /// The tasks that wait.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Ends all waits.
    package func signal() {
        let waiters = state.withLock { state in
            state.changes += 1
            state.timer?.cancel()
            state.timer = nil
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Returns when there have been more than `changes`, at `deadline`, or when the task is canceled.
    package func wait(after changes: UInt64, until deadline: ContinuousClock.Instant) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.changes <= changes, !Task.isCancelled else { return false }
                    state.waiters[id] = Waiter(deadline: deadline, continuation: continuation)
                    if state.timer == nil { state.timer = Task { [weak self] in await self?.endWaits() } }
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Sleeps from deadline to deadline while somebody waits.
    private func endWaits() async {
        while !Task.isCancelled {
            let earliest = state.withLock { state in
                let earliest = state.waiters.values.map(\.deadline).min()
                if earliest == nil, !Task.isCancelled { state.timer = nil }
                return earliest
            }
            guard let earliest else { return }
            do { try await ContinuousClock().sleep(until: earliest) } catch { return }
            let expired = state.withLock { state in
                let now = ContinuousClock.now
                let expired = state.waiters.filter { $0.value.deadline <= now }
                for id in expired.keys { state.waiters[id] = nil }
                return expired.values
            }
            for waiter in expired { waiter.continuation.resume() }
        }
    }
}
