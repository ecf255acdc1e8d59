import Support

/// An elementary stream of DVB subtitles (ETSI EN 300 743) or teletext (ETSI EN 300 472): PES packets with private data,
/// which transport streams alone carry.
///
/// A channel knows a stream by what it is, since splices change its PID.
package struct PrivateDataStream: Hashable, Sendable {
    /// descriptor_tag of teletext_descriptor and subtitling_descriptor (ETSI EN 300 468 §6.1).
    package static let descriptorTags: Set<UInt8> = [teletextTag, 0x59]
    private static let teletextTag: UInt8 = 0x56

    /// The teletext_descriptor or subtitling_descriptor with its tag and its length, as the upstream has it.
    package let descriptor: [UInt8]
    /// The number of streams with the same descriptor before this one in its program.
    package let ordinal: Int

    package init(descriptor: [UInt8], ordinal: Int = 0) {
        self.descriptor = descriptor
        self.ordinal = ordinal
    }

    package var isTeletext: Bool { descriptor.first == Self.teletextTag }

    /// The parameters that a decoder of DVB subtitles needs (ETSI EN 300 468 §6.2.41): the first entry of the descriptor.
    package var subtitling: (language: LanguageTag, type: UInt8, pages: ArraySlice<UInt8>)? {
        guard !isTeletext, descriptor.count >= 10 else { return nil }
        let language = LanguageTag(String(decoding: descriptor[2..<5], as: UTF8.self)) ?? .unknown
        return (language, descriptor[5], descriptor[6..<10])
    }

    /// The descriptor in hexadecimal digits, and the ordinal after a point.
    package var text: String { Hexadecimal.encode(descriptor) + (ordinal == 0 ? "" : ".\(ordinal)") }

    /// nil if `text` cannot have been written by the `text` property.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let bytes = Hexadecimal.decode(Array(parts[0].utf8)), bytes.count >= 2,
            Self.descriptorTags.contains(bytes[0]), Int(bytes[1]) == bytes.count - 2
        else { return nil }
        guard parts.count == 2 else {
            self.init(descriptor: bytes)
            return
        }
        guard let ordinal = Int(parts[1]), 1...255 ~= ordinal else { return nil }
        self.init(descriptor: bytes, ordinal: ordinal)
    }
}
