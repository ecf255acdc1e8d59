import Glibc
import Testing

@testable import liverelay

@Suite(.timeLimit(.minutes(1))) struct SignalTests {
    /// A source that is made anew after each signal misses those that follow.
    @Test func everySignalIsNoticed() async {
        signal(SIGUSR2, SIG_IGN)
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let task = Task { await Signals.forEach(SIGUSR2) { arrival.yield() } }
        // Before the source is there, signals are ignored.
        let sender = Task {
            while !Task.isCancelled {
                kill(getpid(), SIGUSR2)
                await Task.yield()
            }
        }
        var iterator = arrivals.makeAsyncIterator()
        await iterator.next()
        sender.cancel()
        await sender.value
        for _ in 0..<5 {
            kill(getpid(), SIGUSR2)
            await iterator.next()
        }
        task.cancel()
        await task.value
    }
}
