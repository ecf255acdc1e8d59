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
        let ordinal = parts.count == 1 ? 0 : Int(parts[1]).flatMap { 1...255 ~= $0 ? $0 : nil }
        guard let ordinal else { return nil }
        self.init(descriptor: bytes, ordinal: ordinal)
    }
}

/// A teletext page with subtitles, as a teletext_descriptor lists it (ETSI EN 300 468 §6.2.43).
package struct TeletextPage: Hashable, Sendable {
    /// The digits that viewers know, such as 0x888: the magazine, 1 ... 8, and the two hexadecimal digits of its page.
    package let number: Int
    package let language: LanguageTag
    package let isForHearingImpaired: Bool

    package init(number: Int, language: LanguageTag, isForHearingImpaired: Bool = false) {
        self.number = number
        self.language = language
        self.isForHearingImpaired = isForHearingImpaired
    }

    private static let numbers = 0x100...0x8FF
    private static let hearingImpaired = "hi"

    /// `888.de`, or `888.de.hi` for hearing impaired people.
    package var text: String {
        "\(String(number, radix: 16)).\(language.text)" + (isForHearingImpaired ? ".\(Self.hearingImpaired)" : "")
    }

    /// nil if `text` cannot have been written by the `text` property.
    package init?(text: some StringProtocol) {
        let fields = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(fields.count), let number = Int(fields[0], radix: 16), Self.numbers.contains(number),
            fields.count == 2 || fields[2] == Self.hearingImpaired, let language = LanguageTag(written: fields[1])
        else { return nil }
        self.init(number: number, language: language, isForHearingImpaired: fields.count == 3)
    }
}

extension PrivateDataStream {
    /// teletext_type of subtitle pages, and of those for hearing impaired people.
    private static let (subtitlePage, impairedPage): (UInt8, UInt8) = (0x02, 0x05)
    private static let entrySize = 5

    /// The teletext pages with subtitles, each number once, in the order of the descriptor.
    package var subtitlePages: [TeletextPage] {
        guard isTeletext else { return [] }
        let entries = stride(from: 2, through: descriptor.count - Self.entrySize, by: Self.entrySize).map {
            descriptor[$0..<$0 + Self.entrySize]
        }
        var pages: [TeletextPage] = []
        for entry in entries {
            let (kind, magazine) = (entry[entry.startIndex + 3] >> 3, Int(entry[entry.startIndex + 3] & 0x07))
            let number = (magazine == 0 ? 8 : magazine) << 8 | Int(entry[entry.startIndex + 4])
            guard kind == Self.subtitlePage || kind == Self.impairedPage,
                !pages.contains(where: { $0.number == number })
            else { continue }
            let language = LanguageTag(String(decoding: entry.prefix(3), as: UTF8.self)) ?? .unknown
            pages.append(
                TeletextPage(number: number, language: language, isForHearingImpaired: kind == Self.impairedPage))
        }
        return pages
    }
}
