import ArgumentParser
import ChannelList
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

            liverelay https://example.com/live.m3u8
            liverelay https://example.com/live.m3u8 -o - | ffmpeg -i - -c copy a.mkv
            liverelay serve channels.m3u
            liverelay demo
            liverelay capture https://example.com/live.m3u8 evening --for 10m
            liverelay replay evening --out republished
            liverelay check recording.ts

            \(UsageText.commonOptions)
            """,
        version: ProgramVersion.text,
        subcommands: [
            RelayCommand.self, ServeCommand.self, DemoCommand.self, CaptureCommand.self, ExcerptCommand.self,
            ReplayCommand.self, CheckCommand.self,
        ], defaultSubcommand: RelayCommand.self)

    static func main() async {
        Signals.ignoreUnasked()
        HeapSettings.apply()
        occupyClosedDescriptors()
        let (words, notice) = FormerWords.replaced(in: FirstWord.arguments(Array(CommandLine.arguments.dropFirst())))
        if words.isEmpty {
            FileHandle.standardError.write(Data((UsageText.firstSteps + "\n").utf8))
            Glibc.exit(ExitCode.validationFailure.rawValue)
        }
        if let script = CompletionScript.text(for: words) {
            print(script)
            return
        }
        if let notice { Console.standardError.write(message: notice, level: .warning) }
        do {
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
            end(with: error, words: words)
        }
    }

    /// Ends the process with a text of the argument parser: help on standard output, or an error without secrets.
    private static func end(with error: any Error, words: [String]) -> Never {
        let code = exitCode(for: error)
        guard !code.isSuccess else { exit(withError: error) }
        let text = UsageText.text(of: error, words: words)
        FileHandle.standardError.write(Data((text + "\n").utf8))
        Glibc.exit(code.rawValue)
    }

    /// Opens the standard descriptors that are closed, so that no file gets their numbers and is then written to.
    /// Writing to these descriptors fails.
    private static func occupyClosedDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// The time limit for writing the last lines.
    private static let closeLimit = Duration.milliseconds(1000)
}

/// The former words for captures, which are accepted until the next release.
enum FormerWords {
    /// The command line with the present words, and a line about the former ones; nil if there are none.
    static func replaced(in words: [String]) -> (words: [String], notice: String?) {
        let present = words.enumerated().map { index, word in
            if index == 0, word == "record" { return "capture" }
            guard word == "--record" || word.hasPrefix("--record=") else { return word }
            return "--capture" + word.dropFirst("--record".count)
        }
        guard let (former, word) = zip(words, present).first(where: { $0 != $1 }) else { return (words, nil) }
        let name = { (word: String) in String(word.prefix { $0 != "=" }) }
        return (
            present,
            "liverelay: “\(name(former))” is called “\(name(word))” now, and is accepted in this release alone."
        )
    }
}

/// Classifies the first word of the command line, which may be a command, a URL, or a list of channels.
enum FirstWord {
    static let commands = ["relay", "serve", "demo", "capture", "excerpt", "replay", "check", "help"]

    /// The arguments, with the command `serve` inserted before a file whose name is that of a list of channels. A program
    /// that takes liverelay for ffmpeg (Threadfin 1.2.39) puts `-user_agent NAME` before the options it was given.
    static func arguments(_ words: [String], exists: (String) -> Bool = FileManager.default.fileExists) -> [String] {
        let words = words.map { $0 == "-user_agent" ? "--user-agent" : $0 }
        guard let first = words.first, !first.contains("://"), exists(first) else { return words }
        let isList = [".m3u", ".yaml", ".yml"].contains { first.lowercased().hasSuffix($0) }
        return isList ? ["serve"] + words : words
    }

    /// The URL of a source: as given, or the URL of an existing file.
    static func sourceURL(_ word: String) -> String {
        guard !word.contains("://"), FileManager.default.fileExists(atPath: word) else { return word }
        return FileURL.text(ofPath: URL(filePath: word).standardizedFileURL.path)
    }

    /// The fault of a word that stands where a channel's URL is expected; nil if it may be one.
    static func complaint(about word: String) -> String? {
        guard !word.contains("://") else { return nil }
        var isDirectory: ObjCBool = false
        if unsafe FileManager.default.fileExists(atPath: word, isDirectory: &isDirectory) {
            return isDirectory.boolValue ? complaint(aboutDirectory: word) : nil
        }
        let quoted = word.redacted.quoted
        if word.isEmpty { return "The URL is empty." }
        if word.hasPrefix("http:/") || word.hasPrefix("https:/") {
            return "\(quoted) is no URL. Write \(word.redacted.replacing(":/", with: "://", maxReplacements: 1))."
        }
        if isPath(word) {
            return "There is no file \(quoted). A channel on the network begins with http:// or https://."
        }
        if word.contains(".") || word.contains("/") || word.contains(":") {
            return "\(quoted) is no URL. Write http://\(word.redacted) or https://\(word.redacted)."
        }
        let start = "\(quoted) is neither a command nor a URL."
        guard let nearest = NearestWord.of(word, among: commands) else { return "\(start) See liverelay --help." }
        return "\(start) Did you mean liverelay \(nearest)?"
    }

    private static func complaint(aboutDirectory path: String) -> String {
        let isCapture = FileManager.default.fileExists(atPath: path + "/index.json")
        return isCapture
            ? "\(path.quoted) is a capture. Play it with: liverelay demo \(path), or liverelay replay \(path)."
            : "\(path.quoted) is a directory. Give the URL of a channel, or a media file."
    }

    /// Whether a word is meant as the path of a file: it begins or ends like one, or does not begin with a host name.
    private static func isPath(_ word: String) -> Bool {
        if ["/", "./", "../", "~"].contains(where: word.hasPrefix) { return true }
        let parts = word.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count > 1 { return !parts[0].contains(".") && !parts[0].contains(":") }
        let name = word.lowercased()
        return fileNameEnds.contains { name.hasSuffix($0) }
    }

    private static let fileNameEnds = [
        ".m3u", ".m3u8", ".yaml", ".yml", ".mpd", ".ts", ".m2ts", ".mts", ".mp4", ".m4v", ".m4a", ".mov", ".mkv",
        ".aac",
        ".mp3",
    ]
}

/// The text of an error in the command line, without the command line's secrets and without control characters.
enum UsageText {
    /// Options whose values are secrets as a whole.
    private static let secretOptions = ["--cookie", "--proxy", "--token", "--api-token"]
    /// Options whose values are a name and a secret.
    private static let headerOptions = ["--header", "--http-header"]

    /// The options that most people need, which stand before all others. The parser keeps the lines of indented text.
    static let commonOptions = """
        Options that most people need; liverelay help relay has all:
          --listen 0.0.0.0    let other machines watch
          --port 8080         the port of the page and the playlists
          --dvr 2h            how far viewers can rewind
          --spool DIRECTORY   keep the rewind over restarts
          --backup URL        another URL for when the channel fails
          --slate FILE.mp4    what to show meanwhile
          --header 'N: V'     a header that the upstream needs
          -o FILE             write x.ts, or record x.mp4 or x.mkv
        """

    /// The answer to a command line without a word.
    static let firstSteps = """
        liverelay republishes a live channel as a clean one. Give it the channel's URL:
            liverelay https://example.com/live.m3u8
        or see it work with liverelay demo. Commands and options: liverelay --help
        """

    /// The text of a parser error, with hints about options of channels that the parser does not know.
    /// - Parameter words: the command line, with its command.
    static func text(of error: any Error, words: [String]) -> String {
        let text = LiveRelay.fullMessage(for: error)
        guard let complaint = complaint(about: text, words: words) else { return redacted(text, words: words) }
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        return redacted((["Error: \(complaint)"] + lines.dropFirst()).joined(separator: "\n"), words: words)
    }

    /// The answer to a mistake that the parser cannot recognize; nil: the parser's text is right.
    private static func complaint(about text: String, words: [String]) -> String? {
        let command = words.first.flatMap { OptionNames.commands[$0] != nil ? $0 : nil } ?? "relay"
        if let argument = quoted(after: "Unexpected argument '", in: text), argument.contains("://") {
            let place =
                command == "serve"
                ? "Write several as `playlist: [URL, URL]` in a channels.yaml."
                : "Write a backup of the channel as --backup URL, and several channels in a list: liverelay serve FILE."
            return "Unexpected argument '\(argument)'. \(place)"
        }
        guard let option = quoted(after: "Unknown option '", in: text) else { return nil }
        if command == "serve", let hint = ChannelOptionHint(option) { return hint.complaint }
        let others = OptionNames.commands.filter { $0.value.contains(option) }.keys.sorted()
        return others.isEmpty ? nil : "\(option) is an option of liverelay \(others.joined(separator: ", "))."
    }

    private static func quoted(after start: String, in text: String) -> String? {
        guard let start = text.firstRange(of: start)?.upperBound, let end = text[start...].firstIndex(of: "'") else {
            return nil
        }
        return String(text[start..<end])
    }

    /// - Parameters:
    ///   - text: the parser's text, which may quote any word.
    ///   - words: the command line.
    static func redacted(_ text: String, words: [String]) -> String {
        let secrets = replacements(in: words).sorted { $0.word.utf8.count > $1.word.utf8.count }
        let redacted = secrets.reduce(text) { $0.replacing($1.word, with: $1.replacement) }
        return redacted.escapingControlCharacters(keepingLines: true)
    }

    private static func replacements(in words: [String]) -> [(word: String, replacement: String)] {
        words.indices.flatMap { index -> [(word: String, replacement: String)] in
            let word = words[index]
            let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let before = index > 0 ? words[index - 1] : ""
            let (option, value) = word.hasPrefix("--") && sides.count == 2 ? (sides[0], sides[1]) : (before, word)
            guard !value.isEmpty else { return [] }
            if secretOptions.contains(option) { return [(value, "…")] }
            if headerOptions.contains(option) { return [(value, redactedHeader(value))] }
            let url = URIReference.redacted(value)
            return url == value ? [] : [(value, url)]
        }
    }

    /// `Name: …` if the header has a name, else only `…`.
    private static func redactedHeader(_ header: String) -> String {
        header.firstIndex { $0 == ":" || $0 == "=" }.map { "\(header[...$0])…" } ?? "…"
    }
}

/// The options of each command, as its help lists them.
private enum OptionNames {
    static let commands: [String: Set<String>] = Dictionary(
        uniqueKeysWithValues: LiveRelay.configuration.subcommands.map { command in
            let lines = LiveRelay.helpMessage(for: command, columns: 400).split(separator: "\n")
            let names = lines.filter { $0.hasPrefix("  -") }.flatMap { line in
                // A name ends at its value, or at the text after two spaces.
                let column = line.dropFirst(2).split(separator: "  ", maxSplits: 1).first ?? ""
                return column.split { " ,/<".contains($0) }.filter { $0.hasPrefix("-") }.map(String.init)
            }
            return (command.configuration.commandName ?? "", Set(names))
        })
}
