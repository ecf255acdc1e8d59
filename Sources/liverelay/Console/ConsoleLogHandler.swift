import Logging
import Playlist

/// Writes log lines to a console: `2026-01-02T03:04:05.678Z warning: text`.
///
/// A line about a backup names it: `… warning: Backup 1: text`.
struct ConsoleLogHandler: LogHandler {
    /// Metadata key for the name of the source that a line is about, unless that is the channel's own upstream.
    static let source = "source"

    let console: Console
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let now = ProgramDateTime(millisecondsSince1970: WallClock.milliseconds).text
        let source = metadata[Self.source].map { "\($0): " } ?? ""
        console.write(line: "\(now) \(event.level): \(source)\(event.message)")
    }
}

extension Logger {
    /// A logger that writes lines of at least `level` to a console.
    init(console: Console, level: LogLevel) {
        self.init(label: "liverelay") { _ in ConsoleLogHandler(console: console) }
        logLevel = level.level
    }
}
