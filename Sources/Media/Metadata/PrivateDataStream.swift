import Support

/// An elementary stream of DVB subtitles (ETSI EN 300 743), teletext (ETSI EN 300 472) or ARIB captions (ARIB STD-B24):
/// PES packets with private data. Only transport streams carry such streams.
///
/// A channel identifies the stream by its descriptors, because splices change its PID.
package struct PrivateDataStream: Hashable, Sendable {
    /// descriptor_tag of teletext_descriptor and subtitling_descriptor (ETSI EN 300 468 §6.1).
    private static let (teletextTag, subtitlingTag): (UInt8, UInt8) = (0x56, 0x59)
    /// descriptor_tag of stream_identifier_descriptor and data_component_descriptor (ARIB STD-B10 part 2, §6.2.16, §6.2.20).
    private static let (identifierTag, componentTag): (UInt8, UInt8) = (0x52, 0xFD)
    /// data_component_id of captions and of captions for mobile reception (ARIB STD-B10 part 2, annex J).
    private static let captionComponents: Set<[UInt8]> = [[0x00, 0x08], [0x00, 0x12]]
    /// component_tag of captions (ARIB TR-B14). Superimposed text has other tags, and its PES packets have no time.
    private static let captionTags: Set<UInt8> = Set(0x30...0x37).union([0x87])

    /// The descriptors that identify the stream, as in the upstream, each with its tag and length: the
    /// teletext_descriptor or subtitling_descriptor. ARIB captions: the stream_identifier_descriptor, if present, and
    /// the data_component_descriptor.
    package let descriptor: [UInt8]
    /// The number of streams with the same descriptor before this one in its program.
    package let ordinal: Int

    package init(descriptor: [UInt8], ordinal: Int = 0) {
        self.descriptor = descriptor
        self.ordinal = ordinal
    }

    /// - Parameters:
    ///   - descriptors: the descriptors of a private data stream, in order.
    /// - Returns: nil if the stream does not contain subtitles.
    package init?(descriptors: [(tag: UInt8, body: [UInt8])], ordinal: Int = 0) {
        let bytes = { (descriptor: (tag: UInt8, body: [UInt8])) in
            [descriptor.tag, UInt8(clamping: descriptor.body.count)] + descriptor.body
        }
        let known = descriptors.first {
            [Self.teletextTag, Self.subtitlingTag].contains($0.tag) && !$0.body.isEmpty
        }
        if let known {
            self.init(descriptor: bytes(known), ordinal: ordinal)
            return
        }
        let component = descriptors.first {
            $0.tag == Self.componentTag && Self.captionComponents.contains(Array($0.body.prefix(2)))
        }
        let identifier = descriptors.first { $0.tag == Self.identifierTag && $0.body.count == 1 }
        guard let component, identifier.map({ Self.captionTags.contains($0.body[0]) }) ?? true else { return nil }
        self.init(descriptor: (identifier.map(bytes) ?? []) + bytes(component), ordinal: ordinal)
    }

    package var isTeletext: Bool { descriptor.first == Self.teletextTag }

    /// The services of DVB subtitles in the stream, in the order of the descriptor; empty for other streams.
    package var subtitlingServices: [SubtitlingService] {
        guard descriptor.first == Self.subtitlingTag else { return [] }
        return stride(from: 2, through: descriptor.count - SubtitlingService.entrySize, by: SubtitlingService.entrySize)
            .map { SubtitlingService(entry: Array(descriptor[$0..<$0 + SubtitlingService.entrySize])) }
    }

    /// The descriptors in hexadecimal digits, and the ordinal after a point.
    package var text: String { Hexadecimal.encode(descriptor) + (ordinal == 0 ? "" : ".\(ordinal)") }

    /// nil if `text` cannot have been written by the `text` property.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let bytes = Hexadecimal.decode(Array(parts[0].utf8)),
            let descriptors = Self.descriptors(in: bytes)
        else { return nil }
        let ordinal = parts.count == 1 ? 0 : Int(parts[1]).flatMap { 1...255 ~= $0 ? $0 : nil }
        guard let ordinal else { return nil }
        self.init(descriptors: descriptors, ordinal: ordinal)
        guard descriptor == bytes else { return nil }
    }

    /// nil if the bytes end inside a descriptor.
    private static func descriptors(in bytes: [UInt8]) -> [(tag: UInt8, body: [UInt8])]? {
        var descriptors: [(tag: UInt8, body: [UInt8])] = []
        var rest = bytes[...]
        while let tag = rest.popFirst() {
            guard let size = rest.popFirst(), rest.count >= Int(size) else { return nil }
            descriptors.append((tag, Array(rest.prefix(Int(size)))))
            rest = rest.dropFirst(Int(size))
        }
        return descriptors
    }
}

/// A service of DVB subtitles: one entry of a subtitling_descriptor (ETSI EN 300 468 §6.2.41). A stream may contain
/// several services, each on its own pages.
package struct SubtitlingService: Hashable, Sendable {
    static let entrySize = 8

    package let language: LanguageTag
    /// subtitling_type (ETSI EN 300 468 Table 26).
    package let type: UInt8
    /// composition_page_id and ancillary_page_id as in the descriptor: four bytes.
    package let pages: [UInt8]

    fileprivate init(entry: [UInt8]) {
        language = LanguageTag(String(decoding: entry[..<3], as: UTF8.self)) ?? .unknown
        type = entry[3]
        pages = Array(entry[4...])
    }

    /// Returns the segments that belong to the service, by their page_id (ETSI EN 300 743 §7.2).
    /// - Parameter segments: subtitling_segments. Bytes after the last whole one are dropped.
    package func segments(of segments: ArraySlice<UInt8>) -> [UInt8] {
        let header = 6
        var (own, rest): ([UInt8], ArraySlice<UInt8>) = ([], segments)
        while rest.count >= header, rest[rest.startIndex] == 0x0F {
            let fields = Array(rest.prefix(header))
            let size = header + Int(fields[4]) * 256 + Int(fields[5])
            guard size <= rest.count else { break }
            if [Array(pages[..<2]), Array(pages[2...])].contains(Array(fields[2..<4])) { own += rest.prefix(size) }
            rest = rest.dropFirst(size)
        }
        return own
    }
}

/// A teletext page with subtitles, as a teletext_descriptor lists it (ETSI EN 300 468 §6.2.43).
package struct TeletextPage: Hashable, Sendable {
    /// The page number that viewers know, such as 0x888: the magazine, 1 ... 8, and the two hexadecimal digits of its
    /// page.
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
    /// teletext_type of subtitle pages, and of subtitle pages for hearing impaired people.
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
