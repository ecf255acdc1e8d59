import Media

/// The headers of a picture of MPEG-2 video (ISO/IEC 13818-2 §6.2.2.6, §6.2.3, §6.2.3.1), read from units that begin with
/// the last byte of their start codes.
enum MPEG2Picture {
    static let startCode: UInt8 = 0x00
    static let groupStartCode: UInt8 = 0xB8
    static let userDataStartCode: UInt8 = 0xB2
    private static let codingExtension: UInt8 = 8

    /// picture_structure and temporal_reference of a picture that is one field.
    struct Field: Equatable, Sendable {
        fileprivate let structure: UInt8
        fileprivate let temporalReference: Int

        /// Whether this is the other field of the frame that `first` begins.
        func isSecondField(after first: Field) -> Bool {
            structure != first.structure && temporalReference == first.temporalReference
        }
    }

    static func isIntra(_ header: NALUnit, of bytes: [UInt8]) -> Bool { codingType(header, of: bytes) == 1 }

    /// Whether other pictures may refer to it: all but B pictures.
    static func isReference(_ header: NALUnit, of bytes: [UInt8]) -> Bool { codingType(header, of: bytes) != 3 }

    /// picture_coding_type; 0 if the header is cut off.
    private static func codingType(_ header: NALUnit, of bytes: [UInt8]) -> UInt8 {
        header.end > header.start + 2 ? bytes[header.start + 2] >> 3 & 7 : 0
    }

    /// closed_gop of a group of pictures header: whether leading pictures refer to none before it.
    static func isClosed(_ group: NALUnit, of bytes: [UInt8]) -> Bool {
        group.end > group.start + 4 && bytes[group.start + 4] & 0x40 != 0
    }

    static func field(_ units: ArraySlice<NALUnit>, of bytes: [UInt8]) -> Field? {
        guard let header = units.first(where: { bytes[$0.start] == startCode && $0.end > $0.start + 2 }),
            let coding = units.first(where: {
                bytes[$0.start] == MPEG2SequenceHeader.extensionStartCode && $0.end > $0.start + 3
                    && bytes[$0.start + 1] >> 4 == codingExtension
            })
        else { return nil }
        let structure = bytes[coding.start + 3] & 3
        guard structure == 1 || structure == 2 else { return nil }
        let reference = Int(bytes[header.start + 1]) << 2 | Int(bytes[header.start + 2] >> 6)
        return Field(structure: structure, temporalReference: reference)
    }

    /// The channels with captions in user data of a picture (ATSC A/53 Part 4 §6.2.3).
    static func captions(_ units: ArraySlice<NALUnit>, of bytes: [UInt8]) -> CaptionChannels {
        var channels = CaptionChannels()
        for unit in units where bytes[unit.start] == userDataStartCode {
            channels.formUnion(CaptionData.channels(inUserData: bytes[unit.start + 1..<unit.end]))
        }
        return channels
    }
}
