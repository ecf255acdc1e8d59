package import Logging
import Support
import Synchronization

/// Writes log lines to a console: `2026-01-02T03:04:05.678Z warning: text`, on a terminal `03:04:05 warning: text`.
///
/// Any URL in a line is redacted, wherever the line comes from.
///
/// A line about a backup begins with the backup's name, and in a process of many channels, each line with the channel's
/// name: `… warning: news: Backup 1: text`.
package struct ConsoleLogHandler: LogHandler {
    /// Metadata key for the name of the source that a line is about. Lines about the channel's own upstream have none.
    static let source = "source"

    /// Metadata key for the name of the channel that a line is about, in a process of many.
    package static let channel = "channel"

    /// Metadata keys for the upstream's media sequence number and the redacted URL that a line is about. Only the JSON
    /// format contains them as fields.
    static let (sequence, url) = ("sequence", "url")

    /// The longest message in characters, so that one line of an upstream does not fill the log.
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
        let now = WallClock.milliseconds
        let text = "\(event.message)".redactingURLs
        let message = text.utf8.count > Self.longestMessage ? text.prefix(Self.longestMessage) + "…" : text[...]
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        let key = self.metadata[Self.channel]?.description ?? ""
        guard let suppressed = rate.admit(message.utf8.count + Self.headSize, of: key, at: .milliseconds(now)) else {
            return console.recordSuppressed()
        }
        if suppressed > 0 {
            write("\(suppressed) log lines are missing here: too many at once", level: .warning, at: now, self.metadata)
        }
        write(String(message), level: event.level, at: now, metadata)
    }

    /// The bytes of the time and the level, which count as those of the message.
    private static let headSize = 34

    private func write(_ text: String, level: Logger.Level, at now: Int64, _ metadata: Logger.Metadata) {
        let (source, channel) = (metadata[Self.source]?.description, metadata[Self.channel]?.description)
        guard console.format == .json else {
            let names = [channel, source].compactMap(\.self).map { "\($0): " }.joined()
            return console.write(ConsoleLine(time: now, level: level, text: names + text))
        }
        var object = JSONObject(
            logLine: text, level: level, time: ProgramDateTime(millisecondsSince1970: now).text)
        object.add("channel", channel)
        object.add("source", source)
        object.add("sequence", metadata[Self.sequence].flatMap { UInt64($0.description) })
        object.add("url", metadata[Self.url]?.description.redacted)
        console.write(line: object.text)
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

/// How lines are written to a console.
package enum LogFormat: String, CaseIterable, Sendable {
    case text
    /// One JSON object in each line.
    case json

    /// The line for a text without other fields.
    func line(_ text: String, level: Logger.Level) -> String {
        self == .text ? text : JSONObject(logLine: text, level: level, time: Self.now).text
    }

    static var now: String { ProgramDateTime(millisecondsSince1970: WallClock.milliseconds).text }
}

package enum LogLevel: String, CaseIterable, Sendable {
    case debug, info, notice, warning, error

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
}

extension JSONObject {
    /// The members at the beginning of every log line.
    init(logLine text: String, level: Logger.Level, time: String) {
        self.init(["time": time, "level": level.rawValue, "message": text])
    }
}

/// A limit on the log lines of each channel, in bytes per second.
///
/// A hostile upstream can cause an event with each frame. Its lines beyond the limit are counted instead of written, and
/// no other channel loses any.
final class LogRate: Sendable {
    /// Bytes that may be written at once, and in a second on average.
    static let (burst, bytesPerSecond) = (64 << 10, 8 << 10)
    /// Channels whose lines are counted separately. The names come from the operator's list.
    private static let maxChannels = 4096

    fileprivate struct Bucket: Sendable {
        var bytes = LogRate.burst
        var filledAt: Duration
        var suppressed = 0
    }

    private let buckets = Mutex<[String: Bucket]>([:])

    /// - Parameters:
    ///   - byteCount: size of the line.
    ///   - now: time on any clock; if it steps back, nothing is refilled.
    /// - Returns: the number of the channel's lines suppressed since its last written line; nil if this line is
    ///   suppressed as well.
    func admit(_ byteCount: Int, of channel: String, at now: Duration) -> Int? {
        buckets.withLock { buckets in
            let key = buckets[channel] == nil && buckets.count >= Self.maxChannels ? "" : channel
            var bucket = buckets[key] ?? Bucket(filledAt: now)
            defer { buckets[key] = bucket }
            bucket.refill(at: now)
            guard bucket.bytes >= byteCount else {
                bucket.suppressed += 1
                return nil
            }
            bucket.bytes -= byteCount
            defer { bucket.suppressed = 0 }
            return bucket.suppressed
        }
    }
}

extension LogRate.Bucket {
    fileprivate mutating func refill(at now: Duration) {
        // A long pause fills the bucket, so longer ones need not be counted.
        let passed = min(max(.zero, now - filledAt), .seconds(60))
        let milliseconds = Int(passed / .milliseconds(1))
        bytes = min(LogRate.burst, bytes + milliseconds * LogRate.bytesPerSecond / 1000)
        filledAt = now
    }
}
