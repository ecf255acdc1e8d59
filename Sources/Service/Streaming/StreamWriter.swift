package import Channel
package import Export
package import Logging
package import Support
import Synchronization

/// Writes the endless transport stream of a channel to a pipe or a file.
package struct StreamWriter: Sendable {
    /// How much was written: bytes, and the media in them.
    package struct Written: Equatable, Sendable {
        package var bytes = 0
        package var media = Duration.zero

        package init(bytes: Int = 0, media: Duration = .zero) { (self.bytes, self.media) = (bytes, media) }
    }

    private final class Progress: Sendable { let written = Mutex(Written()) }

    package let descriptor: StreamDescriptor
    let policy: EndlessStream.Policy
    let logger: Logger
    private let progress = Progress()
    package var written: Written { progress.written.withLock { $0 } }
    /// Waits between two checks whether the reader still exists, while nothing is written.
    var pause: @Sendable () async -> Void = { try? await Task.sleep(for: .milliseconds(200)) }

    package init(descriptor: StreamDescriptor, policy: EndlessStream.Policy, logger: Logger) {
        self.descriptor = descriptor
        self.policy = policy
        self.logger = logger
    }

    package enum End: Sendable {
        /// The channel has ended, and everything was written.
        case written
        /// The reader has closed a pipe that it had opened.
        case readerClosed
        case failed(RelayError)
    }

    /// Writes until the channel or its reader has ended. Returns nil if the task was canceled.
    package func run(_ state: ChannelState) async -> End? {
        if descriptor.isReaderGone { return .failed(RelayError(.closed, writing: descriptor.name)) }
        let end = await withTaskGroup(of: End?.self) { group in
            group.addTask { await write(state) }
            if descriptor.kind == .pipe { group.addTask { await watchReader() } }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if case .readerClosed = end { logger.info("The reader of \(descriptor.name) has closed it") }
        if descriptor.kind == .file {
            let (written, missing) = (written, StatusLine.missing(state.status))
            logger.info(
                "Wrote \(descriptor.name): \(written.media.secondsText), \(written.bytes.megabytesText), \(missing)")
        }
        return end
    }

    private func write(_ state: ChannelState) async -> End? {
        let reader = EndlessStreamReader(
            state, policy, for: .output(sendsNullPackets: descriptor.kind == .pipe))
        while let bytes = await reader.next() {
            do {
                try await descriptor.write(bytes)
                let media = await reader.sentMedia
                progress.written.withLock { ($0.bytes, $0.media) = ($0.bytes + bytes.count, media) }
            } catch .canceled {
                return nil
            } catch .closed {
                return .readerClosed
            } catch {
                return .failed(RelayError(error, writing: descriptor.name))
            }
        }
        return Task.isCancelled ? nil : .written
    }

    /// Returns when the reader has closed the pipe. A write would show this only when there is data to write.
    private func watchReader() async -> End? {
        while !Task.isCancelled {
            if descriptor.isReaderGone { return .readerClosed }
            await pause()
        }
        return nil
    }
}

extension StatusLine {
    /// `00:24   1.9 MB   640 kbit/s`
    package static func text(of written: StreamWriter.Written) -> String {
        let seconds = Int64(written.media.inSeconds)
        let minutes = (seconds / 60).formattedWithTwoDigits
        let rate = written.media > .zero ? Int(Double(written.bytes) * 8 / 1000 / written.media.inSeconds) : 0
        return join([
            "\(minutes):\((seconds % 60).formattedWithTwoDigits)", written.bytes.megabytesText, "\(rate) kbit/s",
        ])
    }
}

extension Int64 {
    fileprivate var formattedWithTwoDigits: String { self < 10 ? "0\(self)" : "\(self)" }
}
