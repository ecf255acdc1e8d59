import ArgumentParser
import Channel
import ChannelList
import Media
import Service

/// Options for one endless transport stream on standard output or in a file.
struct StreamingOptions: ParsableArguments {
    /// How fast the stream is written.
    enum Pace: String, ExpressibleByArgument, CaseIterable { case realtime, none }

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the channel as one endless MPEG transport stream: - for standard output, or a file.",
            discussion: """
                Nothing else is written to standard output. No HTTP server is started unless --port is given, and no \
                rewind is kept unless --dvr or --spool is given. Ends with status 0 when the reader closes the pipe, \
                when the upstream has ended, and at SIGINT or SIGTERM.
                """, valueName: "file"))
    var output: StreamDestination?

    @Flag(name: [.customLong("stdout"), .customShort("O")], help: "The same as --output -.")
    var writesStandardOutput = false

    @Option(
        help: ArgumentHelp(
            "realtime: --burst at once, then at the pace of the media. none: as fast as it is read.",
            discussion: "The default is realtime for pipes and sockets, and none for files, also behind a redirection.")
    )
    var pace: Pace?

    @Option(help: ArgumentHelp(.burst))
    var burst = TimeSpan(seconds: 6)

    /// The destination; nil if no stream is written.
    var destination: StreamDestination? { writesStandardOutput ? .standardOutput : output }

    func validate() throws {
        if writesStandardOutput, let output, output != .standardOutput {
            throw ValidationError("--stdout and --output name two destinations. Give one of them.")
        }
    }

    /// How the stream is sent to a destination.
    ///
    /// A reader that is not paced is never moved forward for what was published at once. It loses what leaves the ring.
    func policy(for kind: StreamDescriptor.Kind) -> EndlessStream.Policy {
        let isPaced = pace.map { $0 == .realtime } ?? (kind == .pipe)
        return EndlessStream.Policy(
            pace: isPaced ? .realTime(percent: 100) : .none, burst: .seconds(burst.seconds),
            longestLag: kind == .pipe && isPaced ? .seconds(30) : nil)
    }
}

extension StreamDestination: ExpressibleByArgument {}
