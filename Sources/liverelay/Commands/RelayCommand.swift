import ArgumentParser

/// `liverelay <upstream.m3u8>`
struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Republish one channel (the default).",
        discussion: """
            Serves /live.m3u8 (a sliding window), /dvr.m3u8 (the whole rewind; ?last=600, ?start=…&end=… in ISO 8601 or \
            seconds since 1970), /master.m3u8 (with the subtitles; /dvr-master.m3u8 for the rewind), /status.json, /healthz \
            and /readyz. /live.ts is the channel as one endless MPEG transport stream, and /ts/live.m3u8 has \
            transport stream segments. With --output - that stream is written to standard output, for programs that read \
            a channel from a pipe.

            Ends with a different exit status for each kind of error; see docs/cli.md.
            """)

    @Argument(help: "URL of the channel: of a playlist, a transport stream or a media file; or the path of a file.")
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

    @OptionGroup(title: "Serving") var serving: ServingOptions
    @OptionGroup(title: "Transport stream") var streaming: StreamingOptions
    @OptionGroup(title: "Upstream") var intake: UpstreamOptions
    @OptionGroup(title: "Audio") var audio: AudioOptions

    func validate() throws {
        if let message = FirstWord.complaint(about: upstream) { throw ValidationError(message) }
        if let complaint = OptionChecks.backups(backups) { throw ValidationError(complaint) }
    }

    func run() async throws {
        try await serving.run(
            upstream: FirstWord.sourceURL(upstream), backups: backups.map(FirstWord.sourceURL), intake: intake,
            audio: audio, streaming: streaming
        ) { base in
            ["Watch \(base)live.m3u8   rewind \(base)dvr.m3u8   status \(base)status.json"]
        }
    }
}
