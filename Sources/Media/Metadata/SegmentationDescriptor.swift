/// segmentation_descriptor() (SCTE 35 §10.3.3): the subject of a time signal.
package struct SegmentationDescriptor: Equatable, Sendable {
    static let tag = 0x02
    private static let identifier = 0x4355_4549  // "CUEI"

    package let eventID: UInt32
    /// Whether the event was canceled; all other fields are then empty.
    package let isCanceled: Bool
    package let duration: Ticks?
    /// segmentation_type_id (SCTE 35 Table 23).
    package let typeID: UInt8
    package let upidType: UInt8
    package let upid: [UInt8]

    /// - Parameter body: the bytes after descriptor_length.
    /// - Returns: nil if another organization's identifier makes the descriptor private.
    init?(_ body: [UInt8]) throws(MediaError) {
        var bits = BitReader(body[...], section: "SCTE 35 §10.3.3")
        guard try bits.u(32) == Self.identifier else { return nil }
        eventID = UInt32(try bits.u(32))
        isCanceled = try bits.flag()
        try bits.skip(7)
        guard !isCanceled else {
            (duration, typeID, upidType, upid) = (nil, 0, 0, [])
            return
        }
        let coversWholeProgram = try bits.flag()
        let hasDuration = try bits.flag()
        try bits.skip(6)
        if !coversWholeProgram { try bits.skip(try bits.u(8) * 48) }
        duration = hasDuration ? Ticks(Int64(try bits.u(8)) << 32 | Int64(try bits.u(32))) : nil
        upidType = UInt8(try bits.u(8))
        var upid: [UInt8] = []
        for _ in 0..<(try bits.u(8)) { upid.append(UInt8(try bits.u(8))) }
        self.upid = upid
        typeID = UInt8(try bits.u(8))
    }
}
