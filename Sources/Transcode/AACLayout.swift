import Media

/// The speakers of one of AAC's channel configurations (ISO/IEC 14496-3 Table 1.19).
struct AACLayout: Hashable, Sendable {
    /// 1 mono, 2 stereo ... 6 for 5.1, 7 for 7.1.
    let channelConfiguration: Int

    /// - Parameter channelConfiguration: nil for any that does not stand in the table.
    init?(channelConfiguration: Int) {
        guard Self.rows.indices.contains(channelConfiguration - 1) else { return nil }
        self.channelConfiguration = channelConfiguration
    }

    /// The one with as many channels; 6.1, which has none, becomes 5.1, and more than eight become 7.1.
    init(nearestTo channelCount: Int) {
        switch channelCount {
        case ...1: channelConfiguration = 1
        case 2...6: channelConfiguration = channelCount
        case 7: channelConfiguration = 6
        default: channelConfiguration = 7
        }
    }

    var channelCount: Int { row.channels }

    /// One bit a speaker, as WAVEFORMATEXTENSIBLE and libav number them.
    var mask: UInt64 { row.mask }

    /// Two bits a sample for one or two channels, a third less for each beyond: nothing is heard of the second coding.
    func bitRate(sampleRate: Int) -> Int64 {
        Int64(sampleRate) * (Int64(min(channelCount, 2)) * 6 + Int64(max(0, channelCount - 2)) * 4) / 3
    }

    private var row: (channels: Int, mask: UInt64) { Self.rows[channelConfiguration - 1] }

    private static let rows: [(channels: Int, mask: UInt64)] = [
        (1, 0x4), (2, 0x3), (3, 0x7), (4, 0x107), (5, 0x37), (6, 0x3F), (8, 0x63F),
    ]
}
