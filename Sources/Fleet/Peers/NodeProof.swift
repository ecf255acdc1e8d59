package import Support

/// Another node, as its newest record describes it.
package struct FleetPeer: Equatable, Sendable {
    /// `NodeRecord.node`.
    package let node: String
    /// The URL of the node, without a slash at its end.
    package let address: String
    /// The counter of its newest record.
    package let counter: UInt64

    /// The name of the node, without its run.
    package var name: String { String(node.prefix { $0 != "." }) }
}

/// The part of a request that a proof covers.
package struct ProvenRequest: Equatable, Sendable {
    let method: String
    /// Percent-decoded.
    let path: String
    /// Percent-decoded names and values, in order.
    let query: [(name: String, value: String)]
    /// The IP address of the viewer for whom a node asks; nil: a node asks for itself.
    package let client: String?

    package init(_ method: String, _ path: String, query: [(name: String, value: String)], client: String?) {
        (self.method, self.path, self.query, self.client) = (method, path, query, client)
    }

    package static func == (left: ProvenRequest, right: ProvenRequest) -> Bool { left.text == right.text }

    /// Each part with its length, so that no two requests have one text.
    fileprivate var text: String {
        let parts = [method, path, client ?? "-"] + query.flatMap { [$0.name, $0.value] }
        return parts.map { "\($0.utf8.count):\($0)" }.joined(separator: " ")
    }
}

/// The key of a fleet, with which nodes prove their requests to each other.
///
/// A proof is for one request to one run of one node. The recipient's own counter, which rises with time, bounds how long
/// the proof holds. Therefore no clock of another machine matters.
package struct FleetKey: Sendable {
    /// The name of the header field with the proof.
    package static let fieldName = "X-Liverelay-Node"
    private static let lengths = 32...1024
    /// How often the recipient may have renewed its record since the sender read it: a minute at most.
    static let renewals: UInt64 = 30

    private let bytes: [UInt8]

    /// - Parameter text: 32 to 1024 visible ASCII characters.
    package init?(_ text: Secret) {
        let characters = Array(text.value.utf8)
        guard Self.lengths.contains(characters.count), characters.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        bytes = characters
    }

    /// The form of a key, in words.
    package static let description = "\(lengths.lowerBound) to \(lengths.upperBound) visible ASCII characters"

    /// The value of the header field.
    package func proof(of request: ProvenRequest, to peer: FleetPeer) -> Secret? {
        code(request, peer.node, peer.counter).map { Secret("\(peer.counter) \(request.client ?? "-") \($0)") }
    }

    /// The request that a proof covers; nil if the proof does not hold.
    /// - Parameters:
    ///   - field: the value of the header field.
    ///   - request: the request as received. Its client is that of the proof.
    ///   - node: the recipient's name.
    ///   - counters: the counters of the recipient's records that a sender may have read.
    func request(
        _ request: ProvenRequest, provenBy field: String, to node: String, counters: ClosedRange<UInt64>
    ) -> ProvenRequest? {
        let parts = field.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, let counter = UInt64(parts[0]), counters.contains(counter) else { return nil }
        let claimed = ProvenRequest(
            request.method, request.path, query: request.query, client: parts[1] == "-" ? nil : String(parts[1]))
        guard let code = code(claimed, node, counter), Self.areEqual(Array(code.utf8), Array(parts[2].utf8)) else {
            return nil
        }
        return claimed
    }

    private func code(_ request: ProvenRequest, _ node: String, _ counter: UInt64) -> String? {
        let text = "liverelay node request 1\n\(node)\n\(counter)\n\(request.text)"
        return SHA256.authenticationCode(of: text, key: bytes).map { Hexadecimal.encode($0) }
    }

    /// Compares in a time that depends on the lengths alone.
    private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
