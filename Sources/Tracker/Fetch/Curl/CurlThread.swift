import Glibc

/// One thread that runs the transfers of any number of channels over one pool of connections. Ends with its last owner.
package final class CurlThread: Sendable {
    let commandQueue: CurlCommandQueue

    private static let standard = Result { () throws(FetchError) in try CurlThread() }
    private static let publicOnly = Result { () throws(FetchError) in try CurlThread() }

    /// The thread of the process, or the one of all channels that private addresses are denied to: connections are
    /// shared among the channels of a thread, and theirs may not be one that another channel was allowed to make.
    /// - Throws: `.other` when the process had no memory or no descriptor left for it.
    package static func shared(deniesPrivate: Bool = false) throws(FetchError) -> CurlThread {
        try (deniesPrivate ? publicOnly : standard).get()
    }

    /// - Throws: as `shared`.
    package init() throws(FetchError) {
        guard let inbox = CurlCommandQueue(), let loop = CurlEventLoop(inbox) else {
            throw FetchError(.other, url: "", message: "libcurl cannot start")
        }
        self.commandQueue = inbox
        var thread = pthread_t()
        // From here on the loop belongs to the new thread alone.
        let given = unsafe Unmanaged.passRetained(loop)
        let code = unsafe pthread_create(&thread, nil, runLoop, given.toOpaque())
        guard code == 0 else {
            unsafe given.release()
            throw FetchError(.other, url: "", code: code, message: "no thread for libcurl")
        }
        pthread_detach(thread)
    }

    deinit { commandQueue.post(.stop) }
}

private func runLoop(_ given: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    blockBrokenPipeSignal()
    guard let given = unsafe given else { return nil }
    unsafe Unmanaged<CurlEventLoop>.fromOpaque(given).takeRetainedValue().run()
    return nil
}

/// A peer that closes while we write must be an error code, not the end of the process; CURLOPT_NOSIGNAL leaves the
/// signal to us.
private func blockBrokenPipeSignal() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}
