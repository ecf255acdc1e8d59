import Support

/// Reads a URL line of a list: the URL itself, a `$label` after it, and headers after a vertical bar.
struct SourceURL {
    private(set) var source: ListedSource
    private(set) var options = RequestOptions()
    private(set) var issues: [ListIssue.Kind] = []

    /// - Parameter base: the list's own URL; empty if it has none.
    init(line: String, base: String) throws(SourceURLError) {
        if let command = PipeCommand(line.removingQuotes) {
            guard let input = command.input, let url = try? Self.absolute(input, base: "") else {
                throw .unsupportedScheme("pipe")
            }
            (source, options, issues) = (ListedSource(url: url), command.options, [.unwrappedCommand])
            return
        }
        var (text, fields) = Self.split(line)
        let label = Self.cutLabel(off: &text)
        source = ListedSource(url: try Self.absolute(String(text.trimmingWhiteSpace), base: base), label: label)
        issues = (fields.map(HeaderPairs.read) ?? []).compactMap { options.set($0) }
    }

    /// Whether `text` begins like an absolute URL, of any scheme.
    static func isAbsolute(_ text: some StringProtocol) -> Bool { schemeEnd(of: text) != nil }

    /// The URL, and the header fields after a vertical bar, or after a space if a field begins there.
    private static func split(_ line: String) -> (url: Substring, fields: Substring?) {
        if let bar = line.firstIndex(of: "|") {
            return (line[..<bar], line[line.index(after: bar)...])
        }
        guard let space = line.firstIndex(of: " "), let equals = line[space...].firstIndex(of: "=") else {
            return (line.removingQuotes, nil)
        }
        let name = line[space..<equals].trimmingWhiteSpace.lowercased()
        guard ["user-agent", "referer", "referrer", "origin", "cookie"].contains(name) else {
            return (line.removingQuotes, nil)
        }
        return (line[..<space], line[line.index(after: space)...])
    }

    /// Removes and returns the text after the last "$": a label for people, which is not part of a path or a query.
    private static func cutLabel(off url: inout Substring) -> String? {
        guard let dollar = url.lastIndex(of: "$"), dollar > url.startIndex else { return nil }
        let label = url[url.index(after: dollar)...]
        let isForeign = label.unicodeScalars.contains { !$0.isASCII || $0 == " " }
        let isPlain = !label.contains { "/?&=.%".contains($0) } && !url[..<dollar].contains("?")
        guard !label.isEmpty, isForeign || isPlain, !label.contains("/") else { return nil }
        url = url[..<dollar]
        return String(label.trimmingWhiteSpace)
    }

    /// The absolute http, https or datagram URL of a reference in a list.
    static func absolute(_ text: String, base: String) throws(SourceURLError) -> String {
        guard let end = schemeEnd(of: text) else {
            guard !base.isEmpty, !text.isEmpty, !text.contains(where: \.isWhitespace) else { throw .malformed }
            let url = URIReference.resolve(text, against: base)
            // `http:/path` is relative in form, but not in meaning.
            guard URIReference.scheme(of: text) == nil, schemeEnd(of: url) != nil else { throw .malformed }
            return url
        }
        let scheme = text[..<end].lowercased()
        guard ["http", "https", "udp", "rtp"].contains(scheme) else { throw .unsupportedScheme(scheme) }
        let afterScheme = text[end...].dropFirst(3)
        let authorityEnd = afterScheme.firstIndex { "/?#".contains($0) } ?? afterScheme.endIndex
        let authority = afterScheme[..<authorityEnd]
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard !host.isEmpty, host.first != ":", !authority.contains(where: \.isWhitespace) else { throw .malformed }
        let rest = afterScheme[authorityEnd...].map { $0 == " " ? "%20" : String($0) }.joined()
        return "\(scheme)://\(authority)\(rest)"
    }

    /// The index of "://" after a scheme (RFC 3986 §3.1).
    private static func schemeEnd<Text: StringProtocol>(of text: Text) -> Text.Index? {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        guard let first = scheme.first, first.isLetter, text[scheme.endIndex...].hasPrefix("://") else { return nil }
        return scheme.endIndex
    }
}

/// The reason why a line is not the URL of a source.
enum SourceURLError: Error, Equatable {
    case unsupportedScheme(String)
    case malformed
}

/// The command of a `pipe:` line, which makes some players fetch a channel with ffmpeg. It is parsed, and never run.
private struct PipeCommand {
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
            // Line breaks between headers are written as escape sequences.
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
