import Channel
import Logging

/// Writes the endless transport stream of a channel to a pipe or a file.
struct StreamWriter: Sendable {
    let descriptor: StreamDescriptor
    let policy: EndlessStream.Policy
    let logger: Logger

    /// Writes until the channel or its reader has ended.
    ///
    /// - Returns: success at the end of the stream, and after the reader has closed a pipe that it read from; nil if the
    ///   task was canceled.
    func run(_ state: ChannelState) async -> Result<Void, RelayError>? {
        let reader = EndlessStreamReader(state, policy, sendsNullPackets: false)
        var hasWritten = false
        while let bytes = await reader.next() {
            do {
                try await descriptor.write(bytes)
                hasWritten = true
            } catch .canceled {
                return nil
            } catch .closed where hasWritten {
                logger.info("The reader of \(descriptor.name) has closed it")
                return .success(())
            } catch {
                return .failure(RelayError(error, writing: descriptor.name))
            }
        }
        return Task.isCancelled ? nil : .success(())
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
