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

    let console: Console
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Metadata keys for the upstream's media sequence number and the redacted URL that a line is about. Only JSON has them as fields.
    static let (sequence, url) = ("sequence", "url")

    func log(event: LogEvent) {
        guard console.format == .text else { return logObject(event) }
        let now = ProgramDateTime(millisecondsSince1970: WallClock.milliseconds).text
        let source = metadata[Self.source].map { "\($0): " } ?? ""
        let channel = metadata[Self.channel].map { "\($0): " } ?? ""
        console.write(line: "\(now) \(event.level): \(channel)\(source)\(event.message)")
    }

    private func logObject(_ event: LogEvent) {
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        var object = JSONObject(logLine: "\(event.message)", level: event.level, time: LogFormat.now)
        object.add("channel", metadata[Self.channel]?.description)
        object.add("source", metadata[Self.source]?.description)
        object.add("sequence", metadata[Self.sequence].flatMap { UInt64($0.description) })
        object.add("url", metadata[Self.url]?.description)
        console.write(line: object.text)
    }
}

extension Logger {
    /// A logger that writes lines of at least `level` to a console.
    init(console: Console, level: LogLevel) {
        self.init(label: "liverelay") { _ in ConsoleLogHandler(console: console) }
        logLevel = level.level
    }
}
