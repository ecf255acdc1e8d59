import Support

/// A `channel` or `programme` element of an XMLTV guide, as its bytes.
struct GuideElement: Equatable, Sendable {
    enum Kind: Equatable, Sendable { case channel, program }

    let kind: Kind
    /// From `<` of the start tag to `>` of the end tag.
    let bytes: ArraySlice<UInt8>
    /// The bytes of the start tag.
    let startTag: Range<Int>

    /// The bytes between the tags; empty if there is only one tag.
    var content: ArraySlice<UInt8> {
        guard bytes[startTag.upperBound - 2] != UInt8(ascii: "/"), startTag.upperBound < bytes.endIndex,
            let end = bytes.lastIndex(of: UInt8(ascii: "<"))
        else { return [] }
        return bytes[startTag.upperBound..<max(end, startTag.upperBound)]
    }

    /// The value of an attribute as it is written; nil if it is missing.
    func rawAttribute(_ name: StaticString) -> ArraySlice<UInt8>? {
        var attributes = XMLAttributes(bytes[startTag])
        while let attribute = attributes.next() {
            if attribute.isNamed(name) { return attribute.value }
        }
        return nil
    }

    /// The `id` of a channel, or the `channel` of a program, as it is written.
    var rawID: ArraySlice<UInt8>? {
        switch kind {
        case .channel: rawAttribute("id")
        case .program: rawAttribute("channel")
        }
    }
}
