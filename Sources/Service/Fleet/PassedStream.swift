import Fetch
import HTTP
import Support
import Synchronization

/// A transport stream of another node, passed to one viewer as fast as the viewer reads.
struct PassedStream: Sendable {
    typealias Transfer = @Sendable (_ receive: @escaping @Sendable (StreamPart) async -> Void) async -> FetchOutcome

    /// Waits for the first bytes, or for the answer in place of a stream.
    static func response(_ transfer: @escaping Transfer) async -> Response {
        let handover = PartHandover()
        let task = Task {
            let outcome = await transfer { await handover.offer($0.bytes[...]) }
            handover.finish()
            return outcome
        }
        return await withTaskCancellationHandler {
            guard let first = await handover.next() else { return Response(passing: await task.value) }
            let reader = Reader(handover, task, first)
            var response = Response(
                contentType: .transportStream, cacheControl: .noStore,
                body: .stream(ByteStream { await reader.next() }))
            response.isPassed = true
            return response
        } onCancel: {
            task.cancel()
        }
    }

    /// The viewer's end. The transfer ends when nothing refers to it any more.
    private final class Reader: Sendable {
        private let handover: PartHandover
        private let task: Task<FetchOutcome, Never>
        private let first: Mutex<ArraySlice<UInt8>?>

        init(_ handover: PartHandover, _ task: Task<FetchOutcome, Never>, _ first: ArraySlice<UInt8>) {
            (self.handover, self.task) = (handover, task)
            self.first = Mutex(first)
        }

        deinit { task.cancel() }

        func next() async -> ArraySlice<UInt8>? {
            let first = first.withLock { first in
                defer { first = nil }
                return first
            }
            return if let first { first } else { await handover.next() }
        }
    }
}

/// Hands parts of a stream from a transfer to a viewer. Each waits for the other.
private final class PartHandover: Sendable {
    private struct State {
        var part: ArraySlice<UInt8>?
        /// The transfer, which waits until the viewer has taken the part.
        var transfer: CheckedContinuation<Void, Never>?
        /// The viewer, who waits for a part.
        var viewer: CheckedContinuation<ArraySlice<UInt8>?, Never>?
        var isOver = false
    }

    private let state = Mutex(State())

    /// Returns when the viewer has the part, or the stream is over.
    func offer(_ bytes: ArraySlice<UInt8>) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (viewer, waits) = state.withLock { state in
                    defer { state.viewer = nil }
                    let waits = state.viewer == nil && !state.isOver
                    if waits { (state.part, state.transfer) = (bytes, continuation) }
                    return (state.viewer, waits)
                }
                viewer?.resume(returning: bytes)
                if !waits { continuation.resume() }
            }
        } onCancel: {
            finish()
        }
    }

    /// The next part; nil at the end.
    func next() async -> ArraySlice<UInt8>? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (part, transfer, waits) = state.withLock { state in
                    defer { (state.part, state.transfer) = (nil, nil) }
                    let waits = state.part == nil && !state.isOver
                    if waits { state.viewer = continuation }
                    return (state.part, state.transfer, waits)
                }
                transfer?.resume()
                if !waits { continuation.resume(returning: part) }
            }
        } onCancel: {
            finish()
        }
    }

    func finish() {
        let (transfer, viewer) = state.withLock { state in
            defer { (state.transfer, state.viewer) = (nil, nil) }
            state.isOver = true
            return (state.transfer, state.viewer)
        }
        transfer?.resume()
        viewer?.resume(returning: nil)
    }
}
