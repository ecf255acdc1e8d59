import CCurl
import Glibc

/// The loop of the curl thread. It is created on another thread and then used by the curl thread alone.
final class CurlEventLoop {
    private let commandQueue: CurlCommandQueue
    private let multi: CurlMulti
    private var running: [CurlCommandQueue.TransferID: CurlTransfer] = [:]
    private var shares: [CurlCommandQueue.ChannelID: CurlShare] = [:]
    /// The earliest time at which a transfer times out, other than by libcurl's own limits.
    private var deadline: ContinuousClock.Instant?

    /// Microseconds that a long body is left to arrive. Otherwise the thread would wake for each of its packets.
    private static let gatheringTime: UInt32 = 2000

    /// Returns nil if memory is exhausted.
    init?(_ commandQueue: CurlCommandQueue) {
        guard let multi = CurlMulti() else { return nil }
        self.commandQueue = commandQueue
        self.multi = multi
    }

    /// Returns after `.stop`.
    func run() {
        var isWoken = true
        while !isWoken || handleCommands() {
            multi.perform()
            while let (transfer, code) = multi.nextFinished() {
                remove(transfer)
                transfer.finish(code)
            }
            endLateTransfers()
            if running.values.contains(where: \.expectsMuch) { usleep(Self.gatheringTime) }
            isWoken = multi.wait(for: commandQueue.wakeDescriptor, until: deadline)
        }
        for id in running.keys { cancel(id) }
    }

    /// Handles all posted commands. Returns false after `.stop`.
    private func handleCommands() -> Bool {
        for command in commandQueue.drain() {
            switch command {
            case .start(let id, let channel, let job, let continuation): start(id, channel, job, continuation)
            case .cancel(let id): cancel(id)
            case .resume(let id): running[id]?.resume()
            case .close(let channel): shares[channel] = nil
            case .stop: return false
            }
        }
        return true
    }

    private func start(
        _ id: CurlCommandQueue.TransferID, _ channel: CurlCommandQueue.ChannelID, _ job: CurlJob,
        _ continuation: CurlTransfer.Continuation
    ) {
        guard let handle = handle(for: job, of: channel) else {
            let error = FetchError(.other, url: job.request.url, message: "out of memory")
            return continuation.resume(returning: .failure(error))
        }
        let transfer = CurlTransfer(id, job, handle, continuation)
        guard transfer.handle.firstError == CURLE_OK else { return transfer.fail(.other, transfer.handle.firstError) }
        guard multi.add(transfer.handle) else { return transfer.fail(.other, CURLE_FAILED_INIT) }
        running[id] = transfer
        if let deadline = transfer.deadline { self.deadline = min(self.deadline ?? deadline, deadline) }
    }

    /// Ends the transfers that have received nothing, or no answer that is recognized, within their limit.
    private func endLateTransfers() {
        guard let deadline, deadline <= .now else { return }
        let now = ContinuousClock.now
        for transfer in running.values.filter({ $0.deadline.map { $0 <= now } ?? false }) {
            remove(transfer)
            transfer.fail(.timedOut, CURLE_OPERATION_TIMEDOUT)
        }
        self.deadline = running.values.compactMap(\.deadline).min()
    }

    /// Returns a new handle. The first one of a channel creates its cookie jar and fills it.
    private func handle(for job: CurlJob, of channel: CurlCommandQueue.ChannelID) -> CurlHandle? {
        if let share = shares[channel] { return CurlHandle(share: share) }
        guard let share = CurlShare(), var handle = CurlHandle(share: share) else { return nil }
        shares[channel] = share
        for line in job.cookieLines { handle.set(CURLOPT_COOKIELIST, line) }
        return handle
    }

    private func cancel(_ id: CurlCommandQueue.TransferID) {
        guard let transfer = running[id] else { return }
        remove(transfer)
        transfer.fail(.canceled, CURLE_ABORTED_BY_CALLBACK)
    }

    private func remove(_ transfer: CurlTransfer) {
        multi.remove(transfer.handle)
        running[transfer.id] = nil
    }
}
