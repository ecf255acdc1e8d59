package import Channel
package import Logging
package import Support

/// Writes the endless transport stream of a channel to a pipe or a file.
package struct StreamWriter: Sendable {
    package let descriptor: StreamDescriptor
    let policy: EndlessStream.Policy
    let logger: Logger
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
            group.addTask { await watchReader() }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if case .readerClosed = end { logger.info("The reader of \(descriptor.name) has closed it") }
        return end
    }

    private func write(_ state: ChannelState) async -> End? {
        let reader = EndlessStreamReader(
            state, policy, for: .output(sendsNullPackets: descriptor.kind == .pipe))
        while let bytes = await reader.next() {
            do {
                try await descriptor.write(bytes)
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
