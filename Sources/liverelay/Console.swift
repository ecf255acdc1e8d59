import Glibc
import Logging
import Playlist
import Synchronization

/// Log lines on standard error, and under them, on a terminal, one line that is rewritten in place.
///
/// The two share the terminal, so they share this: a log line first wipes the status line, then writes it anew.
final class Console: Sendable {
    private let status = Mutex("")
    let isTerminal: Bool

    init(isTerminal: Bool = isatty(STDERR_FILENO) == 1) { self.isTerminal = isTerminal }

    func write(line: String) {
        status.withLock { status in
            Self.emit(isTerminal && !status.isEmpty ? "\r\u{1B}[K\(line)\n\(status)" : "\(line)\n")
        }
    }

    /// Does nothing when nobody sees it.
    func show(status text: String) {
        guard isTerminal else { return }
        status.withLock { status in
            guard status != text else { return }
            status = text
            Self.emit("\r\u{1B}[K\(text)")
        }
    }

    /// Leaves the cursor on a line of its own.
    func clear() {
        status.withLock { status in
            guard !status.isEmpty else { return }
            status = ""
            Self.emit("\r\u{1B}[K")
        }
    }

    private static func emit(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 else { return }  // Nobody reads the log any more; the channel goes on.
            bytes = bytes.dropFirst(written)
        }
    }
}

/// `2026-01-02T03:04:05.678Z warning: text`, through the console.
struct ConsoleLogHandler: LogHandler {
    let console: Console
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let now = ProgramDateTime(millisecondsSince1970: WallClock.milliseconds).text
        console.write(line: "\(now) \(event.level): \(event.message)")
    }
}

/// The wall, asked only for log lines and for the dates of an upstream that has none.
enum WallClock {
    /// Since 1970-01-01T00:00:00Z.
    static var milliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
