/// The closed captions in video: channels of CEA-608 and services of CEA-708.
package struct CaptionChannels: Hashable, Sendable {
    /// Bit n is CEA-608 channel CC(n + 1).
    private var cea608: UInt8 = 0
    /// Bit n is CEA-708 service n.
    private var services: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { self == CaptionChannels() }

    /// Adds CC`number`; numbers outside 1 ... 4 are ignored.
    package mutating func insert(cea608 number: Int) {
        if 1...4 ~= number { cea608 |= 1 << (number - 1) }
    }

    /// Adds service `number`; numbers outside 1 ... 63 are ignored.
    package mutating func insert(service number: Int) {
        if 1...63 ~= number { services |= 1 << number }
    }

    package mutating func formUnion(_ other: CaptionChannels) {
        cea608 |= other.cea608
        services |= other.services
    }

    /// The values of INSTREAM-ID (RFC 8216 §4.3.4.1), those of CEA-608 before those of CEA-708.
    package var instreamIDs: [String] {
        (1...4).filter { cea608 >> ($0 - 1) & 1 == 1 }.map { "CC\($0)" }
            + (1...63).filter { services >> $0 & 1 == 1 }.map { "SERVICE\($0)" }
    }
}
