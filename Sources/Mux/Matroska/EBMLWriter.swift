/// Appends elements of EBML (RFC 8794). Every size takes eight bytes, so the length of a size never depends on its
/// value.
struct EBMLWriter: Sendable {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    mutating func append(_ newBytes: some Sequence<UInt8>) { bytes.append(contentsOf: newBytes) }

    /// - Parameter id: the element ID with its length marker.
    mutating func id(_ id: UInt32) { append(Self.bytes(ofID: id)) }

    static func bytes(ofID id: UInt32) -> [UInt8] { Array(wide(UInt64(id)).drop { $0 == 0 }) }

    /// Appends a size of eight bytes.
    mutating func wideSize(_ size: UInt64) { append(Self.wide(1 << 56 | size)) }

    /// The eight bytes of a number.
    static func wide(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
    }

    mutating func element(_ id: UInt32, _ body: [UInt8]) {
        self.id(id)
        wideSize(UInt64(body.count))
        append(body)
    }

    mutating func text(_ id: UInt32, _ text: String) { element(id, Array(text.utf8)) }

    /// An unsigned integer in as few bytes as it needs.
    mutating func unsigned(_ id: UInt32, _ value: UInt64) {
        let digits = Array(Self.wide(value).drop { $0 == 0 })
        element(id, digits.isEmpty ? [0] : digits)
    }

    /// An unsigned integer of eight bytes, which can be replaced later.
    mutating func wideUnsigned(_ id: UInt32, _ value: UInt64) { element(id, Self.wide(value)) }

    mutating func float(_ id: UInt32, _ value: Double) { element(id, Self.wide(value.bitPattern)) }

    mutating func master<Failure: Error>(
        _ id: UInt32, _ body: (inout EBMLWriter) throws(Failure) -> Void
    ) throws(Failure) {
        var writer = EBMLWriter()
        try body(&writer)
        element(id, writer.bytes)
    }
}
