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
    var text: String {
        let parts = [method, path, client ?? "-"] + query.flatMap { [$0.name, $0.value] }
        return parts.map { "\($0.utf8.count):\($0)" }.joined(separator: " ")
    }
}
