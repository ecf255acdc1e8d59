import Channel
import Logging

/// Writes the endless transport stream of a channel to a pipe or a file.
struct StreamWriter: Sendable {
    let descriptor: StreamDescriptor
    let policy: EndlessStream.Policy
    let logger: Logger

    enum End: Sendable {
        /// The channel has ended, and all of it was written.
        case written
        /// The reader has closed a pipe that it read from.
        case readerClosed
        case failed(RelayError)
    }

    /// Writes until the channel or its reader has ended. Returns nil if the task was canceled.
    func run(_ state: ChannelState) async -> End? {
        let reader = EndlessStreamReader(state, policy, sendsNullPackets: false)
        while let bytes = await reader.next() {
            do {
                try await descriptor.write(bytes)
            } catch .canceled {
                return nil
            } catch .closed where descriptor.hasWritten {
                logger.info("The reader of \(descriptor.name) has closed it")
                return .readerClosed
            } catch {
                return .failed(RelayError(error, writing: descriptor.name))
            }
        }
        return Task.isCancelled ? nil : .written
    }
}

extension RelayError {
    fileprivate init(_ failure: StreamDescriptor.Failure, writing name: String) {
        switch failure {
        case .closed, .canceled:
            self.init(
                .cannotWrite, "\(name) was closed before anything was written",
                advice: "Give the command a reader that stays, or another --output")
        case .system(let code): self.init(writing: name, code: code)
        }
    }
}
