import CCurl

/// What the curl thread does. Made on one thread, then given away to the curl thread whole.
final class CurlLoop {
    private let inbox: CurlInbox
    private let multi: CurlMulti
    private var running: [CurlInbox.TransferID: CurlTransfer] = [:]
    private var shares: [CurlInbox.ChannelID: CurlShare] = [:]

    /// nil when memory is out.
    init?(_ inbox: CurlInbox) {
        guard let multi = CurlMulti() else { return nil }
        self.inbox = inbox
        self.multi = multi
    }

    /// Returns after `.stop`.
    func run() {
        while handleInbox() {
            multi.perform()
            while let (transfer, code) = multi.nextFinished() {
                remove(transfer)
                transfer.finish(code)
            }
            multi.wait(for: inbox.bell)
        }
        for id in running.keys { cancel(id) }
    }

    /// - Returns: false when told to stop.
    private func handleInbox() -> Bool {
        for item in inbox.takeAll() {
            switch item {
            case .start(let id, let channel, let job, let continuation): start(id, channel, job, continuation)
            case .cancel(let id): cancel(id)
            case .close(let channel): shares[channel] = nil
            case .stop: return false
            }
        }
        return true
    }

    private func start(
        _ id: CurlInbox.TransferID, _ channel: CurlInbox.ChannelID, _ job: CurlJob,
        _ continuation: CurlTransfer.Continuation
    ) {
        guard let handle = handle(for: job, of: channel) else {
            let error = FetchError(.other, url: job.request.url, message: "out of memory")
            return continuation.resume(returning: .failure(error))
        }
        let transfer = CurlTransfer(id, job, handle, continuation)
        guard transfer.handle.refusal == CURLE_OK else { return transfer.fail(.other, transfer.handle.refusal) }
        guard multi.add(transfer.handle) else { return transfer.fail(.other, CURLE_FAILED_INIT) }
        running[id] = transfer
    }

    /// The first handle of a channel opens its jar and fills it.
    private func handle(for job: CurlJob, of channel: CurlInbox.ChannelID) -> CurlHandle? {
        if let share = shares[channel] { return CurlHandle(share: share) }
        guard let share = CurlShare(), var handle = CurlHandle(share: share) else { return nil }
        shares[channel] = share
        for line in job.cookieLines { handle.set(CURLOPT_COOKIELIST, line) }
        return handle
    }

    private func cancel(_ id: CurlInbox.TransferID) {
        guard let transfer = running[id] else { return }
        remove(transfer)
        transfer.fail(.cancelled, CURLE_ABORTED_BY_CALLBACK)
    }

    private func remove(_ transfer: CurlTransfer) {
        multi.remove(transfer.handle)
        running[transfer.id] = nil
    }
}
