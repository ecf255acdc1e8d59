import ArgumentParser
import Channel
import Glibc
import Media
import Testing

@testable import liverelay

struct StreamDescriptorTests {
    /// A pipe whose reading end a test closes or does not read.
    private struct Pipe {
        let reading: Int32
        let writing: StreamDescriptor

        init() {
            signal(SIGPIPE, SIG_IGN)  // as the program does
            var ends: [Int32] = [0, 0]
            _ = unsafe pipe(&ends)
            reading = ends[0]
            writing = StreamDescriptor(ends[1], name: "a pipe", isOwned: true)
        }
    }

    private let bytes = [UInt8](repeating: 0x47, count: 188 * 2000)[...]

    @Test func closedPipeIsNoSystemError() async {
        let pipe = Pipe()
        close(pipe.reading)
        await #expect(throws: StreamDescriptor.Failure.closed) { try await pipe.writing.write(bytes) }
    }

    @Test func fullDiskIsASystemError() async throws {
        let descriptor = try StreamDestination.file(path: "/dev/full").open()
        await #expect(throws: StreamDescriptor.Failure.system(code: ENOSPC)) { try await descriptor.write(bytes) }
    }

    @Test func writeThatWaitsForItsReaderCanBeCanceled() async {
        let pipe = Pipe()
        let writing = Task { try await pipe.writing.write(bytes) }
        // Once the pipe is full, the write waits.
        var request = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&request, 1, 10_000)
        writing.cancel()
        await #expect(throws: StreamDescriptor.Failure.canceled) { try await writing.value }
        close(pipe.reading)
    }

    @Test func everythingArrivesAtASlowReader() async throws {
        let pipe = Pipe()
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
            (["-o", "-"], "realtime", 30), (["-O"], "realtime", 30), (["--output", "a.ts"], "none", nil),
            (["-o", "-", "--pace", "none"], "none", nil), (["-o", "a.ts", "--pace", "realtime"], "realtime", nil),
        ] as [([String], String, Int?)])
    func pipesArePacedAndFilesAreNot(arguments: [String], pace: String, lag: Int?) throws {
        let options = try StreamingOptions.parse(arguments)
        let policy = options.policy(for: try #require(options.destination))
        #expect(policy.pace == (pace == "none" ? .none : .realTime(percent: 100)))
        #expect(policy.longestLag == lag.map { .seconds(Int64($0)) })
        #expect(policy.burst == .seconds(6))
    }

    @Test func clientTimeoutIsAMinuteByDefault() throws {
        #expect(try ServingOptions.parse([]).clientTimeout.duration == .seconds(60))
        #expect(try ServingOptions.parse(["--client-timeout", "90s"]).clientTimeout.duration == .seconds(90))
    }
}
