import ChannelList
import Support

/// Makes text of guides fit for a well-formed document.
enum GuideText {
    /// Appends text as the contents of an element or of an attribute in double quotes.
    ///
    /// Character references and the five entities of XML stay. Any other ampersand is text: entities that a DTD
    /// declares are not expanded. Characters that XML forbids are left out.
    static func append(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var index = text.startIndex
        while index < text.endIndex {
            // Most text is plain, and is copied as it is.
            var end = index
            while end < text.endIndex, isPlain[Int(text[end])] { end += 1 }
            if end > index {
                output.append(contentsOf: text[index..<end])
                index = end
                continue
            }
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "&"):
                if let end = XMLText.endOfReference(text, at: index) {
                    output.append(contentsOf: text[index..<end])
                    index = end
                    continue
                }
                output.append(contentsOf: "&amp;".utf8)
            case UInt8(ascii: "<"): output.append(contentsOf: "&lt;".utf8)
            case UInt8(ascii: ">"): output.append(contentsOf: "&gt;".utf8)
            case UInt8(ascii: "\""): output.append(contentsOf: "&quot;".utf8)
            case 0xEF where isNoncharacter(text[index...]): index += 2
            case 0xEF: output.append(byte)
            default: break
            }
            index += 1
        }
    }

    /// Whether a byte stays as it is.
    private static let isPlain = (0...255).map { (byte: UInt8) in
        (byte >= 0x20 || XMLCharacter.isSpace(byte)) && !"&<>\"".utf8.contains(byte) && byte != 0xEF
    }

    /// The text with its references replaced, for comparisons.
    static func decoded(_ text: ArraySlice<UInt8>) -> String {
        let string = String(decoding: text, as: UTF8.self)
        return text.contains(UInt8(ascii: "&")) ? string.decodingEntities : string
    }

    /// Bytes that are not UTF-8 are read as Windows-1252, the most frequent encoding of such text.
    static func repaired(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if bytes.allSatisfy({ $0 < 0x80 }) || String(validating: bytes, as: UTF8.self) != nil { return bytes }
        return bytes.flatMap { $0 < 0x80 ? [$0] : Array(String(ListLines.Line.windows1252Character($0)).utf8) }[...]
    }

    /// Whether the text begins with U+FFFE or U+FFFF in UTF-8, which XML forbids.
    private static func isNoncharacter(_ text: ArraySlice<UInt8>) -> Bool {
        text.starts(with: [0xEF, 0xBF, 0xBE]) || text.starts(with: [0xEF, 0xBF, 0xBF])
    }
}
