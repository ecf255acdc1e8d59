import ArgumentParser
import Channel
import ChannelList
import Export
import Media
import Record
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
                """, valueName: "file"), completion: .file())
    var output: StreamDestination?

    @Flag(name: [.customLong("stdout"), .customShort("O")], help: "The same as --output -.")
    var writesStandardOutput = false

    @Option(
        help: ArgumentHelp(
            "realtime: --burst at once, then at the pace of the media. none: as fast as it is read.",
            discussion: "The default is realtime for pipes and sockets, and none for files, also behind a redirection.")
    )
    var pace: Pace?

    /// The rewind if only the stream reads it: longer than a slow reader may be behind before it is moved forward.
    static let rewind = Duration.seconds(60)

    var isGiven: Bool { output != nil || writesStandardOutput }

    var destination: StreamDestination? {
        writesStandardOutput ? .standardOutput : recordingPath == nil ? output : nil
    }

    private var recordingPath: String? {
        guard case .file(let path)? = output, RecordingPattern.isPattern(path) else { return nil }
        return path
    }

    /// The options of a channel that the output records, as `record-to` does.
    var recordingOptions: ChannelOptions {
        var options = ChannelOptions()
        options.recordTo = recordingPath.flatMap { try? RecordingPattern($0) }
        return options
    }

    /// Suffixes by which players and editors expect another container than a transport stream.
    private static let otherContainers: Set = [
        "aac", "avi", "flv", "m3u8", "m4a", "m4v", "mka", "mov", "mp3", "mpd", "mpg", "ogg", "webm", "wmv",
    ]

    /// The fault of a path of a transport stream; nil if it has none.
    private var complaint: String? {
        guard case .file(let path)? = destination, let dot = path.lastIndex(of: ".") else { return nil }
        let (base, suffix) = (path[..<dot], path[path.index(after: dot)...])
        guard Self.otherContainers.contains(suffix.lowercased()) else { return nil }
        return """
            --output \(path) would be a transport stream, which a .\(suffix) is not. Write --output \(base).ts, \
            or \(base).mp4 or \(base).mkv.
            """
    }

    func validate() throws {
        if let complaint { throw ValidationError(complaint) }
        if writesStandardOutput, let output, output != .standardOutput {
            throw ValidationError("--stdout and --output name two destinations. Give one of them.")
        }
        do throws(RecordingPattern.Fault) { _ = try recordingPath.map(RecordingPattern.init) } catch {
            throw ValidationError("--output: expected \(error.expectation).")
        }
    }

    /// How the stream is sent to a destination.
    ///
    /// A reader without pacing is never moved forward because of media published at once. It loses media that leaves
    /// the ring.
    func policy(for kind: StreamDescriptor.Kind, burst: Duration?) -> EndlessStream.Policy {
        let isPaced = pace.map { $0 == .realtime } ?? (kind == .pipe)
        return EndlessStream.Policy(
            pace: isPaced ? .realTime(percent: 100) : .none,
            burst: burst.map { .seconds($0.components.seconds) } ?? EndlessStream.Policy().burst,
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
