import ArgumentParser
import Channel
import Export
import Foundation
import Glibc
import Logging
import Media
import Testing

@testable import Service
@testable import Support
@testable import liverelay

struct StreamDescriptorTests {
    /// A pipe whose reading end a test closes or does not read.
    private struct Pipe {
        let reading: Int32
        let writing: StreamDescriptor

        init() throws {
            signal(SIGPIPE, SIG_IGN)  // as the program does
            var ends: [Int32] = [0, 0]
            _ = unsafe pipe(&ends)
            reading = ends[0]
            writing = try StreamDescriptor(ends[1], name: "a pipe", isOwned: true)
        }
    }

    private let bytes = [UInt8](repeating: 0x47, count: 188 * 2000)[...]

    @Test func closedPipeIsNoSystemError() async throws {
        let pipe = try Pipe()
        #expect(!pipe.writing.isReaderGone)
        close(pipe.reading)
        #expect(pipe.writing.isReaderGone)
        await #expect(throws: StreamDescriptor.Failure.closed) { try await pipe.writing.write(bytes) }
    }

    @Test func fullDiskIsASystemError() async throws {
        let descriptor = try StreamDestination.file(path: "/dev/full").open()
        await #expect(throws: StreamDescriptor.Failure.system(code: ENOSPC)) { try await descriptor.write(bytes) }
    }

    @Test func writeThatWaitsForItsReaderCanBeCanceled() async throws {
        let pipe = try Pipe()
        let writing = Task { try await pipe.writing.write(bytes) }
        // Once the pipe is full, the write waits.
        var request = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&request, 1, 10_000)
        writing.cancel()
        await #expect(throws: StreamDescriptor.Failure.canceled) { try await writing.value }
        close(pipe.reading)
    }

    @Test func everythingArrivesAtASlowReader() async throws {
        let pipe = try Pipe()
        let reading = Task.detached { [reading = pipe.reading] in
            var count = 0
            var buffer = [UInt8](repeating: 0, count: 1000)
            while case let read = unsafe read(reading, &buffer, buffer.count), read > 0 { count += read }
            return count
        }
        try await pipe.writing.write(bytes)
        _ = consume pipe
        #expect(await reading.value == bytes.count)
    }

    @Test(arguments: [
        ("-", StreamDestination.standardOutput), ("pipe:1", .standardOutput), ("a.ts", .file(path: "a.ts")),
        ("./-", .file(path: "./-")), ("", nil),
    ])
    func destinationIsReadFromItsArgument(argument: String, destination: StreamDestination?) {
        #expect(StreamDestination(argument: argument) == destination)
    }

    @Test(
        arguments: [
            ([], .pipe, "realtime", 30), ([], .file, "none", nil), (["--pace", "none"], .pipe, "none", nil),
            (["--pace", "realtime"], .file, "realtime", nil),
        ] as [([String], StreamDescriptor.Kind, String, Int?)])
    func pipesArePacedAndFilesAreNot(
        arguments: [String], kind: StreamDescriptor.Kind, pace: String, lag: Int?
    ) throws {
        let policy = try StreamingOptions.parse(["-o", "-"] + arguments).policy(for: kind, burst: nil)
        #expect(policy.pace == (pace == "none" ? .none : .realTime(percent: 100)))
        #expect(policy.longestLag == lag.map { .seconds(Int64($0)) })
        #expect(policy.burst == .seconds(6))
    }

    /// The kind is that of what is open, whatever its name: standard output may be a file, and a path a FIFO.
    @Test func kindIsThatOfTheOpenFile() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "a").path
        #expect(try StreamDestination.file(path: path).open().kind == .file)
        #expect(try StreamDestination.file(path: "/dev/null").open().kind == .file)
        #expect(try Pipe().writing.kind == .pipe)
        let fifo = directory.appending(path: "fifo").path
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        let reading = unsafe open(fifo, O_RDONLY | O_NONBLOCK)
        #expect(try StreamDestination.file(path: fifo).open().kind == .pipe)
        close(reading)
        var ends: [Int32] = [0, 0]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let socket = try StreamDescriptor(ends[0], name: "a socket", isOwned: true)
        #expect(socket.kind == .pipe && !socket.isReaderGone)
        close(ends[1])
        #expect(socket.isReaderGone)
        #expect(throws: StreamDescriptor.Failure.system(code: EBADF)) {
            _ = try StreamDescriptor(-1, name: "nothing", isOwned: false)
        }
    }

    @Test func terminalIsRefused() throws {
        let error = #expect(throws: RelayError.self) { _ = try StreamDestination.file(path: "/dev/ptmx").open() }
        #expect(error?.exit == .cannotWrite && error?.line.contains("is a terminal") == true)
    }

    /// A pipe says that it is closed although nothing is written to it.
    @Test(arguments: [true, false]) func readerThatLeavesEndsTheStream(isClosedAtTheStart: Bool) async throws {
        let pipe = try Pipe()
        if isClosedAtTheStart { close(pipe.reading) }
        var writer = StreamWriter(
            descriptor: pipe.writing, policy: EndlessStream.Policy(),
            logger: Logger(label: "test") { _ in
                SwiftLogNoOpLogHandler()
            })
        // It waits for the first segment, and has seen an open pipe once.
        writer.pause = { [reading = pipe.reading] in close(reading) }
        switch await writer.run(ChannelState(upstream: "http://127.0.0.1/") { .zero }) {
        case .failed(let error)?: #expect(isClosedAtTheStart && error.exit == .cannotWrite)
        case .readerClosed?: #expect(!isClosedAtTheStart)
        default: Issue.record("the stream goes on")
        }
    }

    @Test func clientTimeoutIsAMinuteByDefault() throws {
        #expect(try ServingOptions.parse([]).clientTimeout.duration == .seconds(60))
        #expect(try ServingOptions.parse(["--client-timeout", "90s"]).clientTimeout.duration == .seconds(90))
    }
}
