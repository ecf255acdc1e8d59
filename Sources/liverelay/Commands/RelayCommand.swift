import ArgumentParser
import ChannelList
import Record
import Service
import Support

/// `liverelay <upstream.m3u8>`
struct RelayCommand: AsyncParsableCommand, ChannelCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Republish one channel (the default).",
        discussion: """
            \(UsageText.commonOptions)

            Serves /live.m3u8 (a sliding window), /dvr.m3u8 (the whole rewind; ?last=600, ?start=…&end=… in ISO 8601 or \
            seconds since 1970), /master.m3u8 (with the subtitles; /dvr-master.m3u8 for the rewind), /status.json, /healthz \
            and /readyz. /live.ts is the channel as one endless MPEG transport stream, and /ts/live.m3u8 has \
            transport stream segments. With --output - that stream is written to standard output, for programs that read \
            a channel from a pipe.

            Ends with a different exit status for each kind of error; see docs/cli.md.
            """)

    @Argument(
        help: "URL of the channel: of a playlist, a transport stream or a media file; or the path of a file.",
        completion: .file())
    var upstream: String

    @Option(
        name: .customLong("backup"),
        help: ArgumentHelp(
            "URL of a backup for an upstream that is stalled or unusable; repeatable.",
            discussion: """
                Backups are tried in order after two and a quarter target durations, at least 4 s, without a new segment, \
                or without a segment that can be published. The channel returns to the upstream when that was healthy for a minute.
                """, valueName: "url"))
    var backups: [String] = []

    @Option(help: "Name of the channel, as the page shows it.")
    var name: String?

    @OptionGroup(title: "Serving") var serving: ServingOptions
    @OptionGroup var end: EndOptions
    @OptionGroup(title: "Transport stream") var streaming: StreamingOptions
    @OptionGroup(title: "Channel") var output: KeyOptions<OutputSection>
    @OptionGroup(title: "Recordings") var recording: KeyOptions<RecordingSection>
    @OptionGroup(title: "Upstream") var upstreams: KeyOptions<UpstreamSection>
    @OptionGroup(title: "Upstream") var requests: RequestArguments
    @OptionGroup(title: "Audio") var audio: KeyOptions<AudioSection>

    var options: ChannelOptions { channelOptions.filled(from: streaming.recordingOptions) }

    func validate() throws {
        if let message = FirstWord.complaint(about: upstream) { throw ValidationError(message) }
        if let complaint = OptionChecks.backups(backups) { throw ValidationError(complaint) }
        try OptionChecks.checkSingle(options)
        try requests.check(options)
    }

    func run() async throws {
        try streaming.destination?.check()
        if let pattern = options.recordTo { try checkRecordings(in: pattern.root) }
        let isStreamOnly = streaming.isGiven && serving.port == nil
        let hasRewind = !isStreamOnly || streaming.destination == nil || options.spool != nil
        try await RelayService(
            sources: ([upstream] + backups).map(FirstWord.sourceURL), options, requests, serving,
            rewind: hasRewind ? ConfigurationKey.usualRewind : StreamingOptions.rewind,
            single: RelayService.Single(
                output: streaming.destination, outputPolicy: { streaming.policy(for: $0, burst: options.burst) },
                hasServer: !isStreamOnly, canBeUpgraded: !isStreamOnly && streaming.destination == nil, name: name,
                exitsAtEnd: end.exitAtEnd
            ) { base in
                ["Watch \(base)live.m3u8   rewind \(base)dvr.m3u8   status \(base)status.json"]
            }
        ).run()
    }
}

extension RelayCommand {
    /// A disk that is full now may have room later, so that the recording begins paused.
    private func checkRecordings(in directory: String) throws(RelayError) {
        do throws(RecordingFile.Failure) { try RecordingFile.check(directory: directory) } catch {
            if error != .full { throw RelayError(recordingsIn: directory, of: "--output", error) }
        }
    }
}

/// Options for the end of a process of one channel.
struct EndOptions: ParsableArguments {
    @Flag(
        help: """
            End with status 0 when the upstream has ended, instead of continuing to serve. A live channel that ends is \
            polled for 3.5 target durations first, in case it starts again.
            """)
    var exitAtEnd = false
}
