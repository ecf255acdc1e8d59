package import Logging
import Support

/// Writes log lines to a console: `2026-01-02T03:04:05.678Z warning: text`.
///
/// A line about a backup names it, and one about a channel of many names that: `… warning: news: Backup 1: text`.
package struct ConsoleLogHandler: LogHandler {
    /// Metadata key for the name of the source that a line is about, unless that is the channel's own upstream.
    static let source = "source"

    /// Metadata key for the name of the channel that a line is about, in a process of many.
    package static let channel = "channel"

    /// Metadata keys for the upstream's media sequence number and the redacted URL that a line is about. Only JSON has
    /// them as fields.
    static let (sequence, url) = ("sequence", "url")

    /// Characters of a message, so that one line of an upstream does not fill the log.
    static let longestMessage = 2000

    let console: Console
    /// The limit on the lines of each channel.
    let rate: LogRate
    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let milliseconds = WallClock.milliseconds
        let now = ProgramDateTime(millisecondsSince1970: milliseconds).text
        let line = line(of: event, at: now)
        let key = metadata[Self.channel]?.description ?? ""
        guard let suppressed = rate.admit(line.utf8.count, of: key, at: .milliseconds(milliseconds)) else {
            return console.recordSuppressed()
        }
        if suppressed > 0 {
            let text = "\(suppressed) log lines are missing here: too many at once"
            console.write(line: self.line(text, level: .warning, at: now, metadata))
        }
        console.write(line: line)
    }

    private func line(of event: LogEvent, at now: String) -> String {
        let text = "\(event.message)"
        let message = text.utf8.count > Self.longestMessage ? text.prefix(Self.longestMessage) + "…" : text[...]
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        return line(String(message), level: event.level, at: now, metadata)
    }

    private func line(_ text: String, level: Logger.Level, at now: String, _ metadata: Logger.Metadata) -> String {
        let (source, channel) = (metadata[Self.source]?.description, metadata[Self.channel]?.description)
        guard console.format == .json else {
            return "\(now) \(level): \(channel.map { "\($0): " } ?? "")\(source.map { "\($0): " } ?? "")\(text)"
        }
        var object = JSONObject(logLine: text, level: level, time: now)
        object.add("channel", channel)
        object.add("source", source)
        object.add("sequence", metadata[Self.sequence].flatMap { UInt64($0.description) })
        object.add("url", metadata[Self.url]?.description)
        return object.text
    }
}

extension Logger {
    /// A logger that writes lines of at least `level` to a console.
    package init(console: Console, level: LogLevel) {
        let rate = LogRate()
        self.init(label: "liverelay") { _ in ConsoleLogHandler(console: console, rate: rate) }
        logLevel = level.level
    }
}
