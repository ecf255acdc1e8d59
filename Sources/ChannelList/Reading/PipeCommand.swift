/// The command of a `pipe:` line, by which some players let ffmpeg fetch a channel. It is read, and never run.
struct PipeCommand {
    /// The word after `-i`, as written; nil without one.
    let input: String?
    /// The headers that ffmpeg would send with its requests for the input.
    private(set) var options = RequestOptions()

    /// nil for a line of another scheme.
    init?(_ line: some StringProtocol) {
        guard line.prefix(Self.scheme.count).lowercased() == Self.scheme else { return nil }
        let words = Self.words(of: line.dropFirst(Self.scheme.count))
        guard let flag = words.firstIndex(of: "-i"), flag + 1 < words.endIndex else {
            input = nil
            return
        }
        input = words[flag + 1]
        for (option, value) in zip(words[..<flag], words[..<flag].dropFirst()) { read(option, value) }
    }

    private static let scheme = "pipe://"

    private mutating func read(_ option: String, _ value: String) {
        switch option {
        case "-user_agent", "-user-agent": _ = options.set("User-Agent", to: value)
        case "-referer": _ = options.set("Referer", to: value)
        case "-headers":
            // The line breaks between headers are written as escapes.
            for line in value.replacing("\\r", with: "\n").replacing("\\n", with: "\n").split(separator: "\n") {
                guard let colon = line.firstIndex(of: ":") else { continue }
                _ = options.set(line[..<colon], to: line[colon...].dropFirst().trimmingWhiteSpace)
            }
        default: break
        }
    }

    /// The words of a command line, as a shell splits them: quotes hold spaces.
    private static func words(of text: some StringProtocol) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            switch (character, quote) {
            case (let end, let open?) where end == open: quote = nil
            case ("\"", nil), ("'", nil): (quote, word) = (character, word ?? "")
            case (" ", nil), ("\t", nil):
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap(\.self)
    }
}
