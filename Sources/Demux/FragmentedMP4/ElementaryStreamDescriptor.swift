import Media

/// The coding fields of an ES_Descriptor (ISO/IEC 14496-1 §7.2.6.5), the payload of `esds`.
struct ElementaryStreamDescriptor: Equatable, Sendable {
    /// objectTypeIndication (Table 5).
    let objectTypeIndication: UInt8
    /// DecoderSpecificInfo; empty if there is none.
    let decoderSpecificInfo: [UInt8]

    private enum Tag {
        static let elementaryStream: UInt8 = 3
        static let decoderConfig: UInt8 = 4
        static let decoderSpecificInfo: UInt8 = 5
    }

    /// - Parameter esds: version and flags included.
    init(_ esds: ArraySlice<UInt8>) throws(MediaError) {
        var fields = BoxFields(esds)
        try fields.skip(4)
        var stream = BoxFields(try fields.descriptor(Tag.elementaryStream))
        try stream.skip(2)
        let flags = try stream.u8()
        if flags & 0x80 != 0 { try stream.skip(2) }  // dependsOn_ES_ID
        if flags & 0x40 != 0 { try stream.skip(Int(stream.u8())) }  // URL
        if flags & 0x20 != 0 { try stream.skip(2) }  // OCR_ES_ID
        var decoder = BoxFields(try stream.descriptor(Tag.decoderConfig))
        objectTypeIndication = try decoder.u8()
        try decoder.skip(12)
        decoderSpecificInfo = decoder.rest.isEmpty ? [] : Array(try decoder.descriptor(Tag.decoderSpecificInfo))
    }
}

extension BoxFields {
    /// Reads the body of the next descriptor, which must have the given tag (ISO/IEC 14496-1 §8.3.3). A body that is
    /// longer than the remaining bytes ends with them.
    fileprivate mutating func descriptor(_ tag: UInt8) throws(MediaError) -> ArraySlice<UInt8> {
        guard try u8() == tag else {
            throw MediaError(.badParameterSet(field: "esds"), offset: index, section: "ISO/IEC 14496-1 §7.2.6.5")
        }
        var length = 0
        for _ in 0..<4 {
            let byte = try u8()
            length = length << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return try bytes(min(length, rest.count))
    }
}
