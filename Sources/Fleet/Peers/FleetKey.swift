package import Support

/// The key of a fleet, with which nodes prove their requests to each other, and seal their records.
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

    // MARK: - Records

    /// A record as an engine has it: who has no key cannot lead viewers and their tokens to an address, or list channels.
    func sealed(_ record: [UInt8]) -> [UInt8] { Array((seal(of: record[...]) ?? "").utf8) + [Self.sealEnd] + record }

    /// The record of a node; nil if it cannot be read, is of a higher version, or is not of that node or fleet.
    func node(_ name: String, in text: [UInt8]) -> NodeRecord? {
        opened(text).flatMap { NodeRecord($0) }.flatMap { $0.node == name ? $0 : nil }
    }

    /// The owner in a record of that subject and epoch.
    func ownership(of subject: String, _ epoch: UInt64, in text: [UInt8]) -> Ownership {
        let record = opened(text).flatMap { OwnerRecord($0) }
        let isInPlace = record?.subject == subject && record?.epoch == epoch
        return Ownership(epoch: epoch, record: isInPlace ? record : nil)
    }

    private static let sealEnd = UInt8(ascii: "\n")

    private func opened(_ text: [UInt8]) -> [UInt8]? {
        guard let end = text.firstIndex(of: Self.sealEnd), let seal = seal(of: text[(end + 1)...]),
            Self.areEqual(Array(seal.utf8), Array(text[..<end]))
        else { return nil }
        return Array(text[(end + 1)...])
    }

    private func seal(of record: ArraySlice<UInt8>) -> String? {
        let text = "liverelay record 1\n" + String(decoding: record, as: UTF8.self)
        return SHA256.authenticationCode(of: text, key: bytes).map { Hexadecimal.encode($0) }
    }
}
