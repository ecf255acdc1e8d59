import Glibc

/// The descriptors of this process: sockets of clients and upstreams, and files of the spool.
enum DescriptorLimit {
    /// The largest soft limit that is asked for. Each descriptor costs the kernel memory.
    static let most = 131072

    /// Raises the soft limit as far as the hard limit permits. Returns the soft limit.
    static func raise() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        let wanted = min(limit.rlim_max, rlim_t(most))
        if limit.rlim_cur < wanted {
            let before = limit.rlim_cur
            limit.rlim_cur = wanted
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 { limit.rlim_cur = before }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Descriptors of a client: its socket, and the file that it is sent.
    static let perClient = 2
    /// Descriptors of a running channel: the lock of its spool, a file that is written, and four connections to its upstream,
    /// six while a backup is tried.
    static let perChannel = 8
    /// Descriptors of an event loop.
    static let perEventLoop = 4
    /// Descriptors for refusals, guides, lists, webhooks, commands, and the system's own.
    static let reserve = 64

    /// The connections of clients for which there are descriptors: half of them are for clients. The others are for
    /// channels, at least 64 or, of very few, three quarters.
    static func clients(of descriptors: Int) -> Int {
        max(1, (descriptors - min(descriptors * 3 / 4, max(64, descriptors / 2))) / perClient)
    }

    /// The channels that may run at once beside so many clients. A process that has no descriptor left loses more than the
    /// channel that took it.
    static func channels(of descriptors: Int, clients: Int, eventLoops: Int) -> Int {
        max(1, (descriptors - perClient * clients - perEventLoop * eventLoops - reserve) / perChannel)
    }
}
