/// An element of an XML document, with the elements in it.
///
/// Names are without their prefixes. The bytes of tags and text are kept as they are until they are asked for.
package struct XMLElement {
    package let name: String
    /// The line on which the start tag begins, from 1 on.
    package let line: Int
    /// The start tag, from `<` to `>`.
    private let tag: ArraySlice<UInt8>
    package fileprivate(set) var elements: [XMLElement] = []
    fileprivate var rawText: ArraySlice<UInt8> = []
    fileprivate var isCharacterData = false

    fileprivate init(_ tag: XMLTokenizer.StartTag, line: Int) {
        name = String(decoding: tag.name, as: UTF8.self)
        self.line = line
        self.tag = tag.bytes
    }

    /// The value of an attribute; nil if it is missing. Each call scans the tag, which may be long, so read a value
    /// only once if many elements need it.
    package subscript(attribute: StaticString) -> String? {
        var attributes = XMLAttributes(tag)
        StepCounter.add(tag.count)
        while let next = attributes.next() {
            if next.isNamed(attribute) { return XMLText.characters(next.value) }
        }
        return nil
    }

    /// The first text in the element that is not blank, without white space around it.
    package var text: String {
        let bytes = isCharacterData ? String(decoding: rawText, as: UTF8.self) : XMLText.characters(rawText)
        return String(decoding: Array(bytes.utf8)[...].trimmingXMLSpace(), as: UTF8.self)
    }

    package func all(_ name: String) -> [XMLElement] { elements.filter { $0.name == name } }

    package func first(_ name: String) -> XMLElement? { elements.first { $0.name == name } }

    /// The first element with that name at any depth, in the order of the document.
    package func firstDescendant(_ name: String) -> XMLElement? {
        for element in elements {
            if element.name == name { return element }
            if let found = element.firstDescendant(name) { return found }
        }
        return nil
    }
}

extension XMLElement {
    /// The depth below which elements are passed over.
    private static let deepest = 24

    package enum Failure: Error {
        case noElement
        /// The document ends before its root element does.
        case truncated
        case tooManyElements
        case canceled
    }

    /// Parses a whole document with up to `limit` elements. Returns its root element.
    package static func parse(_ bytes: [UInt8], limit: Int) throws(Failure) -> XMLElement {
        var tokens = XMLTokenizer(bytes)
        var lines = LineCounter(bytes)
        var open: [XMLElement] = []
        var skipped = 0
        var count = 0
        while let token = tokens.next() {
            switch token {
            case .start(let tag):
                count += 1
                if count & 0xFFF == 0, StepCounter.isTaskCanceled() { throw .canceled }
                guard count <= limit else { throw .tooManyElements }
                if skipped > 0 || open.count >= Self.deepest {
                    skipped += tag.isEmpty ? 0 : 1
                } else {
                    open.append(XMLElement(tag, line: lines.line(at: tag.bytes.startIndex)))
                    if tag.isEmpty, let root = open.closeLast() { return root }
                }
            case .end where skipped > 0: skipped -= 1
            case .end: if let root = open.closeLast() { return root }
            case .text(let text, let isCharacterData):
                guard skipped == 0, let last = open.indices.last, open[last].rawText.isEmpty,
                    text.contains(where: { !XMLCharacter.isSpace($0) })
                else { continue }
                open[last].rawText = text
                open[last].isCharacterData = isCharacterData
            }
        }
        throw open.isEmpty ? .noElement : .truncated
    }

    /// The name of the root element, without its prefix; nil if no element begins. `bytes` may be the beginning of a
    /// document.
    package static func rootName(of bytes: [UInt8]) -> String? {
        var tokens = XMLTokenizer(bytes)
        while let token = tokens.next() {
            switch token {
            case .start(let tag): return String(decoding: tag.name, as: UTF8.self)
            case .end: return nil
            case .text(let text, _): if text.contains(where: { !XMLCharacter.isSpace($0) }) { return nil }
            }
        }
        return nil
    }
}

/// Counts lines up to ascending positions, so that every byte is read once.
private struct LineCounter {
    private let bytes: [UInt8]
    private var (position, line) = (0, 1)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func line(at place: Int) -> Int {
        StepCounter.add(place - position)
        line += bytes[position..<place].count { $0 == ASCII.lineFeed }
        position = place
        return line
    }
}

extension [XMLElement] {
    /// Moves the last element into the one before it. Returns the element if it is the root.
    fileprivate mutating func closeLast() -> XMLElement? {
        guard let element = popLast() else { return nil }
        guard let parent = indices.last else { return element }
        self[parent].elements.append(element)
        return nil
    }
}

extension ArraySlice<UInt8> {
    fileprivate func trimmingXMLSpace() -> ArraySlice<UInt8> {
        let start = drop(while: XMLCharacter.isSpace)
        let end = start.lastIndex { !XMLCharacter.isSpace($0) }
        return end.map { start[...$0] } ?? []
    }
}

/// References in the text of XML documents (XML 1.0 §4.1). Nothing that a DTD declares is expanded.
package enum XMLText {
    /// The text with its references replaced. An ampersand that begins no known reference stays.
    package static func characters(_ text: ArraySlice<UInt8>) -> String {
        guard text.contains(UInt8(ascii: "&")) else { return String(decoding: text, as: UTF8.self) }
        var output: [UInt8] = []
        var rest = text
        while let byte = rest.first {
            guard byte == UInt8(ascii: "&"), let end = endOfReference(rest, at: rest.startIndex) else {
                output.append(byte)
                rest.removeFirst()
                continue
            }
            output += character(rest[(rest.startIndex + 1)..<(end - 1)])
            rest = rest[end...]
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The index after the reference that begins at `start`; nil unless it names a character or one of XML's five
    /// entities.
    package static func endOfReference(_ text: ArraySlice<UInt8>, at start: Int) -> Int? {
        guard let end = text[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = text[(start + 1)..<end]
        guard name.first == UInt8(ascii: "#") else {
            return entities.contains { $0.name.elementsEqual(name) } ? end + 1 : nil
        }
        return code(of: name).map(isCharacter) == true ? end + 1 : nil
    }

    /// The character that a reference names, in UTF-8.
    private static func character(_ name: ArraySlice<UInt8>) -> [UInt8] {
        if let entity = entities.first(where: { $0.name.elementsEqual(name) }) { return [entity.character] }
        return code(of: name).flatMap { Unicode.Scalar($0) }.map { Array(String($0).utf8) } ?? []
    }

    /// The number in `#233` or `#xE9`.
    private static func code(of name: ArraySlice<UInt8>) -> UInt32? {
        let digits = String(decoding: name.dropFirst(), as: UTF8.self)
        return digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    }

    private static let entities = [("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'")].map {
        (name: Array($0.0.utf8), character: Array($0.1.utf8)[0])
    }

    /// Whether XML permits the character (XML 1.0 §2.2).
    private static func isCharacter(_ code: UInt32) -> Bool {
        code == 9 || code == 10 || code == 13 || (0x20...0xD7FF).contains(code) || (0xE000...0xFFFD).contains(code)
            || (0x10000...0x10FFFF).contains(code)
    }
}
