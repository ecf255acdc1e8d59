import Support

/// Finds the channels and programs in the text of an XMLTV guide, which comes in parts of any size.
///
/// Guides may have 100 MB and more, and many are not well-formed. Therefore only the boundaries of these elements are
/// searched, and a damaged element affects no other element. Nothing is expanded: a DTD and the entities that it
/// declares are skipped. No byte is read more than a few times, whatever the text and the sizes of its parts.
struct GuideScanner {
    /// Counts of elements found and dropped.
    struct Counts: Equatable, Sendable {
        var channels = 0
        var programs = 0
        /// Elements that have no end, are longer than allowed, or have an id that is too long.
        var damaged = 0
    }

    /// The position in the document's structure.
    private enum State {
        case text
        /// Until these bytes.
        case skipping(until: [UInt8])
        /// Inside `<!DOCTYPE`: number of open brackets, and the quote that is open.
        case declaration(brackets: Int, quote: UInt8)
        /// An element that begins at `position` and whose end was not found yet.
        case element(OpenElement)
    }

    /// A partly read element. Lengths count from its `<`, so that they stay valid when text is appended.
    private struct OpenElement {
        enum Phase {
            /// - Parameters:
            ///   - quote: the open quote; 0: none; `<`: a quote that was never closed, so the next `>` ends the tag.
            ///   - firstEnd: the length up to the first `>`, inside quotes or not.
            case startTag(quote: UInt8, firstEnd: Int?)
            case content
            /// A comment or character data, until these bytes.
            case passage(until: [UInt8])
            case endTag
        }

        let kind: GuideElement.Kind
        var phase = Phase.startTag(quote: 0, firstEnd: nil)
        /// Bytes of the element read so far.
        var length = 1
        var tagLength = 0
    }

    private(set) var counts = Counts()
    private var buffer: [UInt8] = []
    private var position = 0
    private var state = State.text
    private var isFinished = false
    private let limits: GuideLimits

    init(limits: GuideLimits = GuideLimits()) { self.limits = limits }

    mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 { buffer.removeSubrange(..<position) }
        position = 0
        buffer.append(contentsOf: bytes)
    }

    mutating func finish() { isFinished = true }

    /// The next element; nil if more text is needed, or at the end.
    mutating func next() -> GuideElement? {
        while position < buffer.count {
            switch state {
            case .skipping(let end): guard skip(until: end) else { return nil }
            case .declaration(let brackets, let quote): skipDeclaration(brackets, quote)
            case .text:
                guard let open = index(of: Self.less, from: position) else {
                    position = buffer.count
                    return nil
                }
                position = open
                guard canJudge(open) else { return nil }
                beginMarkup(at: open)
            case .element(var open):
                switch read(&open) {
                case .found(let end):
                    if let element = close(open, at: end) { return element }
                case .damaged(let end): damaged(upTo: end)
                case .incomplete where isFinished || buffer.count - position > limits.elementBytes:
                    damaged(upTo: position + 1)
                case .incomplete:
                    state = .element(open)
                    return nil
                }
            }
        }
        return nil
    }

    /// Whether enough text follows a `<` to classify the markup. The longest deciding word is `<programme` with the
    /// byte after it.
    private func canJudge(_ open: Int) -> Bool { isFinished || open + 11 < buffer.count }

    /// Classifies the markup that begins with `<` at `open`.
    private mutating func beginMarkup(at open: Int) {
        if let kind = kind(at: open) {
            state = .element(OpenElement(kind: kind))
        } else if matches(Self.comment, at: open) {
            begin(.skipping(until: Array("-->".utf8)), at: open + 4)
        } else if matches(Self.characterData, at: open) {
            begin(.skipping(until: Array("]]>".utf8)), at: open + 9)
        } else if matches(Self.instruction, at: open) {
            begin(.skipping(until: Array("?>".utf8)), at: open + 2)
        } else if matches(Self.documentType, at: open) {
            begin(.declaration(brackets: 0, quote: 0), at: open + 9)
        } else {
            position = open + 1
        }
    }

    private mutating func begin(_ next: State, at index: Int) {
        state = next
        position = index
    }

    private func kind(at open: Int) -> GuideElement.Kind? {
        if matches(Self.program, at: open), isTagNameEnd(open + Self.program.count) { return .program }
        if matches(Self.channel, at: open), isTagNameEnd(open + Self.channel.count) { return .channel }
        return nil
    }

    /// Closes an element. The element is dropped if it or its id is too long.
    private mutating func close(_ open: OpenElement, at end: Int) -> GuideElement? {
        let range = position..<end
        let element = GuideElement(
            kind: open.kind, bytes: buffer[range], startTag: position..<position + open.tagLength)
        begin(.text, at: end)
        guard range.count <= limits.elementBytes, element.rawID?.count ?? 0 <= limits.idBytes else {
            counts.damaged += 1
            return nil
        }
        switch open.kind {
        case .channel: counts.channels += 1
        case .program: counts.programs += 1
        }
        return element
    }

    private mutating func damaged(upTo index: Int) {
        counts.damaged += 1
        begin(.text, at: index)
    }
}

// MARK: - Elements

extension GuideScanner {
    private enum Progress {
        /// The element ends before this index.
        case found(end: Int)
        /// The element has no end; scanning continues at this index.
        case damaged(end: Int)
        case incomplete
    }

    /// Reads on to the end of an element, or until more text is needed.
    private func read(_ open: inout OpenElement) -> Progress {
        while true {
            switch open.phase {
            case .startTag(let quote, let firstEnd):
                if let progress = readStartTag(&open, quote, firstEnd) { return progress }
                if buffer[position + open.tagLength - 2] == UInt8(ascii: "/") {
                    return .found(end: position + open.tagLength)
                }
            case .content: if let progress = readContent(&open) { return progress }
            case .passage(let end):
                guard let next = index(after: end, from: position + open.length) else {
                    open.length = max(open.length, buffer.count - position - (end.count - 1))
                    return .incomplete
                }
                (open.phase, open.length) = (.content, next - position)
            case .endTag:
                if let end = index(of: Self.greater, from: position + open.length) { return .found(end: end + 1) }
                open.length = buffer.count - position
                return .incomplete
            }
        }
    }

    /// Reads up to the end of the start tag. A `>` in the quotes of a value does not count, unless a `<` follows first:
    /// then the quote was never closed.
    /// - Returns: nil at the end of the tag.
    private func readStartTag(_ open: inout OpenElement, _ quote: UInt8, _ firstEnd: Int?) -> Progress? {
        let start = position + open.length
        var (quote, firstEnd, index) = (quote, firstEnd, start)
        defer { StepCounter.add(1 + index - start) }
        while index < buffer.count {
            let byte = buffer[index]
            let length = index + 1 - position
            if byte == Self.greater {
                if quote == 0 || quote == Self.less { return endStartTag(&open, length) }
                firstEnd = firstEnd ?? length
            } else if byte == Self.less {
                guard canJudge(index) else { break }
                let isElement = kind(at: index) != nil
                if isElement || quote != 0, let firstEnd { return endStartTag(&open, firstEnd) }
                if isElement { return .damaged(end: index) }
                if quote != 0 { quote = Self.less }
            } else if byte == quote {
                quote = 0
            } else if quote == 0, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            index += 1
        }
        (open.phase, open.length) = (.startTag(quote: quote, firstEnd: firstEnd), index - position)
        return .incomplete
    }

    private func endStartTag(_ open: inout OpenElement, _ length: Int) -> Progress? {
        (open.phase, open.length, open.tagLength) = (.content, length, length)
        return nil
    }

    /// Reads up to the end tag, or to a comment or character data.
    /// - Returns: nil if another phase has begun.
    private func readContent(_ open: inout OpenElement) -> Progress? {
        let name = open.kind == .channel ? Self.channelEnd : Self.programEnd
        while let next = index(of: Self.less, from: position + open.length) {
            open.length = next - position
            guard canJudge(next) else { return .incomplete }
            if matches(name, at: next), isTagNameEnd(next + name.count) {
                open.phase = .endTag
                return nil
            }
            if kind(at: next) != nil { return .damaged(end: next) }
            open.length += 1
            for (word, end) in Self.passages where matches(word, at: next) {
                open.phase = .passage(until: end)
                return nil
            }
        }
        open.length = buffer.count - position
        return .incomplete
    }
}

// MARK: - Bytes

extension GuideScanner {
    private static let less = UInt8(ascii: "<")
    private static let greater = UInt8(ascii: ">")
    private static let program = Array("<programme".utf8)
    private static let channel = Array("<channel".utf8)
    private static let programEnd = Array("</programme".utf8)
    private static let channelEnd = Array("</channel".utf8)
    private static let comment = Array("<!--".utf8)
    private static let commentEnd = Array("-->".utf8)
    private static let characterData = Array("<![CDATA[".utf8)
    private static let characterDataEnd = Array("]]>".utf8)
    private static let passages = [(comment, commentEnd), (characterData, characterDataEnd)]
    private static let instruction = Array("<?".utf8)
    private static let documentType = Array("<!DOCTYPE".utf8)

    private func index(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        defer { StepCounter.add(1 + index - start) }
        while index < buffer.count {
            if buffer[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// The index after the first `word` that begins at `start` or later.
    private func index(after word: [UInt8], from start: Int) -> Int? {
        var index = start
        while let next = self.index(of: word[0], from: index) {
            if matches(word, at: next) { return next + word.count }
            index = next + 1
        }
        return nil
    }

    private func matches(_ word: [UInt8], at start: Int) -> Bool {
        guard start + word.count <= buffer.count else { return false }
        for offset in word.indices where buffer[start + offset] != word[offset] { return false }
        return true
    }

    private func isTagNameEnd(_ index: Int) -> Bool {
        guard index < buffer.count else { return isFinished }
        let byte = buffer[index]
        return XMLCharacter.isSpace(byte) || byte == Self.greater || byte == UInt8(ascii: "/")
    }

    /// Drops text up to and including `end`. Returns false if more text is needed.
    private mutating func skip(until end: [UInt8]) -> Bool {
        if let next = index(after: end, from: position) {
            begin(.text, at: next)
            return true
        }
        position = isFinished ? buffer.count : max(position, buffer.count - (end.count - 1))
        return false
    }

    private mutating func skipDeclaration(_ brackets: Int, _ quote: UInt8) {
        var (brackets, quote) = (brackets, quote)
        let start = position
        defer { StepCounter.add(1 + position - start) }
        while position < buffer.count {
            let byte = buffer[position]
            position += 1
            switch byte {
            case quote: quote = 0
            case _ where quote != 0: continue
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "["): brackets += 1
            case UInt8(ascii: "]"): brackets -= 1
            case Self.greater where brackets <= 0:
                state = .text
                return
            default: continue
            }
        }
        state = .declaration(brackets: brackets, quote: quote)
    }
}

/// A `channel` or `programme` element of an XMLTV guide, as its bytes.
struct GuideElement: Equatable, Sendable {
    enum Kind: Equatable, Sendable { case channel, program }

    let kind: Kind
    /// From `<` of the start tag to `>` of the end tag.
    let bytes: ArraySlice<UInt8>
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
