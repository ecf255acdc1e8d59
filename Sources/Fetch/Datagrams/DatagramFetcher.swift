import Glibc
import Support
import Synchronization

/// Receives streams in UDP and RTP datagrams. A group is joined while its request is in flight.
struct DatagramFetcher: Fetcher {
    /// The longest wait for the first datagram.
    static let silenceLimit = Duration.seconds(4)

    let configuration: CurlConfiguration

    func fetch(_ request: FetchRequest) async -> FetchOutcome {
        .failure(FetchError(.unsupportedScheme, url: request.url, message: "datagrams carry streams alone"))
    }

    func fetch(
        _ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void
    ) async -> FetchOutcome {
        guard request.acceptsStream else { return await fetch(request) }
        do throws(FetchError) {
            let url = try permitted(DatagramURL(request.url), of: request)
            let thread = try DatagramThread(
                DatagramSocket(url, interface: configuration.multicastInterface), url: request.url)
            await withTaskCancellationHandler {
                await thread.stream.forward(to: receive)
            } onCancel: {
                thread.stop()
            }
            return .failure(FetchError(Task.isCancelled ? .canceled : .nothingReceived, url: request.url))
        } catch {
            return .failure(
                FetchError(error.reason, url: request.url, code: error.code, message: error.message))
        }
    }

    private func permitted(_ url: DatagramURL, of request: FetchRequest) throws(FetchError) -> DatagramURL {
        guard configuration.deniesPrivate, !configuration.permittedIPAddresses.contains(url.address) else { return url }
        throw FetchError(.privateAddress, url: request.url, message: url.address.text)
    }
}

/// The thread that reads one socket.
private final class DatagramThread: Sendable {
    private static let pollMilliseconds: Int32 = 50

    let stream = StreamBuffer()
    private let socket: DatagramSocket
    private let url: String
    private let isStopped = Atomic(false)

    init(_ socket: DatagramSocket, url: String) throws(FetchError) {
        self.socket = socket
        self.url = url
        var thread = pthread_t()
        let retained = unsafe Unmanaged.passRetained(self)
        let code = unsafe pthread_create(&thread, nil, runDatagrams, retained.toOpaque())
        guard code == 0 else {
            unsafe retained.release()
            throw FetchError(.other, url: url, code: code, message: "no thread for datagrams")
        }
        pthread_detach(thread)
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Receives until it is stopped, or no datagram arrives at the beginning.
    func run() {
        let clock = ContinuousClock()
        let start = clock.now
        var order = DatagramOrder()
        var hasBegun = false
        while !isStopped.load(ordering: .relaxed),
            hasBegun || start.duration(to: clock.now) < DatagramFetcher.silenceLimit
        {
            let lost = order.counts.lost
            let datagrams = socket.receive(within: Self.pollMilliseconds)
            let now = start.duration(to: clock.now)
            var bytes = order.release(at: now)
            for datagram in datagrams { bytes += order.append(datagram, at: now) }
            if order.counts.lost > lost { stream.recordLoss(order.counts.lost - lost) }
            guard !bytes.isEmpty else { continue }
            if hasBegun {
                // Datagrams that do not fit because of a slow consumer are lost, as they would be in the kernel.
                if !stream.append(bytes) { stream.recordLoss(datagrams.count) }
            } else {
                stream.begin(bytes, from: url)
                hasBegun = true
            }
        }
        stream.finish()
    }
}

private func runDatagrams(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<DatagramThread>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
