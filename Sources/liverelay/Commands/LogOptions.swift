import ArgumentParser
import Logging
import Observability

/// Options for the log of a command that serves.
struct LogOptions: ParsableArguments {
    @Option(help: "Lowest level of log lines.")
    var logLevel = LogLevel.info

    @Option(
        help: ArgumentHelp(
            "text, or json: one object in each line.",
            discussion: """
                Its members are time, level, message and, where they apply, channel, source, sequence and url. \
                URLs are redacted as in the text.
                """))
    var logFormat = LogFormat.text

    /// A logger that writes to a console, whose lines have the same format from now on.
    func logger(of console: Console) -> Logger {
        console.setFormat(logFormat)
        return Logger(console: console, level: logLevel)
    }
}

extension LogLevel: ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}
