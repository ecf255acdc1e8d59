import Synchronization

/// Calls any number of waiters when something changes, at the cost of one timer for all of them.
///
/// A waiter is a function that is called later, not a task, because thousands of players wait for the next segment.
package final class ChangeSignal: Sendable {
    /// The successive waits of one waiter, which can be canceled at any time.
    package final class Wait: Sendable {
        private struct State {
            var isCanceled = false
            var signal: ChangeSignal?
        }

        private let state = Mutex(State())

        package init() {}

        package var isCanceled: Bool { state.withLock { $0.isCanceled } }

        /// Ends the current wait and prevents later waits.
        package func cancel() {
            let signal = state.withLock { state in
                state.isCanceled = true
                return state.signal
            }
            signal?.end(self)
        }

        fileprivate func setSignal(_ signal: ChangeSignal?) { state.withLock { $0.signal = signal } }
    }

    private struct Waiter {
        let wait: Wait
        let deadline: ContinuousClock.Instant
        let resume: @Sendable () -> Void

        func end() {
            wait.setSignal(nil)
            resume()
        }
    }

    private struct State {
        var changes: UInt64 = 0
        var waiters: [ObjectIdentifier: Waiter] = [:]
        /// Ends the waits whose time is over; nil while nobody waits.
        var timer: Task<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    deinit { state.withLock { $0.timer?.cancel() } }

    package var changes: UInt64 { state.withLock { $0.changes } }

    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Ends all waits. The functions that this calls do not delay the caller.
    package func signal() {
        let waiters = state.withLock { state in
            state.changes += 1
            state.timer?.cancel()
            state.timer = nil
            defer { state.waiters = [:] }
            return state.waiters
        }
        guard !waiters.isEmpty else { return }
        Task { for waiter in waiters.values { waiter.end() } }
    }

    /// Calls `resume` once: when there were more than `changes` changes, at `deadline`, or when `wait` is canceled. If
    /// one of these is true already, calls it at once.
    package func wait(
        _ wait: Wait, after changes: UInt64, until deadline: ContinuousClock.Instant,
        _ resume: @escaping @Sendable () -> Void
    ) {
        let waiter = Waiter(wait: wait, deadline: deadline, resume: resume)
        wait.setSignal(self)
        let waits = state.withLock { state in
            guard state.changes <= changes else { return false }
            state.waiters[ObjectIdentifier(wait)] = waiter
            if state.timer == nil { state.timer = Task { [weak self] in await self?.endWaits() } }
            return true
        }
        // `wait` may have been canceled before the waiter was inserted.
        if !waits { waiter.end() } else if wait.isCanceled { end(wait) }
    }

    /// Returns when there were more than `changes` changes, at `deadline`, or when the task is canceled.
    package func wait(after changes: UInt64, until deadline: ContinuousClock.Instant) async {
        let wait = Wait()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.wait(wait, after: changes, until: deadline) { continuation.resume() }
            }
        } onCancel: {
            wait.cancel()
        }
    }

    private func end(_ wait: Wait) { state.withLock { $0.waiters.removeValue(forKey: ObjectIdentifier(wait)) }?.end() }

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
            for waiter in expired { waiter.end() }
        }
    }
}
