import Logging
import Playlist

/// Writes log lines to a console: `2026-01-02T03:04:05.678Z warning: text`.
///
/// A line about a backup names it, and one about a channel of many names that: `… warning: news: Backup 1: text`.
struct ConsoleLogHandler: LogHandler {
    /// Metadata key for the name of the source that a line is about, unless that is the channel's own upstream.
    static let source = "source"

    /// Metadata key for the name of the channel that a line is about, in a process of many.
    static let channel = "channel"

    /// Characters of a message, so that one line of an upstream does not fill the log.
    static let longestMessage = 2000

    let console: Console
    /// The limit on the lines of each channel.
    let rate: LogRate
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let milliseconds = WallClock.milliseconds
        let key = metadata[Self.channel].map { "\($0)" } ?? ""
        let now = ProgramDateTime(millisecondsSince1970: milliseconds).text
        let source = metadata[Self.source].map { "\($0): " } ?? ""
        let channel = metadata[Self.channel].map { "\($0): " } ?? ""
        let text = "\(event.message)"
        let message = text.utf8.count > Self.longestMessage ? text.prefix(Self.longestMessage) + "…" : text[...]
        let line = "\(now) \(event.level): \(channel)\(source)\(message)"
        guard let suppressed = rate.admit(line.utf8.count, of: key, at: .milliseconds(milliseconds)) else {
            return console.recordSuppressed()
        }
        if suppressed > 0 {
            console.write(line: "\(now) warning: \(channel)\(suppressed) log lines are missing here: too many at once")
        }
        console.write(line: line)
    }
}

extension Logger {
    /// A logger that writes lines of at least `level` to a console.
    init(console: Console, level: LogLevel) {
        let rate = LogRate()
        self.init(label: "liverelay") { _ in ConsoleLogHandler(console: console, rate: rate) }
        logLevel = level.level
    }
}
