/// The channels of an Opus stream: channel_config_code of its extension descriptor.
package struct OpusChannels: Hashable, Sendable {
    private let code: UInt8

    /// Streams, coupled streams and the order of the channels by their number, as Ogg has them (RFC 7845 §5.1.1.2).
    private static let mappings: [(streams: UInt8, coupled: UInt8, order: [UInt8])] = [
        (1, 0, [0]), (1, 1, [0, 1]), (2, 1, [0, 2, 1]), (2, 2, [0, 1, 2, 3]), (3, 2, [0, 4, 1, 2, 3]),
        (4, 2, [0, 4, 1, 2, 3, 5]), (4, 3, [0, 4, 1, 2, 3, 5, 6]), (5, 3, [0, 6, 1, 2, 3, 4, 5, 7]),
    ]

    static let stereo = OpusChannels(unchecked: 2)

    private init(unchecked code: UInt8) { self.code = code }

    /// - Parameter code: 0 for two mono channels, else their number up to 8; nil for explicit mappings.
    init?(code: UInt8) {
        guard code <= 8 else { return nil }
        self.code = code
    }

    var count: Int { code == 0 ? 2 : Int(code) }

    /// The payload of `dOps`, which decoders are set up with.
    var decoderSpecificInfo: [UInt8] {
        let common: [UInt8] = [0, UInt8(count), 0, 0, 0, 0, 0xBB, 0x80, 0, 0]
        if code == 0 { return common + [255, 2, 0, 0, 1] }
        guard code > 2 else { return common + [0] }
        let mapping = Self.mappings[Int(code) - 1]
        return common + [1, mapping.streams, mapping.coupled] + mapping.order
    }
}
