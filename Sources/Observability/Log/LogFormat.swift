import Logging
import Support

/// How lines are written to a console.
package enum LogFormat: String, CaseIterable, Sendable {
    case text
    /// One JSON object in each line.
    case json

    /// The line of a text that has no other fields.
    func line(_ text: String, level: Logger.Level) -> String {
        self == .text ? text : JSONObject(logLine: text, level: level, time: Self.now).text
    }

    static var now: String { ProgramDateTime(millisecondsSince1970: WallClock.milliseconds).text }
}

/// The lowest level of log lines.
package enum LogLevel: String, CaseIterable, Sendable {
    case debug, info, notice, warning, error

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
}

extension JSONObject {
    /// The members that every log line has, first.
    init(logLine text: String, level: Logger.Level, time: String) {
        self.init(["time": time, "level": level.rawValue, "message": text])
    }
}
