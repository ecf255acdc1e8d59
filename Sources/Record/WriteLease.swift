import Glibc

/// A lease for writing (fcntl(2), F_SETLEASE). The system grants it only if no other descriptor has the file open.
///
/// While the lease is held, a process that opens the file waits for the end of the lease, and the system sends a signal
/// to this process. The signal is SIGURG, which is ignored unless handled; the default, SIGIO, would end the process.
struct WriteLease: ~Copyable {
    enum Refusal: Error, Equatable {
        /// Another descriptor, of this process or another one, has the file open.
        case isOpen
        /// errno of the system call that failed.
        case system(Int32)
    }

    /// Commands of fcntl(2) that the headers define only for GNU.
    private static let (setSignal, setLease): (Int32, Int32) = (10, 1024)

    private let descriptor: Int32

    init(_ path: String) throws(Refusal) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(errno) }
        if fcntl(descriptor, Self.setSignal, SIGURG) == 0, fcntl(descriptor, Self.setLease, Int32(F_WRLCK)) == 0 {
            return
        }
        let code = errno
        close(descriptor)
        throw code == EAGAIN ? .isOpen : .system(code)
    }

    /// The lease ends with its descriptor.
    deinit { close(descriptor) }
}
