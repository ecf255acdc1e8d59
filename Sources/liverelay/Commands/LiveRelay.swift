import ArgumentParser
import Foundation
import Glibc
import Logging
import Observability
import Service
import Support

@main
struct LiveRelay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "liverelay",
        abstract: "Republish a live HLS channel as a clean one, through its ad breaks.",
        discussion: """
            Pulls a channel whose ad server restarts the clock and changes resolution, codecs and audio, and republishes \
            it: every frame once, one continuous timeline, the right init section for every splice.

            liverelay https://example.com/channel/master.m3u8
            liverelay https://example.com/channel/master.m3u8 -o - | ffmpeg -i - -c copy evening.mkv
            liverelay serve channels.m3u
            liverelay demo Captures/ssai_tagged
            liverelay record https://example.com/channel/master.m3u8 evening --for 10m
            liverelay replay evening --out republished
            liverelay check recording.ts
            """,
        version: ProgramVersion.text,
        subcommands: [
            RelayCommand.self, ServeCommand.self, DemoCommand.self, RecordCommand.self, ExcerptCommand.self,
            ReplayCommand.self, CheckCommand.self,
        ], defaultSubcommand: RelayCommand.self)

    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        HeapSettings.apply()
        occupyClosedDescriptors()
        do {
            let words = FirstWord.arguments(Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot(words)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Console.standardError.close(within: closeLimit)
        } catch let error as RelayError {
            let console = Console.standardError
            console.write(message: console.format == .text ? "liverelay: \(error.line)" : error.line, level: .error)
            Console.standardError.close(within: closeLimit)
            Glibc.exit(error.exit.rawValue)
        } catch {
            Console.standardError.close(within: closeLimit)
            end(with: error)
        }
    }

    /// Ends the process with a text of the argument parser: help on standard output, or an error that shows no secret.
    private static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        guard !code.isSuccess else { exit(withError: error) }
        let text = UsageText.redacted(fullMessage(for: error), words: CommandLine.arguments)
        FileHandle.standardError.write(Data((text + "\n").utf8))
        Glibc.exit(code.rawValue)
    }

    /// Keeps the numbers of standard descriptors that are closed from being used for a file, which would then be written
    /// to. Writing to them fails.
    private static func occupyClosedDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// How long writing the last lines may take.
    private static let closeLimit = Duration.milliseconds(1000)
}
