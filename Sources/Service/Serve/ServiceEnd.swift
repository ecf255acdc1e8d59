package import Support

/// Decides when a process ends, and with which result. A process of a list ends at a signal alone.
package struct ServiceEnd: Sendable {
    package enum Input: Sendable {
        case published
        /// A signal that ends the process.
        case signal
        /// Another process is the service now.
        case handedOver
        /// The run of the only channel has ended.
        /// - Parameter isOver: whether its media is complete, so that a stream has an end.
        case channel(ChannelRunner.End, isOver: Bool)
        case stream(StreamWriter.End)
    }

    private enum Stream: Sendable { case none, open, written }

    /// Whether the end of the upstream ends the process, which otherwise goes on to serve what is published.
    private let endsWithUpstream: Bool
    private var stream: Stream
    package private(set) var isHandedOver = false
    /// The result with which the process ends after its channel; nil: the channel runs.
    private var channel: Result<Void, RelayError>??

    /// - Parameter hasStream: whether the process writes a transport stream. It is written to its end first.
    package init(endsWithUpstream: Bool, hasStream: Bool) {
        (self.endsWithUpstream, stream) = (endsWithUpstream, hasStream ? .open : .none)
    }

    /// - Returns: the result of the process; nil: it goes on.
    package mutating func handle(_ input: Input) -> Result<Void, RelayError>? {
        switch input {
        case .published: return nil
        case .signal, .stream(.readerClosed): return .success(())
        case .handedOver:
            isHandedOver = true
            return .success(())
        case .stream(.failed(let error)): return .failure(error)
        case .stream(.written):
            stream = .written
            return channel.map { $0 ?? .success(()) }
        case .channel(let end, let isOver):
            let result = result(after: end)
            channel = .some(result)
            switch stream {
            case .open where isOver: return nil
            case .none, .open: return result
            case .written: return result ?? .success(())
            }
        }
    }

    private func result(after end: ChannelRunner.End) -> Result<Void, RelayError>? {
        switch end {
        case .drained: endsWithUpstream ? .success(()) : nil
        case .canceled, .elsewhere: nil
        case .failed(let error): .failure(error)
        }
    }
}
