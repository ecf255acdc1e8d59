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

    /// The connections of clients for which there are descriptors: each needs one for its socket and one for the file
    /// that it is sent. A quarter is reserved for the spool, the upstreams and refusals, and at least 64 or, of very few,
    /// three quarters.
    static func clients(of descriptors: Int) -> Int {
        let reserve = min(descriptors * 3 / 4, max(64, descriptors / 4))
        return max(1, (descriptors - reserve) / 2)
    }
}
