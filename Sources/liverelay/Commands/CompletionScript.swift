import ArgumentParser

/// The completion scripts of shells. The parser's scripts do not know that words without a command are those of `relay`.
enum CompletionScript {
    /// The script that a command line asks for; nil: it asks for none, or for that of an unknown shell.
    static func text(for words: [String]) -> String? {
        let option = "--generate-completion-script"
        let name: String? =
            if words.count == 2, words[0] == option {
                words[1]
            } else if words.count == 1, words[0].hasPrefix(option + "=") {
                String(words[0].dropFirst(option.count + 1))
            } else {
                nil
            }
        return name.flatMap(CompletionShell.init).map(text)
    }

    private static func text(for shell: CompletionShell) -> String {
        let script = LiveRelay.completionScript(for: shell)
        let commands = FirstWord.commands.joined(separator: "|")
        switch shell {
        case .bash: return script.replacing("\n_liverelay() {\n", with: "\n_liverelay() {\n\(bash(commands))")
        case .zsh:
            let start = "_liverelay() {\n    emulate -RL zsh -G\n    setopt extendedglob nullglob numericglobsort\n"
            return script.replacing(start, with: start + zsh(commands))
        default: return script + fish
        }
    }

    private static func bash(_ commands: String) -> String {
        """
            local -a given=("${COMP_WORDS[@]}")
            local -i place="${COMP_CWORD}"
            case "${given[1]}" in
            \(commands)) ;;
            *)
                if [[ "${place}" -gt 1 || "${given[1]}" = -* ]]; then
                    local -a COMP_WORDS=("${given[0]}" relay "${given[@]:1}")
                    local -i COMP_CWORD="$((place + 1))"
                else
                    COMPREPLY+=($(compgen -f -- "${2}"))
                fi
                ;;
            esac

        """
    }

    private static func zsh(_ commands: String) -> String {
        """
            if [[ "${words[2]}" != (\(commands)) ]]; then
                if [[ "${CURRENT}" -gt 2 || "${words[2]}" == -* ]]; then
                    words=("${words[1]}" relay "${words[@]:1}")
                    (( CURRENT++ ))
                else
                    _files
                fi
            fi

        """
    }

    private static let fish = """

        complete -c liverelay -n 'not __fish_seen_subcommand_from \(FirstWord.commands.joined(separator: " "))' \
        -a '(complete -C "liverelay relay "(string join " " -- (commandline -opc)[2..] (commandline -ct)))'

        """
}
