import Foundation
import Glibc
import Logging
import Observability
import Service
import Support
import Synchronization
import WebServer

/// Starts the program again beside this process, and hands the connections and channels over to it.
struct Upgrade: Sendable {
    let host: ChannelHost
    let server: HTTPServer
    let recordings: RecordingService?
    let health: HealthRecorder
    let spool: SpoolLocation
    let generation: Int
    let connections: OpenConnections
    let logger: Logger

    /// How often segments and connections are looked at.
    private static let interval = Duration.milliseconds(100)

    private struct Successor {
        let process: SuccessorProcess
        let link: HandoverLink
    }

    /// - Parameter ends: the channels whose runs end.
    /// - Returns: whether the other process is the service now. Otherwise this process continues as before.
    func run(_ ends: RunEnds) async -> Bool {
        let (inputs, input) = AsyncStream<OutgoingHandover.Input>.makeStream()
        let successor: Successor
        do throws(ProgramStart.Failure) { successor = try await start(input) } catch {
            report(failure: "the program cannot be started: \(unsafe String(cString: strerror(error.code)))")
            return false
        }
        logger.info("Upgrade: started process \(successor.process)")
        ServiceManager.current?.send("STATUS=Upgrade: process \(successor.process) starts")
        let clock = ContinuousClock()
        let start = clock.now
        let now = { start.duration(to: clock.now) }
        var machine = OutgoingHandover(at: now())
        successor.link.send(.offer(format: HandoverMessage.format, state(host.spools)))
        ends.observe { input.yield(.closed(channel: $0)) }
        let ticks = Task {
            while (try? await clock.sleep(for: Self.interval)) != nil { input.yield(.wake) }
        }
        defer {
            ticks.cancel()
            ends.observe(nil)
        }
        var segments: [String: UInt64] = [:]
        var end: Bool?
        for await received in inputs {
            var pending = [received]
            if received == .wake {
                if connections.isEmpty { pending.append(.drained) }
                let next = host.nextSegments
                let published = next.filter { segments[$0.key].map { [new = $0.value] in $0 < new } ?? false }
                pending += published.keys.sorted().map { .published(channel: $0) }
                segments = next
            }
            while !pending.isEmpty {
                for effect in machine.handle(pending.removeFirst(), at: now()) {
                    let (more, result) = await perform(effect, successor)
                    pending += more
                    end = end ?? result
                }
            }
            if let end { return end }
        }
        // The task was canceled, because this process ends.
        successor.process.stop()
        return false
    }

    private func perform(
        _ effect: OutgoingHandover.Effect, _ successor: Successor
    ) async -> (inputs: [OutgoingHandover.Input], end: Bool?) {
        switch effect {
        case .send(let message): successor.link.send(message)
        case .stopAccepting:
            await server.pauseAccepting()
            await recordings?.close()
            return ([.stoppedAccepting(state(host.beginHandover()))], nil)
        case .drain:
            logger.info("Upgrade: process \(successor.process) accepts connections")
            server.beginClosing()
        case .release(let channel): if !host.release(channel) { return ([.closed(channel: channel)], nil) }
        case .complete:
            logger.info("Upgrade: process \(successor.process) has all channels")
            ServiceManager.current?.send("MAINPID=\(successor.process)")
            return ([], true)
        case .takeBack(let reason):
            successor.process.stop()
            host.endHandover()
            recordings?.reopen()
            await server.resumeAccepting()
            report(failure: reason)
            return ([], false)
        case .abandon(let reason):
            successor.process.stop()
            report(failure: reason)
            return ([], false)
        }
        return ([], nil)
    }

    private func state(_ channels: [String: String]) -> HandoverState {
        HandoverState(
            channels: channels, spool: spool.path, isTemporary: spool.isTemporary, generation: generation + 1,
            health: health.handover)
    }

    private func report(failure reason: String) {
        logger.error("Upgrade failed, this process continues: \(reason)")
        ServiceManager.current?.send("STATUS=Upgrade failed: \(reason.redactingURLs)")
    }

    private func start(
        _ input: AsyncStream<OutgoingHandover.Input>.Continuation
    ) async throws(ProgramStart.Failure) -> Successor {
        guard let listener = await server.duplicateListener(), let (own, other) = HandoverLink.makePair() else {
            throw ProgramStart.Failure(code: EMFILE)
        }
        defer {
            close(listener)
            close(other)
        }
        let descriptors = [other, listener] + (spool.lockDescriptor.map { [$0] } ?? [])
        let names = Set(Inheritance.variables)
        let environment = ProgramStart.environment.filter { !names.contains(String($0.prefix { $0 != "=" })) }
        let process: SuccessorProcess
        do throws(ProgramStart.Failure) {
            process = SuccessorProcess(try ProgramStart(
                arguments: CommandLine.arguments,
                environment: environment + ["\(Inheritance.variable)=\(descriptors.count)"],
                descriptors: [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] + descriptors,
                ignoring: Signals.ignoresHangup ? [SIGHUP] : []
            ).spawn())
        } catch {
            close(own)
            throw error
        }
        return Successor(
            process: process,
            link: HandoverLink(own) { message in
                input.yield(message.map { .message($0) } ?? .successorEnded(reason: process.end()))
            })
    }
}

/// A process that was started to take over from this one.
private final class SuccessorProcess: Sendable, CustomStringConvertible {
    let number: pid_t
    /// The status with which it ended; nil: it runs.
    private let status = Mutex<Int32?>(nil)

    init(_ number: pid_t) { self.number = number }

    var description: String { "\(number)" }

    /// Ends the process. Its rings are whole at any moment.
    func stop() {
        status.withLock { status in
            guard status == nil else { return }
            kill(number, SIGKILL)
            status = Self.wait(for: number, 0)
        }
    }

    /// How the process ended, after it has closed its connection.
    func end() -> String {
        for _ in 0..<20 {
            let known = status.withLock { status in
                status = status ?? Self.wait(for: number, WNOHANG)
                return status
            }
            guard let known else {
                usleep(50_000)
                continue
            }
            let signal = known & 0x7F
            return signal == 0
                ? "the new process ended with status \(known >> 8 & 0xFF)"
                : "the new process was ended by signal \(signal)"
        }
        return "the new process does not answer any more"
    }

    private static func wait(for number: pid_t, _ options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let result = unsafe waitpid(number, &status, options)
            if result < 0, errno == EINTR { continue }
            return result == 0 ? nil : status
        }
    }
}

/// The ends of runs, of which an upgrade is told.
final class RunEnds: Sendable {
    private let observer = Mutex<(@Sendable (String) -> Void)?>(nil)

    func observe(_ body: (@Sendable (String) -> Void)?) { observer.withLock { $0 = body } }

    func report(_ channel: String) { observer.withLock { $0 }?(channel) }
}
