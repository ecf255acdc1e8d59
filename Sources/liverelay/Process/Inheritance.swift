import Foundation
import Glibc

/// The descriptors that a process was started with: a listening socket of systemd (sd_listen_fds(3)), or everything
/// that a predecessor hands over.
struct Inheritance: Equatable, Sendable {
    /// Begins the list of descriptors from a predecessor: the link, the listening socket, and the lock of a temporary
    /// spool if there is one.
    static let variable = "LIVERELAY_HANDOVER"
    /// The first descriptor that another process can hand over.
    private static let first: Int32 = 3

    var listener: Int32?
    var link: Int32?
    var spoolLock: Int32?

    /// - Parameter environment: of a process that was just started.
    init(environment: [String: String], processID: Int32) {
        if let count = environment[Self.variable].flatMap({ Int32($0) }), (2...3).contains(count) {
            (link, listener) = (Self.first, Self.first + 1)
            if count == 3 { spoolLock = Self.first + 2 }
        } else if environment["LISTEN_PID"] == "\(processID)",
            environment["LISTEN_FDS"].flatMap({ Int32($0) }) ?? 0 > 0
        {
            listener = Self.first
        }
    }

    /// The descriptors of this process, which its own commands do not inherit.
    static let ofThisProcess: Inheritance = {
        let inheritance = Inheritance(environment: ProcessInfo.processInfo.environment, processID: getpid())
        for descriptor in [inheritance.link, inheritance.listener, inheritance.spoolLock] {
            if let descriptor { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        }
        for name in variables { unsafe unsetenv(name) }
        return inheritance
    }()

    /// Variables that concern one process alone.
    static let variables = [variable, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID"]
}
