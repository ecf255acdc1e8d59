/// A splice command of a broadcast: a break begins or ends with a segment. A section before it says so.
struct SpliceSignal {
    enum Kind { case out, `in` }

    /// What commands of a channel look like.
    enum Style: Int {
        /// splice_insert with the duration of the break, which ends by itself.
        case autoReturn
        /// One splice_insert at each end.
        case insert
        /// time_signal with a segmentation_descriptor of an advertisement at each end.
        case timeSignal
    }

    let kind: Kind
    let event: Int
    let style: Style
    /// Ticks of the clock that the section comes with; nil: at once.
    let time: Int?
    /// Ticks; nil: it is not said.
    let duration: Int?

    static let pid = 496
    private static let clockMask = 1 << 33 - 1

    /// The splice_info_section (SCTE 35 §9.6) without CRC_32.
    var section: [UInt8] {
        let command = style == .timeSignal ? spliceTime : insert
        let descriptors = style == .timeSignal ? descriptor : []
        let length = 11 + command.count + 2 + descriptors.count + 4
        var writer = BitWriter()
        writer.bits(0xFC, 8)
        writer.bits(0b0011, 4)
        writer.bits(length, 12)
        writer.bits(0, 8)  // protocol_version
        writer.bits(0, 7)  // not encrypted
        writer.bits(0, 33)  // pts_adjustment
        writer.bits(0, 8)
        writer.bits(0xFFF, 12)  // tier
        writer.bits(command.count, 12)
        writer.bits(style == .timeSignal ? 6 : 5, 8)
        return writer.bytes + command + [UInt8(descriptors.count >> 8), UInt8(descriptors.count & 0xFF)] + descriptors
    }

    /// The section with CRC_32.
    var wholeSection: [UInt8] { FrameTemplates.checked(section) }

    /// The whole section as an attribute of a date range.
    var text: String {
        let digits = Array("0123456789ABCDEF")
        return "0x" + String(wholeSection.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    private var spliceTime: [UInt8] {
        guard let time else { return [] }
        var writer = BitWriter()
        writer.bits(0x7F, 7)
        writer.bits(time & Self.clockMask, 33)
        return writer.bytes
    }

    private var insert: [UInt8] {
        var writer = BitWriter()
        writer.bits(event, 32)
        writer.bits(0x7F, 8)  // not canceled
        let hasDuration = kind == .out && duration != nil
        // out_of_network_indicator, program_splice_flag, duration_flag, splice_immediate_flag
        let flags = (kind == .out ? 0x80 : 0) | (hasDuration ? 0x20 : 0) | (time == nil ? 0x10 : 0)
        writer.bits(flags | 0x4F, 8)
        var bytes = writer.bytes + spliceTime
        if hasDuration, let duration {
            var writer = BitWriter()
            writer.bits(style == .autoReturn ? 0xFF >> 1 : 0x3F, 7)
            writer.bits(duration, 33)
            bytes += writer.bytes
        }
        return bytes + [0, 1, 0, 0]
    }

    private var descriptor: [UInt8] {
        var writer = BitWriter()
        writer.bits(event, 32)
        writer.bits(0x7F, 8)
        let hasDuration = kind == .out && duration != nil
        writer.bits(0x80 | (hasDuration ? 0x40 : 0) | 0x3F, 8)
        if hasDuration, let duration { writer.bits(duration, 40) }
        writer.bits(0, 16)  // no segmentation_upid
        writer.bits(kind == .out ? 0x30 : 0x31, 8)
        writer.bits(0, 16)
        return [0x02, UInt8(writer.bytes.count + 4)] + Array("CUEI".utf8) + writer.bytes
    }
}
