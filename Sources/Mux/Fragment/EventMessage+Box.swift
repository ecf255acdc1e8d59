import Media

extension PlacedMessage {
    /// Writes `emsg` version 1, whose time is absolute instead of relative to its segment.
    func write(to writer: inout BoxWriter) {
        writer.fullBox("emsg", version: 1) { box in
            box.u32(UInt32(TrackTimescale.video))
            box.u64(UInt64(max(0, time.count)))
            box.u32(message.duration.flatMap { UInt32(exactly: $0.count) } ?? .max)
            box.u32(message.number ?? derivedNumber)
            for text in [message.scheme, message.value] {
                box.append(text.utf8.filter { $0 != 0 })
                box.u8(0)
            }
            box.append(message.data)
        }
    }

    /// Message number for a message without one. Duplicates get the same number, also after a restart.
    private var derivedNumber: UInt32 {
        var key = BoxWriter()
        key.u64(UInt64(bitPattern: time.count))
        key.append(message.data)
        return UInt32(truncatingIfNeeded: ContentHash.digest(of: key.bytes[...]))
    }
}
