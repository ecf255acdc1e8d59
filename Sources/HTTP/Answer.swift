package import Support

/// How a request is answered, decided from its head.
package enum Answer: Sendable {
    case now(Response)
    /// The response takes longer, and is made off the event loops. Its task is canceled when the client leaves.
    case later(@Sendable () async -> Response)
    /// The response waits for an event, which costs only memory. Canceled like `later`.
    case waiting(AwaitedResponse)
    /// The request changes something, and needs its whole body for that. Once the body has arrived, nothing cancels the
    /// work.
    case body(BodyAction)
}

/// A response that waits for an event: calls `complete` once, on any thread, possibly before it returns; soon after
/// `wait` is canceled.
package typealias AwaitedResponse =
    @Sendable (_ wait: ChangeSignal.Wait, _ complete: @escaping @Sendable (Response) -> Void) -> Void

/// The work that a request does with its body.
package struct BodyAction: Sendable {
    /// The largest body in bytes. A request with a larger body gets `tooLarge`.
    package let limit: Int
    package let tooLarge: Response
    package let place: RequestWork.Kind
    /// Called with the whole body, off the event loops.
    package let perform: @Sendable (_ body: [UInt8]) async -> Response

    /// - Parameter place: the kind of place that the request occupies.
    package init(
        limit: Int, tooLarge: Response, place: RequestWork.Kind = .body,
        perform: @escaping @Sendable (_ body: [UInt8]) async -> Response
    ) {
        self.limit = limit
        self.tooLarge = tooLarge
        self.place = place
        self.perform = perform
    }
}

extension Answer {
    /// The answer with each of its responses changed.
    package func map(_ change: @escaping @Sendable (Response) -> Response) -> Answer {
        switch self {
        case .now(let response): .now(change(response))
        case .later(let work): .later { change(await work()) }
        case .waiting(let begin): .waiting { wait, complete in begin(wait) { complete(change($0)) } }
        case .body(let action):
            .body(
                BodyAction(limit: action.limit, tooLarge: change(action.tooLarge), place: action.place) {
                    change(await action.perform($0))
                })
        }
    }

    /// Waits for the response to a request without a body.
    package func response() async -> Response {
        switch self {
        case .now(let response): response
        case .later(let work): await work()
        case .waiting(let begin): await Self.response(to: begin)
        case .body(let action): await action.perform([])
        }
    }

    private static func response(to begin: AwaitedResponse) async -> Response {
        let wait = ChangeSignal.Wait()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in begin(wait) { continuation.resume(returning: $0) } }
        } onCancel: {
            wait.cancel()
        }
    }
}
