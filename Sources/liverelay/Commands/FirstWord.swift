import ChannelList
import Foundation
import Support

/// Judges the first word of the command line, which may be a command, a URL, or a list of channels.
enum FirstWord {
    static let commands = ["relay", "serve", "demo", "record", "excerpt", "replay", "check", "help"]

    /// The arguments, with the command `serve` before a file that is a list of channels by its name.
    static func arguments(_ words: [String], exists: (String) -> Bool = FileManager.default.fileExists) -> [String] {
        guard let first = words.first, !first.contains("://"), exists(first) else { return words }
        let isList = [".m3u", ".yaml", ".yml"].contains { first.lowercased().hasSuffix($0) }
        return isList ? ["serve"] + words : words
    }

    /// The URL of a source: as given, or of a file that is there.
    static func sourceURL(_ word: String) -> String {
        guard !word.contains("://"), FileManager.default.fileExists(atPath: word) else { return word }
        return FileURL.text(ofPath: URL(filePath: word).standardizedFileURL.path)
    }

    /// The fault of a word that stands where a channel's URL is expected; nil if it may be one.
    static func complaint(about word: String) -> String? {
        guard !word.contains("://"), !FileManager.default.fileExists(atPath: word) else { return nil }
        let start = "\(word.redacted.quoted) is neither a command nor a URL."
        if word.contains(".") || word.contains("/") {
            return "\(start) A channel is given as http://… or https://…, and a list of channels to liverelay serve."
        }
        guard let nearest = NearestWord.of(word, among: commands) else { return "\(start) See liverelay --help." }
        return "\(start) Did you mean liverelay \(nearest)?"
    }
}
