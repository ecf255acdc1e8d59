import Support

/// A program of a channel as text.
package struct GuideListing: Equatable, Sendable {
    /// Seconds since 1970.
    package let start: Int64
    /// Seconds since 1970, not before `start`.
    package var stop: Int64
    package let title: String
    package let description: String
    /// The language of the title, as the guide writes it; empty if the guide does not state it.
    package let language: String

    /// The assumed duration, in seconds, of a program without a stop time that is the last of its channel.
    private static let usualLength: Int64 = 3600

    /// - Parameters:
    ///   - element: a program as `GuideElementWriter` writes it.
    ///   - start: seconds since 1970.
    ///   - next: the start of the program after it.
    init(_ element: GuideElement, start: Int64, next: Int64?) {
        self.start = start
        let written = element.rawAttribute("stop").flatMap {
            GuideTime.isNormal($0) ? GuideTime.seconds(ofNormal: $0) : nil
        }
        let stop = written ?? next ?? start + Self.usualLength
        self.stop = max(start, stop)
        let title = Self.first("title", in: element.content)
        (self.title, language) = (title?.text ?? "", title?.language ?? "")
        description = Self.first("desc", in: element.content)?.text ?? ""
    }

    /// The text of the first element of that name.
    private static func first(
        _ name: String, in content: ArraySlice<UInt8>
    ) -> (text: String, language: String)? {
        var rest = content
        let tag = Array("<\(name)".utf8)
        while let found = rest.firstRange(of: tag), let end = rest[found.upperBound...].firstIndex(of: greater) {
            let isWhole = !XMLCharacter.isName(rest[found.upperBound])
            let startTag = rest[found.lowerBound...end]
            rest = rest[end...].dropFirst()
            guard isWhole else { continue }
            var attributes = XMLAttributes(startTag)
            var language = ""
            while let attribute = attributes.next() {
                if attribute.isNamed("lang") { language = String(decoding: attribute.value, as: UTF8.self) }
            }
            let isEmpty = startTag.dropLast().last == UInt8(ascii: "/")
            return (isEmpty ? "" : XMLText.characters(rest.prefix { $0 != less }), language)
        }
        return nil
    }

    private static let (less, greater) = (UInt8(ascii: "<"), UInt8(ascii: ">"))
}
