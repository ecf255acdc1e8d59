import ChannelList
import Support

/// A hint for an option of `relay` that was given to `serve`: the line in a channels.yaml that replaces it.
struct ChannelOptionHint {
    private let option: String
    private let line: String

    /// - Parameters:
    ///   - option: as written: `--slate`, `-o`.
    ///   - words: the command line, in which a value may follow the option.
    /// - Returns: nil for an option that no channel has.
    init?(_ option: String, words: [String]) {
        let name = Self.name(of: option)
        self.option = option
        if let key = Self.others[name] {
            line = key
            return
        }
        let isOff = name.hasPrefix("no-")
        guard let key = ConfigurationKey(rawValue: isOff ? String(name.dropFirst(3)) : name) else { return nil }
        let value = key.row.form == .flag ? (isOff ? "false" : "true") : Self.value(of: option, in: words)
        let entry = "\(key.rawValue): \(Self.scalar(value ?? "…"))"
        line =
            ConfigurationKey.Scope.defaults.keys.contains(key)
            ? "write `defaults: {\(entry)}` in a channels.yaml"
            : "write `\(entry)` at the channel in a channels.yaml"
    }

    var complaint: String {
        "\(option) belongs to a channel: \(line), whose `playlist: FILE` names the list."
    }

    /// Options of `relay` whose keys have other names, or none.
    private static let others = [
        "backup": "write `backups: [URL]` at the channel in a channels.yaml",
        "output": outputHint, "o": outputHint, "O": outputHint, "stdout": outputHint,
        "no-record-slate": "write `defaults: {record-slate: false}` in a channels.yaml",
    ]
    private static let outputHint =
        "write `record-to: DIR/{channel}/{start:%Y-%m-%d_%H-%M}.mkv` at the channel, for recordings, in a channels.yaml"

    private static func name(of option: String) -> String { String(option.drop { $0 == "-" }) }

    /// The names of options that channels have.
    static let names = ConfigurationKey.Scope.channel.keys.map(\.rawValue) + others.keys.filter { $0.count > 1 }

    private static func value(of option: String, in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
            guard word == option, index + 1 < words.count, !words[index + 1].hasPrefix("-") else { continue }
            return words[index + 1]
        }
        return nil
    }

    /// A value as a scalar in a YAML flow map.
    private static func scalar(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            byte > 0x7F || byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x2D && byte <= 0x39 || byte == 0x5F
        }
        return isPlain && !value.isEmpty && value.first != "-" ? value : value.yamlQuoted
    }
}

extension String {
    fileprivate var yamlQuoted: String {
        "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
