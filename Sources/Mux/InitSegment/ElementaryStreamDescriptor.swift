import Media

/// streamType (ISO/IEC 14496-1 Table 6) as it is written: shifted by two bits, downstream, with the reserved bit.
enum ElementaryStreamType: UInt8 {
    case video = 0x11
    case audio = 0x15
}

extension BoxWriter {
    /// Writes `esds` (ISO/IEC 14496-14 §5.6) with an ES_Descriptor (ISO/IEC 14496-1 §7.2.6.5).
    ///
    /// The bit rates are 0, because the init section's name must depend only on the configuration.
    /// - Parameter info: DecoderSpecificInfo; empty for none.
    mutating func elementaryStreamDescriptor(
        _ objectTypeIndication: UInt8, _ streamType: ElementaryStreamType, info: [UInt8]
    ) {
        let infoSize = info.isEmpty ? 0 : 5 + info.count
        fullBox("esds") { esds in
            esds.descriptor(tag: 0x03, size: 3 + 5 + 13 + infoSize + 5 + 1)
            esds.u16(0)  // ES_ID, 0 in a file (14496-14 §4.1.2)
            esds.u8(0)
            esds.descriptor(tag: 0x04, size: 13 + infoSize)
            esds.u8(objectTypeIndication)
            esds.u8(streamType.rawValue)
            esds.zeros(3 + 4 + 4)
            if !info.isEmpty {
                esds.descriptor(tag: 0x05, size: info.count)
                esds.append(info)
            }
            esds.descriptor(tag: 0x06, size: 1)
            esds.u8(0x02)
        }
    }

    /// Writes a descriptor's tag and its size in four bytes of seven bits each (ISO/IEC 14496-1 §8.3.3).
    private mutating func descriptor(tag: UInt8, size: Int) {
        u8(tag)
        for shift in [21, 14, 7] { u8(0x80 | UInt8(size >> shift & 0x7F)) }
        u8(UInt8(size & 0x7F))
    }
}
