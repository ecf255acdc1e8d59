import Foundation
import Glibc

/// The connection to systemd of a unit with `Type=notify`: datagrams to the socket in NOTIFY_SOCKET (sd_notify(3)).
struct ServiceManager: Equatable, Sendable {
    /// Longest name of a socket (unix(7)), without the NUL byte at its end.
    static let nameLimit = 107

    /// A path, or the name of an abstract socket, which begins with `@`.
    let socketName: String
    /// Longest time between two signs of life; nil: none are expected.
    let watchdogInterval: Duration?

    /// - Returns: nil if the process was not started by systemd, or as a service without notifications.
    init?(environment: [String: String], processID: Int32) {
        guard let name = environment["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@"),
            name.utf8.count <= Self.nameLimit
        else { return nil }
        socketName = name
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let interval = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogInterval = isMeant && interval > 0 ? .microseconds(interval) : nil
    }

    static let current = ServiceManager(environment: ProcessInfo.processInfo.environment, processID: getpid())

    /// Starts a task that reports that the process is ready, and then sends watchdog messages until it is canceled.
    /// - Parameters:
    ///   - status: a text for the operator; nil: none.
    ///   - isAlive: returns when the process has responded. If it does not return, systemd restarts the process.
    func supervise(status: String? = nil, isAlive: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        send("READY=1" + (status.map { "\nSTATUS=\($0)" } ?? ""))
        let pause = watchdogInterval.map { $0 / 3 } ?? .seconds(86_400)
        return Task {
            while (try? await Task.sleep(for: pause)) != nil {
                await isAlive()
                if watchdogInterval != nil { send("WATCHDOG=1") }
            }
        }
    }

    /// Sends one message. Whether it arrives is unknown.
    func send(_ message: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(socketName.utf8)
        // The name of an abstract socket begins with a NUL byte and ends with the address.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(message.utf8)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, size)
            }
        }
    }
}
