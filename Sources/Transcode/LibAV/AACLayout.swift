import Media

/// Speaker layout of an AAC channel configuration (ISO/IEC 14496-3 Table 1.19).
struct AACLayout: Hashable, Sendable {
    /// 1 mono, 2 stereo ... 6 for 5.1, 7 for 7.1.
    let channelConfiguration: Int

    /// - Returns: nil for a channel configuration that is not in the table.
    init?(channelConfiguration: Int) {
        guard Self.rows.indices.contains(channelConfiguration - 1) else { return nil }
        self.channelConfiguration = channelConfiguration
    }

    /// Layout with `channelCount` channels.
    ///
    /// The table has no layout for 6.1, which becomes 5.1. More than eight channels become 7.1.
    init(nearestTo channelCount: Int) {
        switch channelCount {
        case ...1: channelConfiguration = 1
        case 2...6: channelConfiguration = channelCount
        case 7: channelConfiguration = 6
        default: channelConfiguration = 7
        }
    }

    var channelCount: Int { row.channels }

    /// Speaker mask, one bit per speaker, numbered as in WAVEFORMATEXTENSIBLE and libav.
    var mask: UInt64 { row.mask }

    /// Bit rate in bit/s at which the second encoding is inaudible.
    ///
    /// The first two channels get 2 bits per sample each, every further channel 4/3 bits.
    func bitRate(sampleRate: Int) -> Int64 {
        Int64(sampleRate) * (Int64(min(channelCount, 2)) * 6 + Int64(max(0, channelCount - 2)) * 4) / 3
    }

    private var row: (channels: Int, mask: UInt64) { Self.rows[channelConfiguration - 1] }

    private static let rows: [(channels: Int, mask: UInt64)] = [
        (1, 0x4), (2, 0x3), (3, 0x7), (4, 0x107), (5, 0x37), (6, 0x3F), (8, 0x63F),
    ]
}
