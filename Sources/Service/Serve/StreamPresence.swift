import Synchronization
import WebServer

/// One open stream of a viewer: from its first byte until the response is over.
final class StreamPresence: Sendable {
    private let host: ChannelHost
    private let channel: RunningChannel
    private let isOpen = Mutex(false)

    init(of channel: RunningChannel, at host: ChannelHost) {
        self.host = host
        self.channel = channel
    }

    deinit {
        if isOpen.withLock({ $0 }) { host.handle(.streamClosed(channel.run)) }
    }

    /// Returns `stream` with this presence. It ends with the run.
    func stream(_ stream: ByteStream) -> ByteStream {
        ByteStream { [self] in
            open()
            return channel.isOver ? nil : await stream.next()
        }
    }

    private func open() {
        let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = true }
            return !isOpen
        }
        if isFirst { host.handle(.streamOpened(channel.run)) }
    }
}
