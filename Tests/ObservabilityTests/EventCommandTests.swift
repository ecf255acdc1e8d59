import Foundation
import Glibc
import Logging
import Testing
import WebTestSupport

@testable import Observability

/// A command in a directory of its own.
private struct CommandScene: ~Copyable {
    let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-command-\(UUID().uuidString)")
    let bus = EventBus(wallClock: { 0 })
    let counter = DeliveryCounter()

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func command(
        _ text: String, timeLimit: Duration = .seconds(30), groups: ProcessGroups = ProcessGroups()
    ) -> EventCommand {
        EventCommand(
            command: "cd '\(directory.path)'; \(text)", subscription: bus.subscribe(), counter: counter,
            timeLimit: timeLimit, groups: groups, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func text(_ name: String) -> String? {
        (try? Data(contentsOf: directory.appending(path: name))).map { String(decoding: $0, as: UTF8.self) }
    }

    func count(_ outcome: DeliveryCounter.Outcome) -> Int {
        counter.counts[.init(target: .command, outcome: outcome)] ?? 0
    }
}

@Suite(.ownThreads) struct EventCommandTests {
    @Test func commandGetsTheEvent() async throws {
        let scene = try CommandScene()
        let command = scene.command(
            "cat > in; echo \"$LIVERELAY_EVENT $LIVERELAY_CHANNEL\" > env; ls /proc/self/fd > fds; echo to nobody")
        scene.bus.publish(.channelStart(url: "http://h/'\"$(x)`y`;"), channel: "news")
        scene.bus.unsubscribe(command.subscription)
        await command.run()
        let line = scene.text("in") ?? ""
        #expect(line.hasSuffix("}\n") && line.contains(#""url":"http://h/'\"$(x)`y`;""#))
        #expect(scene.text("env") == "channel_start news\n")
        #expect(scene.text("fds")?.split(separator: "\n").count == 4, "the standard ones and that of ls")
        #expect(scene.count(.delivered) == 1)
    }

    @Test(.timeLimit(.minutes(1))) func hangingCommandIsKilledWithItsChildren() async throws {
        let scene = try CommandScene()
        // Every process of the command has the FIFO open.
        let fifo = scene.directory.appending(path: "alive").path
        try #require(unsafe mkfifo(fifo, 0o600) == 0)
        let reading = unsafe open(fifo, O_RDONLY | O_NONBLOCK)
        defer { close(reading) }
        let command = scene.command(
            "exec 9> alive; echo begun >&9; sleep 600 | sleep 600", timeLimit: .milliseconds(300))
        scene.bus.publish(.channelStart(url: "u"), channel: "news")
        scene.bus.unsubscribe(command.subscription)
        await command.run()
        #expect(scene.count(.failed) == 1)
        _ = fcntl(reading, F_SETFL, 0)
        var text = [UInt8](repeating: 0, count: 16)
        #expect(unsafe read(reading, &text, text.count) == 6, "it has begun")
        #expect(unsafe read(reading, &text, text.count) == 0, "nobody of the group is left")
    }

    @Test(.timeLimit(.minutes(1))) func commandThatIgnoresSignalsEndsWithTheProcess() async throws {
        let scene = try CommandScene()
        let fifo = scene.directory.appending(path: "alive").path
        try #require(unsafe mkfifo(fifo, 0o600) == 0)
        let reading = unsafe open(fifo, O_RDONLY | O_NONBLOCK)
        defer { close(reading) }
        let groups = ProcessGroups()
        let command = scene.command(
            "trap '' TERM INT HUP; exec 9> alive; echo begun >&9; sleep 600 & sleep 600", timeLimit: .seconds(600),
            groups: groups)
        scene.bus.publish(.channelStart(url: "u"), channel: "news")
        scene.bus.publish(.channelStart(url: "u"), channel: "sport")
        let run = Task { await command.run() }
        var text = [UInt8](repeating: 0, count: 16)
        while unsafe read(reading, &text, 6) != 6 { await Task.yield() }
        groups.close()
        scene.bus.unsubscribe(command.subscription)
        await run.value
        #expect(scene.count(.failed) == 2)
        _ = fcntl(reading, F_SETFL, 0)
        while case let count = unsafe read(reading, &text, text.count), count != 0 { #expect(count == 6) }
        #expect(throws: ChildProcess.Failure.self, "none is started any more") {
            try ChildProcess("true", input: [], environment: [], groups: groups)
        }
    }

    @Test func commandThatFailsIsCounted() async throws {
        let scene = try CommandScene()
        let command = scene.command("exit 3")
        let unknown = scene.command("liverelay-no-such-program 2> err")
        scene.bus.publish(.channelStart(url: "u"))
        for command in [command, unknown] {
            scene.bus.unsubscribe(command.subscription)
            await command.run()
        }
        #expect(scene.count(.failed) == 2)
    }

    @Test func fewRunAtOnce() async throws {
        let scene = try CommandScene()
        let command = scene.command("mkdir run.$$; ls -d run.* | wc -l >> counts; sleep 0.05; rmdir run.$$")
        for _ in 0..<12 { scene.bus.publish(.channelStart(url: "u")) }
        scene.bus.unsubscribe(command.subscription)
        await command.run()
        let counts = (scene.text("counts") ?? "").split(separator: "\n").compactMap { Int($0) }
        #expect(counts.count == 12 && counts.allSatisfy { $0 <= EventCommand.concurrency })
        #expect(scene.count(.delivered) == 12)
    }

    /// A command that reads nothing does not end the process by SIGPIPE.
    @Test func commandNeedNotRead() async throws {
        let scene = try CommandScene()
        let command = scene.command("exec <&-; sleep 0.05")
        scene.bus.publish(.channelStart(url: String(repeating: "u", count: 40_000)))
        scene.bus.unsubscribe(command.subscription)
        await command.run()
        #expect(scene.count(.delivered) == 1)
    }
}
