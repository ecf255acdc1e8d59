import Glibc

/// A thread that runs the transfers of any number of channels over one pool of connections.
///
/// The thread also runs the tasks of the channels (`executor`), so that an answer is used where it arrived. The thread ends
/// when its last reference is released.
package final class CurlThread: Sendable {
    let commandQueue: CurlCommandQueue

    /// Runs tasks on this thread, which must not block it: all its channels would wait.
    package var executor: any TaskExecutor { commandQueue }

    private static let standard = Result { () throws(FetchError) in try CurlThread() }
    private static let publicOnly = Result { () throws(FetchError) in try CurlThread() }

    /// Returns the shared thread of the process, or a second shared thread for channels that deny private IP addresses.
    ///
    /// Channels share the connections of a thread. With one thread, a channel that denies private addresses could reuse
    /// a connection to one.
    /// - Throws: `.other` if the process has no memory or no descriptor left.
    package static func shared(deniesPrivate: Bool = false) throws(FetchError) -> CurlThread {
        try (deniesPrivate ? publicOnly : standard).get()
    }

    /// - Throws: as `shared`.
    package init() throws(FetchError) {
        guard let commandQueue = CurlCommandQueue(), let loop = CurlEventLoop(commandQueue) else {
            throw FetchError(.other, url: "", message: "libcurl cannot start")
        }
        self.commandQueue = commandQueue
        var thread = pthread_t()
        // From here on only the new thread uses the loop.
        let retainedLoop = unsafe Unmanaged.passRetained(loop)
        let code = unsafe pthread_create(&thread, nil, runLoop, retainedLoop.toOpaque())
        guard code == 0 else {
            unsafe retainedLoop.release()
            throw FetchError(.other, url: "", code: code, message: "no thread for libcurl")
        }
        pthread_detach(thread)
    }

    deinit { commandQueue.post(.stop) }
}

private func runLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    blockBrokenPipeSignal()
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<CurlEventLoop>.fromOpaque(context).takeRetainedValue().run()
    return nil
}

/// Blocks SIGPIPE, so that writing to a closed connection is an error and does not end the process.
///
/// CURLOPT_NOSIGNAL leaves this signal to the application.
private func blockBrokenPipeSignal() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}
