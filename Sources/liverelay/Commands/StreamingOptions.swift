import ArgumentParser
import Channel
import ChannelList
import Media
import Service
import Support

/// Options for one endless transport stream on standard output or in a file.
struct StreamingOptions: ParsableArguments {
    enum Pace: String, ExpressibleByArgument, CaseIterable { case realtime, none }

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the channel as one endless MPEG transport stream: - for standard output, or a file; or record it.",
            discussion: """
                Nothing else is written to standard output. No HTTP server is started unless --port is given, and no \
                rewind is kept unless --dvr or --spool is given. Ends with status 0 when the reader closes the pipe, \
                when the upstream has ended, and at SIGINT or SIGTERM. A path with fields, as in \
                'DIR/{channel}/{start:%Y-%m-%d_%H-%M}.mkv', or one that ends with .mp4 or .mkv, names recordings.
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

    @Option(help: "When a recording goes on in another file: 1h, day or never.")
    var split = RecordingSplit.never

    @Flag(name: .customLong("no-record-slate"), help: "Leave the slate of outages out of recordings.")
    var leavesOutSlate = false

    @Option(help: ArgumentHelp(.keep))
    var keep: TimeSpan?

    @Option(help: ArgumentHelp(.keepSize))
    var keepSize: ByteCount?

    var destination: StreamDestination? {
        writesStandardOutput ? .standardOutput : recordingPath == nil ? output : nil
    }

    private var recordingPath: String? {
        guard case .file(let path)? = output, RecordingPattern.isPattern(path) else { return nil }
        return path
    }

    /// How the channel is recorded; nil if it is not recorded.
    var recording: ChannelRecorder.Settings? {
        guard let path = recordingPath, let pattern = try? RecordingPattern(path) else { return nil }
        return ChannelRecorder.Settings(
            pattern: pattern, split: split, includesSlate: !leavesOutSlate,
            retention: RecordingRetention(
                longest: keep?.seconds, byteLimit: keepSize.map { UInt64(clamping: $0.bytes) }),
            closesAtEnd: true)
    }

    func validate() throws {
        if writesStandardOutput, let output, output != .standardOutput {
            throw ValidationError("--stdout and --output name two destinations. Give one of them.")
        }
        do throws(RecordingPattern.Fault) { _ = try recordingPath.map(RecordingPattern.init) } catch {
            throw ValidationError("--output: expected \(error.expectation).")
        }
        if recordingPath == nil, split != .never || leavesOutSlate || keep != nil || keepSize != nil {
            throw ValidationError(
                "--split, --no-record-slate, --keep and --keep-size need recordings: see --output.")
        }
        if split == .program { throw ValidationError("--split programme needs a guide, which liverelay serve has.") }
    }

    /// How the stream is sent to a destination.
    ///
    /// A reader without pacing is never moved forward because of media published at once. It loses media that leaves
    /// the ring.
    func policy(for kind: StreamDescriptor.Kind) -> EndlessStream.Policy {
        let isPaced = pace.map { $0 == .realtime } ?? (kind == .pipe)
        return EndlessStream.Policy(
            pace: isPaced ? .realTime(percent: 100) : .none, burst: .seconds(burst.seconds),
            longestLag: kind == .pipe && isPaced ? .seconds(30) : nil)
    }
}

extension StreamDestination: ExpressibleByArgument {}

extension RecordingPattern: ExpressibleByArgument {
    package init?(argument: String) {
        guard let pattern = try? RecordingPattern(argument) else { return nil }
        self = pattern
    }
}

extension RecordingSplit: ExpressibleByArgument {
    package init?(argument: String) {
        if let split = RecordingSplit(word: argument) {
            self = split
        } else if let span = TimeSpan(argument: argument), span.seconds > 0 {
            self = .every(seconds: span.seconds)
        } else {
            return nil
        }
    }

    package var defaultValueDescription: String {
        if case .every(let seconds) = self { "\(seconds)s" } else { "never" }
    }
}
