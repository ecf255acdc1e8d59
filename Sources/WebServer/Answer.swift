package import Support

/// How a request is answered, decided from its head.
package enum Answer: Sendable {
    case now(Response)
    /// The response takes longer, and is made on no event loop. Its task is canceled when the client leaves.
    case later(@Sendable () async -> Response)
    /// The response waits for something to happen, which costs nothing but memory meanwhile. Canceled as `later`.
    case waiting(AwaitedResponse)
    /// The request changes something, which takes its whole body. Nothing cancels it once the body is there.
    case body(BodyAction)
}

/// A response that waits for something to happen, in a function that is called then.
package struct AwaitedResponse: Sendable {
    /// Calls `complete` once, on any thread, maybe at once; soon if `wait` is canceled.
    let begin: @Sendable (_ wait: ChangeSignal.Wait, _ complete: @escaping @Sendable (Response) -> Void) -> Void

    package init(
        begin:
            @escaping @Sendable (_ wait: ChangeSignal.Wait, _ complete: @escaping @Sendable (Response) -> Void) -> Void
    ) {
        self.begin = begin
    }

    fileprivate func map(_ change: @escaping @Sendable (Response) -> Response) -> AwaitedResponse {
        AwaitedResponse { wait, complete in begin(wait) { complete(change($0)) } }
    }

    fileprivate func response() async -> Response {
        let wait = ChangeSignal.Wait()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in begin(wait) { continuation.resume(returning: $0) } }
        } onCancel: {
            wait.cancel()
        }
    }
}

/// The work that a request does with its body.
package struct BodyAction: Sendable {
    /// The largest body in bytes. A larger one gets `tooLarge`.
    let limit: Int
    let tooLarge: Response
    let place: RequestWork.Kind
    /// Called with the whole body, on no event loop.
    let perform: @Sendable (_ body: [UInt8]) async -> Response

    /// - Parameter place: the kind of place that the request holds.
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
        case .waiting(let awaited): .waiting(awaited.map(change))
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
        case .waiting(let awaited): await awaited.response()
        case .body(let action): await action.perform([])
        }
    }
}
