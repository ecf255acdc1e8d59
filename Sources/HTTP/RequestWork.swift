package import Dispatch
package import Support
import Synchronization

/// Limits how much the requests of a server occupy at once: responses that are being made or waited for, and bodies
/// that are being received.
package final class RequestWork: Sendable {
    package enum Kind: CaseIterable, Sendable {
        /// A response that takes longer. It occupies its place until its work has ended, even if the client has left.
        case response
        /// A response that waits for a segment to be published.
        case wait
        /// A request body of at most `BodyAction.limit` bytes.
        case body
        /// The body of a form. The form contains the token, so anybody may send one; it occupies no place of other
        /// bodies.
        case form
    }

    package struct Limit: Equatable, Sendable {
        let total: Int
        let perConnection: Int
    }

    package static let standardLimits: [Kind: Limit] = [
        .response: Limit(total: 4096, perConnection: 64), .wait: Limit(total: 8192, perConnection: 64),
        .body: Limit(total: 64, perConnection: 4), .form: Limit(total: 1024, perConnection: 4),
    ]

    /// One place. It becomes free when its last reference is released.
    package final class Place: Sendable {
        private let work: RequestWork
        private let kind: Kind
        private let connection: ObjectIdentifier

        fileprivate init(_ work: RequestWork, _ kind: Kind, _ connection: ObjectIdentifier) {
            (self.work, self.kind, self.connection) = (work, kind, connection)
        }

        deinit { work.release(kind, connection) }
    }

    private struct Usage {
        var total = 0
        var byConnection: [ObjectIdentifier: Int] = [:]
    }

    private struct State {
        var usage: [Kind: Usage] = [:]
        var refused = 0
    }

    private let limits: [Kind: Limit]
    private let state = Mutex(State())

    package init(limits: [Kind: Limit] = RequestWork.standardLimits) { self.limits = limits }

    func count(_ kind: Kind) -> Int { state.withLock { $0.usage[kind]?.total ?? 0 } }

    package var refused: Int { state.withLock { $0.refused } }

    package func place(_ kind: Kind, on connection: AnyObject) -> Place? {
        let id = ObjectIdentifier(connection)
        let isFree = state.withLock { state in
            let (total, own) = (state.usage[kind]?.total ?? 0, state.usage[kind]?.byConnection[id] ?? 0)
            if let limit = limits[kind], total >= limit.total || own >= limit.perConnection {
                state.refused += 1
                return false
            }
            // In place: a copy would copy all connections.
            state.usage[kind, default: Usage()].total += 1
            state.usage[kind, default: Usage()].byConnection[id] = own + 1
            return true
        }
        return isFree ? Place(self, kind, id) : nil
    }

    private func release(_ kind: Kind, _ connection: ObjectIdentifier) {
        state.withLock { state in
            state.usage[kind]?.total -= 1
            let rest = (state.usage[kind]?.byConnection[connection] ?? 1) - 1
            state.usage[kind]?.byConnection[connection] = rest > 0 ? rest : nil
        }
    }
}

/// The work behind a pending response, or behind the next part of a stream. It is canceled when the client leaves.
package enum PendingResponse {
    case task(Task<Void, Never>)
    case wait(ChangeSignal.Wait)

    /// Begins work off the event loops.
    /// - Parameters:
    ///   - place: held until the work is over.
    ///   - pending: work that the server waits for when it stops.
    package static func task(
        holding place: RequestWork.Place?, _ pending: DispatchGroup, _ work: @escaping @Sendable () async -> Void
    ) -> PendingResponse {
        pending.enter()
        return .task(
            Task {
                await work()
                withExtendedLifetime(place) {}
                pending.leave()
            })
    }

    /// Begins to wait for a response, which costs no task.
    package static func wait(
        for begin: AwaitedResponse, holding place: RequestWork.Place, _ pending: DispatchGroup,
        _ complete: @escaping @Sendable (Response) -> Void
    ) -> PendingResponse {
        let wait = ChangeSignal.Wait()
        pending.enter()
        begin(wait) { response in
            complete(response)
            withExtendedLifetime(place) {}
            pending.leave()
        }
        return .wait(wait)
    }

    package func cancel() {
        switch self {
        case .task(let task): task.cancel()
        case .wait(let wait): wait.cancel()
        }
    }
}
