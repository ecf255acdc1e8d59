import Support

/// Writes programs of other guides so that the document stays well-formed, whatever they contain.
///
/// Elements that were not closed are closed. End tags without a start tag, comments and processing instructions are
/// left out, and character data becomes text. Everything else is copied, including elements that the DTD does not
/// define.
struct GuideElementWriter {
    /// A program without its `channel` attribute: written once, and appended for each channel that shows it.
    struct Program {
        fileprivate(set) var attributes: [UInt8] = []
        /// Seconds since 1970.
        fileprivate(set) var start: Int64 = 0
        fileprivate(set) var content: [UInt8] = []

        /// - Parameter channel: the attribute's value, escaped as in the document.
        func append(channel: [UInt8], to output: inout [UInt8]) {
            output.append(contentsOf: "<programme".utf8)
            output.append(contentsOf: attributes)
            output.append(contentsOf: " channel=\"".utf8)
            output.append(contentsOf: channel)
            output.append(contentsOf: "\">".utf8)
            output.append(contentsOf: content)
            output.append(contentsOf: "</programme>\n".utf8)
        }
    }

    private let limits: GuideLimits
    private var output: [UInt8] = []
    private var open: [ArraySlice<UInt8>] = []
    /// Seconds since 1970.
    private var start: Int64?
    /// The index of the first `>` that was not written yet, as far as the text was searched.
    private var greater = -1

    private init(_ limits: GuideLimits) { self.limits = limits }

    /// - Returns: nil if the program has no usable start time.
    static func program(_ element: GuideElement, limits: GuideLimits) -> Program? {
        var writer = GuideElementWriter(limits)
        writer.writeAttributes(of: element)
        guard let start = writer.start else { return nil }
        var program = Program(attributes: writer.output, start: start)
        writer.output = []
        writer.writeContent(GuideText.repaired(element.content))
        program.content = writer.output
        return program
    }

    private mutating func writeAttributes(of element: GuideElement) {
        var attributes = XMLAttributes(GuideText.repaired(element.bytes[element.startTag]))
        var names: Set<ArraySlice<UInt8>> = []
        while let attribute = attributes.next() {
            guard names.insert(attribute.name).inserted, !attribute.isNamed("channel") else { continue }
            let isTime = Self.times.contains { attribute.isNamed($0) }
            guard isTime else {
                write(attribute.name, attribute.value)
                continue
            }
            let isNormal = GuideTime.isNormal(attribute.value)
            guard let time = isNormal ? attribute.value : GuideTime.normalized(attribute.value)?[...] else { continue }
            if attribute.isNamed("start") { start = GuideTime.seconds(ofNormal: time) }
            write(attribute.name, time)
        }
    }

    private static let times: [StaticString] = ["start", "stop", "pdc-start", "vps-start"]

    private mutating func write(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
        output.append(UInt8(ascii: " "))
        output.append(contentsOf: name)
        output.append(contentsOf: "=\"".utf8)
        GuideText.append(value, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    private mutating func writeContent(_ content: ArraySlice<UInt8>) {
        var rest = content
        while let less = rest.firstIndex(of: UInt8(ascii: "<")) {
            StepCounter.add(1 + less - rest.startIndex)
            GuideText.append(rest[..<less], to: &output)
            rest = rest[less...]
            let length = writeMarkup(rest)
            rest.removeFirst(length)
        }
        GuideText.append(rest, to: &output)
        while let name = open.popLast() { writeEndTag(name) }
    }

    /// Writes the markup that begins with `<`.
    /// - Returns: its length in bytes.
    private mutating func writeMarkup(_ rest: ArraySlice<UInt8>) -> Int {
        if rest.starts(with: "<![CDATA[".utf8) {
            let text = rest.dropFirst(9)
            let end = text.firstRange(of: Array("]]>".utf8))
            appendCharacterData(text[..<(end?.lowerBound ?? text.endIndex)])
            let length = (end?.upperBound ?? rest.endIndex) - rest.startIndex
            StepCounter.add(length)
            return length
        }
        if rest.starts(with: "<!--".utf8) {
            return (rest.firstRange(of: Array("-->".utf8))?.upperBound ?? rest.endIndex) - rest.startIndex
        }
        guard let second = rest.dropFirst().first, XMLCharacter.isNameStart(second) || "/?!".utf8.contains(second),
            let greater = endOfTag(in: rest)
        else {
            GuideText.append(rest.prefix(1), to: &output)
            return 1
        }
        let tag = rest[...greater]
        switch second {
        case UInt8(ascii: "?"), UInt8(ascii: "!"): break
        case UInt8(ascii: "/"): close(tag.dropFirst(2).prefix(while: XMLCharacter.isName))
        default: writeStartTag(tag)
        }
        return tag.count
    }

    /// The first `>` of the text. Each byte is searched once.
    private mutating func endOfTag(in rest: ArraySlice<UInt8>) -> Int? {
        if greater < rest.startIndex {
            greater = rest.firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex
            StepCounter.add(greater - rest.startIndex)
        }
        return greater < rest.endIndex ? greater : nil
    }

    /// Appends character data, in which an ampersand stands for itself.
    private mutating func appendCharacterData(_ text: ArraySlice<UInt8>) {
        for part in text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { output.append(contentsOf: "&amp;".utf8) }
            GuideText.append(part.element, to: &output)
        }
    }

    /// Elements that may not occur inside a program: a reader of the document would mistake them for elements of the
    /// guide.
    private static let outer = ["tv", "channel", "programme"]

    private mutating func writeStartTag(_ tag: ArraySlice<UInt8>) {
        let name = tag.dropFirst().prefix(while: XMLCharacter.isName)
        guard open.count < limits.depth, !Self.outer.contains(where: { name.elementsEqual($0.utf8) }) else { return }
        output.append(UInt8(ascii: "<"))
        output.append(contentsOf: name)
        var attributes = XMLAttributes(tag)
        var names: Set<ArraySlice<UInt8>> = []
        while let attribute = attributes.next() {
            if names.insert(attribute.name).inserted { write(attribute.name, attribute.value) }
        }
        if tag.dropLast().last == UInt8(ascii: "/") {
            output.append(contentsOf: "/>".utf8)
        } else {
            output.append(UInt8(ascii: ">"))
            open.append(name)
        }
    }

    /// Closes the innermost element with this name and all elements in it; does nothing if no such element is open.
    private mutating func close(_ name: ArraySlice<UInt8>) {
        guard let index = open.lastIndex(of: name) else { return }
        while open.count > index { writeEndTag(open.removeLast()) }
    }

    private mutating func writeEndTag(_ name: ArraySlice<UInt8>) {
        output.append(contentsOf: "</".utf8)
        output.append(contentsOf: name)
        output.append(UInt8(ascii: ">"))
    }
}
