import Synchronization

/// The bytes of a stream between the curl thread, which receives them, and the task that passes them on.
///
/// The transfer is paused while the buffer is full, so that a slow consumer slows the upstream.
final class StreamBuffer: Sendable {
    /// The maximum of bytes that wait: 4 s at 8 Mbit/s. While they are passed on, twice as many are in memory.
    static let limit = 4 << 20
    /// The least time between two parts. More frequent parts would only cost the session more steps.
    static let interval = Duration.milliseconds(100)

    private struct State {
        var bytes: [UInt8] = []
        var finalURL = ""
        var isPaused = false
        var lostDatagrams = 0
        var onRoom: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init() { (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Sets what is called when a full buffer has room again.
    func onRoom(_ resume: @escaping @Sendable () -> Void) { state.withLock { $0.onRoom = resume } }

    /// Appends the bytes by which the stream was recognized.
    func begin(_ bytes: [UInt8], from finalURL: String) {
        state.withLock { ($0.bytes, $0.finalURL) = (bytes, finalURL) }
        arrival.yield()
    }

    /// Returns false if the buffer is full: the same bytes come again when it has room.
    func append(_ bytes: some Collection<UInt8>) -> Bool {
        let isAppended = state.withLock { state in
            state.isPaused = state.bytes.count >= Self.limit
            if !state.isPaused { state.bytes.append(contentsOf: bytes) }
            return !state.isPaused
        }
        if isAppended { arrival.yield() }
        return isAppended
    }

    func recordLoss(_ count: Int) { state.withLock { $0.lostDatagrams += count } }

    func finish() { arrival.finish() }

    /// Passes on the bytes as they arrive, until the stream has ended or the task is canceled.
    func forward(to receive: @Sendable (StreamPart) async -> Void) async {
        for await _ in arrivals {
            if let part = dequeue() { await receive(part) }
            try? await Task.sleep(for: Self.interval)
        }
        if !Task.isCancelled, let rest = dequeue() { await receive(rest) }
    }

    private func dequeue() -> StreamPart? {
        let (part, resume) = state.withLock { state -> (StreamPart, (@Sendable () -> Void)?) in
            defer { (state.bytes, state.isPaused, state.lostDatagrams) = ([], false, 0) }
            let part = StreamPart(
                finalURL: state.finalURL, bytes: state.bytes, lostDatagrams: state.lostDatagrams)
            return (part, state.isPaused ? state.onRoom : nil)
        }
        resume?()
        return part.bytes.isEmpty ? nil : part
    }
}
