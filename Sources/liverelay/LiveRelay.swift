import ArgumentParser
import Glibc

@main
struct LiveRelay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "liverelay",
        abstract: "Republishes a live HLS channel as a clean one, through its ad breaks.",
        discussion: """
            Pulls a channel whose ad server restarts the clock and changes resolution, codecs and audio, and serves it \
            again: every frame once, one continuous timeline, the right init section for every splice.

            liverelay https://example.com/channel/master.m3u8
            liverelay demo Captures/ssai_tagged
            liverelay record https://example.com/channel/master.m3u8 evening --for 10m
            liverelay replay evening --out republished
            """,
        version: "0.1.0",
        subcommands: [
            RelayCommand.self, DemoCommand.self, RecordCommand.self, ExcerptCommand.self,
            ReplayCommand.self,
        ], defaultSubcommand: RelayCommand.self)

    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Console.standardError.close(within: farewell)
        } catch let error as RelayError {
            Console.standardError.write(line: "liverelay: \(error.line)")
            Console.standardError.close(within: farewell)
            Glibc.exit(error.exit.rawValue)
        } catch {
            Console.standardError.close(within: farewell)
            exit(withError: error)
        }
    }

    /// How long the last lines may take.
    private static let farewell = Duration.milliseconds(1000)
}
