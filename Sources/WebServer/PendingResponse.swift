import Dispatch
import Support

/// The work behind a response that is awaited, or behind the next part of a stream. It is canceled when the client leaves.
enum PendingResponse {
    case task(Task<Void, Never>)
    case wait(ChangeSignal.Wait)

    /// Begins work on no event loop.
    /// - Parameters:
    ///   - place: held until the work is over.
    ///   - pending: what the server waits for when it ends.
    static func task(
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
    static func wait(
        for awaited: AwaitedResponse, holding place: RequestWork.Place, _ pending: DispatchGroup,
        _ complete: @escaping @Sendable (Response) -> Void
    ) -> PendingResponse {
        let wait = ChangeSignal.Wait()
        pending.enter()
        awaited.begin(wait) { response in
            complete(response)
            withExtendedLifetime(place) {}
            pending.leave()
        }
        return .wait(wait)
    }

    func cancel() {
        switch self {
        case .task(let task): task.cancel()
        case .wait(let wait): wait.cancel()
        }
    }
}
