import Playlist

/// What a capture tells of the addresses and headers it was recorded with, to whomever it is shown.
///
/// User information in an address is a password and is never kept. What else is taken out is taken out of the index and
/// of the playlists alike, so that what was one resource, or two, still is.
package struct CaptureRedactor: Sendable {
    package struct Options: Equatable, Sendable {
        /// Queries go. A second resource that only its query told from the first becomes `?2`, and so on.
        package var queries: Bool
        /// Only the headers go on that change what a reader does.
        package var headers: Bool
        /// Hosts become `host-1.example` and so on, in the order in which they appear.
        package var hosts: Bool

        package init(queries: Bool = false, headers: Bool = false, hosts: Bool = false) {
            self.queries = queries
            self.headers = headers
            self.hosts = hosts
        }

        package static let none = Options()
    }

    private let options: Options
    /// By authority; those that follow are each address's queries.
    private var hosts = TextNumbering(limit: 4096)
    private var queries = RecentCache<TextNumbering>(limit: 4096)
    /// Of the multivariant playlist read last.
    private var variables: [VariableDefinition] = []

    package init(_ options: Options = .none) { self.options = options }

    /// What stands for an absolute address.
    package mutating func redact(url address: String) -> String {
        var result = address
        if let authority = URIReference.authority(of: address) {
            let host = authority.split(separator: "@", omittingEmptySubsequences: false).last.map(String.init) ?? ""
            result = URIReference.replacingAuthority(of: result, by: options.hosts ? name(of: host) : host)
        }
        guard options.queries else { return result }
        let plain = URIReference.withoutQuery(address)
        let number = number(of: URIReference.query(of: address), at: plain)
        return URIReference.replacingQuery(of: result, by: number == 1 ? nil : String(number))
    }

    /// - Parameters: `body`: of a successful answer; `base`: what its relative addresses are resolved against.
    package mutating func redact(body: [UInt8], base: String) -> [UInt8] {
        var mask = self
        let rules = PlaylistURIRewriter.Rules(redactsText: options.queries || options.hosts) {
            mask.reference($0, base: base)
        }
        let (bytes, defined) = PlaylistURIRewriter.rewrite(body, url: base, imported: variables, rules: rules)
        self = mask
        if body.namesVariants { variables = defined }
        return bytes
    }

    /// Those that are about the transfer are over, and what a server gives this client to keep is no one else's.
    package func redact(headers: [FetchAnswer.Header]) -> [FetchAnswer.Header] {
        headers.filter { header in
            let name = header.name.lowercased()
            if Self.droppedHeaders.contains(name) || options.headers && !Self.semanticHeaders.contains(name) {
                return false
            }
            return !(options.queries && header.value.contains("?") || options.hosts && header.value.contains("//"))
        }
    }

    /// What else a refusal says in its body may repeat what was asked; nobody reads it.
    package var dropsErrorBodies: Bool { options != .none }

    private static let droppedHeaders: Set = [
        "connection", "content-encoding", "content-length", "keep-alive", "set-cookie", "set-cookie2",
        "transfer-encoding",
    ]
    private static let semanticHeaders: Set = ["content-type", "retry-after"]

    private mutating func reference(_ reference: String, base: String) -> String {
        let target = URIReference.resolve(reference, against: base)
        let masked = redact(url: target)
        if masked == target { return reference }
        // Relative ones stay so: where they lead to was masked with their base.
        let isRelative = URIReference.authority(of: reference) == nil && !URIReference.withoutQuery(reference).isEmpty
        guard isRelative, URIReference.scheme(of: reference) == nil else { return masked }
        return options.queries
            ? URIReference.replacingQuery(of: reference, by: URIReference.query(of: masked)) : reference
    }

    private mutating func name(of host: String) -> String { "host-\(hosts.number(of: host)).example" }

    /// 1 for the first query seen at an address, 2 for the next; none at all counts as one.
    private mutating func number(of query: String?, at address: String) -> Int {
        var known = queries[address.checksum] ?? TextNumbering(limit: 64)
        // No query and an empty one are told apart by what no query holds.
        let number = known.number(of: query ?? "#")
        queries[address.checksum] = known
        return number
    }

    /// Numbers of texts in the order in which they appear, from 1. One that was not used lately is new when it comes
    /// back: a token that changes with every request must not be remembered for ever.
    private struct TextNumbering: Sendable {
        private var known: RecentCache<Int>
        private var last = 0

        init(limit: Int) { known = RecentCache(limit: limit) }

        mutating func number(of text: String) -> Int {
            let key = text.checksum
            if let number = known[key] { return number }
            last += 1
            known[key] = last
            return last
        }
    }
}

extension [UInt8] {
    /// It is a multivariant playlist, or looks like one.
    fileprivate var namesVariants: Bool {
        PlaylistLines(self).contains { line in
            if case .tag(.streamInf, _) = line.content { true } else { false }
        }
    }
}
