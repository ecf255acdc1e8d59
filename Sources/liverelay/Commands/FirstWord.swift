import Foundation

/// Judges the first word of the command line, which may be a command, a URL, or a list of channels.
enum FirstWord {
    static let commands = ["relay", "serve", "demo", "record", "excerpt", "replay", "check", "help"]

    /// The arguments, with the command `serve` before a file that is a list of channels by its name.
    static func arguments(_ words: [String], exists: (String) -> Bool = FileManager.default.fileExists) -> [String] {
        guard let first = words.first, first.lowercased().hasSuffix(".m3u"), !first.contains("://"), exists(first)
        else {
            return words
        }
        return ["serve"] + words
    }

    /// What is wrong with a word that stands where a channel's URL is expected; nil if it may be one.
    static func complaint(about word: String) -> String? {
        guard !word.contains("://") else { return nil }
        let start = "\(word.redacted.quoted) is neither a command nor a URL."
        if word.contains(".") || word.contains("/") {
            return "\(start) A channel is given as http://… or https://…, and a list of channels to liverelay serve."
        }
        guard let nearest = nearestCommand(to: word) else { return "\(start) See liverelay --help." }
        return "\(start) Did you mean liverelay \(nearest)?"
    }

    /// The command that differs least from a word, if that is two fifths of its letters at most.
    private static func nearestCommand(to word: String) -> String? {
        let word = word.lowercased()
        let distances = commands.map { (command: $0, distance: editDistance($0, word)) }
        let nearest = distances.min { $0.distance < $1.distance }
        return nearest.flatMap { $0.distance * 5 <= 2 * max($0.command.count, word.count) ? $0.command : nil }
    }

    /// The number of letters to insert, remove or replace (Levenshtein).
    private static func editDistance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (line, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in right.indices {
                let replaced = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
