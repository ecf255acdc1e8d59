import ArgumentParser
import Glibc
import HTTP
import WebServer

struct ClientOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connections of clients at once.",
            discussion: """
                A connection beyond it gets the status 503, unless another one never sent a request and is closed for it. \
                By default as many as the limit on open files permits.
                """, valueName: "number"))
    var maxClients: Int?

    @Option(help: ArgumentHelp("The same for one address; half of the other by default.", valueName: "number"))
    var maxClientsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "Requests of one address in a second, on average over ten; 0 for no limit.",
            discussion: "More get the status 429. Players send one or two.", valueName: "number"))
    var maxRequestsPerAddress = 1000

    @Option(
        help: ArgumentHelp(
            "Proxies whose X-Forwarded-Proto, -Host, -Prefix, -For or Forwarded is believed.",
            discussion: "Addresses or ranges such as 10.0.0.0/8 separated by commas, or loopback, or private.",
            valueName: "proxies"), transform: Self.proxies)
    var trustProxy = TrustedProxies()

    func validate() throws {
        if maxRequestsPerAddress < 0 { throw ValidationError("--max-requests-per-address cannot be negative.") }
        if let maxClients, maxClients < 1 { throw ValidationError("--max-clients has to be at least 1.") }
        if let maxClientsPerAddress, maxClientsPerAddress < 1 {
            throw ValidationError("--max-clients-per-address has to be at least 1.")
        }
    }

    /// The connections of a server, initially none.
    /// - Parameter addresses: determines the addresses by which clients are distinguished.
    func connections(_ addresses: ForwardedAddresses) -> OpenConnections {
        let limiter = RequestLimiter(perSecond: maxRequestsPerAddress, addresses: addresses)
        return OpenConnections(limits(), requests: maxRequestsPerAddress == 0 ? nil : limiter)
    }

    private static func proxies(_ text: String) throws -> TrustedProxies {
        guard let proxies = TrustedProxies(text) else {
            throw ValidationError("\(text) is no list of addresses. Write 192.0.2.1, 10.0.0.0/8, loopback or private.")
        }
        return proxies
    }

    /// - Parameter descriptors: the number of descriptors that the process may open.
    func limits(descriptors: Int = DescriptorLimit.raise()) -> OpenConnections.Limits {
        let total = min(maxClients ?? .max, DescriptorLimit.clients(of: descriptors))
        return OpenConnections.Limits(total: total, perAddress: min(maxClientsPerAddress ?? max(1, total / 2), total))
    }
}

struct AddressOptions: ParsableArguments {
    @Option(
        name: .customLong("public-url"),
        help: ArgumentHelp(
            "URL of this server in its documents, as clients see it; it may have a path.",
            discussion: "By default http:// and the Host of each request. To clients, a channel is its URL.",
            valueName: "url"), transform: Self.publicURL)
    var publicURL: PublicURL?

    /// - Parameter isSecure: whether the server itself encrypts.
    func addresses(_ trustedProxies: TrustedProxies, isSecure: Bool) -> ForwardedAddresses {
        ForwardedAddresses(publicURL: publicURL, trustedProxies: trustedProxies, scheme: isSecure ? "https" : "http")
    }

    private static func publicURL(_ text: String) throws -> PublicURL {
        do throws(PublicURL.Malformed) { return try PublicURL(text) } catch {
            throw ValidationError("\(text) is no URL of a server: \(error.rawValue).")
        }
    }
}

/// The descriptors of this process: sockets of clients and upstreams, and files of the spool.
enum DescriptorLimit {
    /// The largest soft limit to request, because each descriptor costs the kernel memory.
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
    /// Descriptors of a running channel: the lock of its spool, a file that is being written, and four connections to
    /// its upstream, or six while a backup is tried.
    static let perChannel = 8
    static let perEventLoop = 4
    /// Descriptors for refusals, guides, lists, webhooks, commands, and the system's own.
    static let reserve = 64

    /// The number of client connections for which descriptors suffice: half of the descriptors are for clients. The
    /// other half is for channels, at least 64 descriptors, or three quarters of all if there are very few.
    static func clients(of descriptors: Int) -> Int {
        max(1, (descriptors - min(descriptors * 3 / 4, max(64, descriptors / 2))) / perClient)
    }

    /// The number of channels that may run at once beside this many clients. If a process has no descriptor left, more
    /// fails than the channel that used the last one.
    static func channels(of descriptors: Int, clients: Int, eventLoops: Int) -> Int {
        max(1, (descriptors - perClient * clients - perEventLoop * eventLoops - reserve) / perChannel)
    }
}
