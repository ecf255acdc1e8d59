import ArgumentParser
import Testing

@testable import liverelay

/// Texts that people meet before they know the options.
struct CompletionScriptTests {
    private static let insertions: [(shell: String, part: String)] = [
        ("bash", "local -a COMP_WORDS=(\"${given[0]}\" relay \"${given[@]:1}\")"),
        ("zsh", "words=(\"${words[1]}\" relay \"${words[@]:1}\")"),
        ("fish", "-a '(complete -C \"liverelay relay \"("),
    ]

    @Test(arguments: insertions) func wordsWithoutACommandAreThoseOfRelay(shell: String, part: String) throws {
        let script = try #require(CompletionScript.text(for: ["--generate-completion-script", shell]))
        #expect(script.contains(part))
        #expect(CompletionScript.text(for: ["--generate-completion-script=\(shell)"]) == script)
    }

    @Test func otherCommandLinesAskForNone() {
        for words in [[], ["--generate-completion-script"], ["--generate-completion-script", "tcsh"], ["relay"]] {
            #expect(CompletionScript.text(for: words) == nil, "\(words)")
        }
    }

    /// The short list of options names nothing that does not exist, and fits a terminal.
    @Test func commonOptionsExist() {
        let help = LiveRelay.helpMessage(for: RelayCommand.self, columns: 400)
        let lines = UsageText.commonOptions.split(separator: "\n").dropFirst()
        #expect(lines.count == 8)
        for line in lines {
            let name = line.split(separator: " ")[0]
            #expect(help.contains("\n  \(name) <") || help.contains("\n  \(name), --"), "\(name)")
            #expect(line.count <= 76)
        }
        #expect(
            FirstWord.commands.dropLast()
                == LiveRelay.configuration.subcommands.map { $0.configuration.commandName ?? "" }[...])
    }
}
