package import Channel
import Conformance
package import Export
package import Logging
import Support
package import Tracker

/// Writes the events of a channel as log lines for an operator: once per change, never once per poll.
package struct RelayLog: Sendable {
    private let logger: Logger

    package init(_ logger: Logger) { self.logger = logger }

    package func log(_ event: RelayEvent) {
        switch event.kind {
        case .upstream(let upstream): log(upstream, isDuringOutage: event.isDuringOutage)
        case .pipeline(let pipeline): write(pipeline.logLine(isDuringOutage: event.isDuringOutage), to: logger)
        case .resumed(let spool): logger.info("Resuming the channel stored in \(spool)")
        case .breakSlate(let change): log(change)
        // What the output breaks has a line for each time.
        case .found(.output, _): break
        case .found(.upstream, let entry):
            logger.notice("The upstream breaks rule \(entry.rule.rawValue), \(entry.rule.name): \(entry.text)")
        case .drained: logger.info("The upstream has ended, and all of it is published")
        }
    }

    package func log(_ change: BreakSlateChange) {
        switch change {
        case .failed(let error):
            logger.error("Ad breaks stay as they are, the slate cannot be read: \(RelayError(error).message)")
        case .recovered: logger.info("The slate of ad breaks can be read again")
        }
    }

    /// - Parameter isDuringOutage: whether single failures are written as debug lines only.
    package func log(_ event: UpstreamEvent, isDuringOutage: Bool = false) {
        guard case .backup(let source, let event) = event else {
            return write(event.logLine(isDuringOutage: isDuringOutage), to: logger)
        }
        var logger = logger
        logger[metadataKey: ConsoleLogHandler.source] = "\(source.sourceName)"
        write(event.logLine(isDuringOutage: isDuringOutage), to: logger)
    }

    private func write(_ line: LogLine, to logger: Logger) {
        var metadata: Logger.Metadata = [:]
        if let sequence = line.sequence { metadata[ConsoleLogHandler.sequence] = "\(sequence)" }
        if let url = line.url { metadata[ConsoleLogHandler.url] = "\(url.redacted)" }
        logger.log(level: line.level, "\(line.text)", metadata: metadata.isEmpty ? nil : metadata)
    }
}

/// A log line without its time.
struct LogLine: Equatable {
    let level: Logger.Level
    let text: String
    /// The media sequence number that the line is about: the first one of several.
    var sequence: UInt64?
    /// The URL that the line is about, not redacted.
    var url: String?

    init(_ level: Logger.Level, _ text: String, sequence: UInt64? = nil, url: String? = nil) {
        (self.level, self.text) = (level, text)
        (self.sequence, self.url) = (sequence, url)
    }
}
