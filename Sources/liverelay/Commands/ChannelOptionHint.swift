import ChannelList

/// A hint for an option given to `serve` that only a channel of a channels.yaml may have.
struct ChannelOptionHint {
    let complaint: String

    /// - Parameter option: as written: `--name`, `-o`.
    /// - Returns: nil for an option that no channel has.
    init?(_ option: String) {
        let name = String(option.drop { $0 == "-" })
        if let advice = Self.others[name] {
            complaint = "\(option) belongs to one channel: \(advice)."
            return
        }
        guard let key = ConfigurationKey(rawValue: name) else { return nil }
        complaint =
            "\(option) belongs to one channel: write `\(key.rawValue): …` at the channel in a channels.yaml, whose "
            + "`playlist: FILE` names the list."
    }

    /// Options of `relay` whose keys have other names.
    private static let others = [
        "backup": "write `backups: [URL]` at the channel in a channels.yaml, whose `playlist: FILE` names the list",
        "output": outputAdvice, "o": outputAdvice, "O": outputAdvice, "stdout": outputAdvice,
    ]
    private static let outputAdvice =
        "give --record-to 'DIR/{channel}/{start:%Y-%m-%d_%H-%M}.mkv' to record the channels"
}
