/// Checks the continuity counters of one PID (ISO/IEC 13818-1 §2.4.3.3; TR 101 290 1.4).
struct ContinuityWatch: Sendable {
    enum Verdict: Equatable {
        case inOrder
        /// The packet came before; only its PCR is new.
        case duplicate
        /// Packets were lost or came in another order.
        case wrongCounter(expected: UInt8)
        /// The counter stood still, but the packet is another one.
        case otherContent
        /// The same packet for the third time.
        case tooOften
    }

    private var last: UInt8?
    private var fingerprint: UInt64 = 0
    private var isDuplicated = false

    /// Accepts any counter next, because the preceding packet is already known to be wrong.
    mutating func forget() { last = nil }

    mutating func check(_ fields: PacketFields, _ packet: Span<UInt8>) -> Verdict {
        guard fields.announcesPayload else { return checkWithoutPayload(fields) }
        let print = fields.fingerprint(of: packet)
        defer { (last, fingerprint) = (fields.counter, print) }
        guard let last, !fields.announcesDiscontinuity else { return accept() }
        let expected = (last + 1) & 0x0F
        if fields.counter == expected { return accept() }
        guard fields.counter == last else {
            isDuplicated = false
            return .wrongCounter(expected: expected)
        }
        guard print == fingerprint else { return .otherContent }
        defer { isDuplicated = true }
        return isDuplicated ? .tooOften : .duplicate
    }

    private mutating func accept() -> Verdict {
        isDuplicated = false
        return .inOrder
    }

    /// The counter stands still in a packet without payload.
    private mutating func checkWithoutPayload(_ fields: PacketFields) -> Verdict {
        defer { last = fields.counter }
        guard let last, !fields.announcesDiscontinuity, fields.counter != last else { return .inOrder }
        isDuplicated = false
        return .wrongCounter(expected: last)
    }
}
