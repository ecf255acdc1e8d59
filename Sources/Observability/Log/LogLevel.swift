package import Logging

/// The lowest level of log lines.
package enum LogLevel: String, CaseIterable, Sendable {
    case debug, info, notice, warning, error

    package var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
