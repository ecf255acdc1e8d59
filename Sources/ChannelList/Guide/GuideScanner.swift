/// Finds the channels and programs in the text of an XMLTV guide, which comes in parts of any size.
///
/// Guides have 100 MB and more, and many are not well-formed. So nothing but the boundaries of these elements is looked
/// for: an element that is damaged costs only itself. Nothing is expanded: a DTD, and entities that it declares, are
/// passed over.
package struct GuideScanner {
    /// What was found, and what had to be dropped.
    package struct Counts: Equatable, Sendable {
        package var channels = 0
        package var programs = 0
        /// Elements without an end, or longer than allowed.
        package var damaged = 0

        package init() {}
    }

    /// Where text is passed over.
    private enum State {
        case text
        /// Until these bytes.
        case skipping(until: [UInt8])
        /// Inside `<!DOCTYPE`: number of open brackets, and the quote that is open.
        case declaration(brackets: Int, quote: UInt8)
    }

    package private(set) var counts = Counts()
    private var buffer: [UInt8] = []
    private var position = 0
    private var state = State.text
    private var isFinished = false
    private let limits: GuideLimits

    package init(limits: GuideLimits = GuideLimits()) { self.limits = limits }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.removeSubrange(..<position)
        position = 0
        buffer.append(contentsOf: bytes)
    }

    /// Nothing is appended any more.
    package mutating func finish() { isFinished = true }

    /// The next element; nil if more text is needed, or at the end.
    package mutating func next() -> GuideElement? {
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
                switch markup(at: open) {
                case .incomplete: return nil
                case .skipped: continue
                case .element(let element): return element
                }
            }
        }
        return nil
    }

    private enum Markup {
        case incomplete
        case skipped
        case element(GuideElement)
    }

    /// Judges what begins with `<` at `open`.
    private mutating func markup(at open: Int) -> Markup {
        // The longest word that decides is "<programme" with the byte after it.
        guard isFinished || open + 11 < buffer.count else { return .incomplete }
        if let kind = kind(at: open) { return element(kind, at: open) }
        if matches(Self.comment, at: open) {
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
        return .skipped
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

    /// Returns the element that begins at `open`, if its end is here.
    private mutating func element(_ kind: GuideElement.Kind, at open: Int) -> Markup {
        guard let tagEnd = endOfTag(from: open) else { return missingEnd(at: open) }
        if buffer[tagEnd - 2] == UInt8(ascii: "/") { return found(kind, open..<tagEnd, tagEnd: tagEnd) }
        let name = kind == .channel ? Self.channelEnd : Self.programEnd
        var index = tagEnd
        while let next = self.index(of: Self.less, from: index) {
            guard isFinished || next + 11 < buffer.count else { return missingEnd(at: open) }
            if matches(name, at: next), isTagNameEnd(next + name.count) {
                guard let end = self.index(of: Self.greater, from: next) else { return missingEnd(at: open) }
                return found(kind, open..<end + 1, tagEnd: tagEnd)
            }
            if self.kind(at: next) != nil { return damaged(upTo: next) }
            guard let passed = endOfSkipped(at: next) else { return missingEnd(at: open) }
            index = passed
        }
        return missingEnd(at: open)
    }

    /// The index after a comment or character data that begins at `open`; the index after `open` if there is none; nil
    /// if the end is missing.
    private func endOfSkipped(at open: Int) -> Int? {
        let terminator: [UInt8]
        if matches(Self.comment, at: open) {
            terminator = Self.commentEnd
        } else if matches(Self.characterData, at: open) {
            terminator = Self.characterDataEnd
        } else {
            return open + 1
        }
        var index = open
        while let next = self.index(of: terminator[0], from: index) {
            if matches(terminator, at: next) { return next + terminator.count }
            index = next + 1
        }
        return nil
    }

    private mutating func found(_ kind: GuideElement.Kind, _ range: Range<Int>, tagEnd: Int) -> Markup {
        position = range.upperBound
        guard range.count <= limits.elementBytes else {
            counts.damaged += 1
            return .skipped
        }
        switch kind {
        case .channel: counts.channels += 1
        case .program: counts.programs += 1
        }
        return .element(GuideElement(kind: kind, bytes: buffer[range], startTag: range.lowerBound..<tagEnd))
    }

    /// More text may have the end of the element at `open`, unless it is too long already.
    private mutating func missingEnd(at open: Int) -> Markup {
        guard isFinished || buffer.count - open > limits.elementBytes else { return .incomplete }
        return damaged(upTo: open + 1)
    }

    private mutating func damaged(upTo index: Int) -> Markup {
        counts.damaged += 1
        position = index
        return .skipped
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
    private static let instruction = Array("<?".utf8)
    private static let documentType = Array("<!DOCTYPE".utf8)

    private func index(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index < buffer.count {
            if buffer[index] == byte { return index }
            index += 1
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

    /// The index after the `>` of a start tag. A `>` in the quotes of a value does not count, unless a `<` follows
    /// first: then the quote was never closed.
    private func endOfTag(from open: Int) -> Int? {
        var quote: UInt8 = 0
        var index = open + 1
        while index < buffer.count {
            let byte = buffer[index]
            index += 1
            if quote != 0 {
                if byte == quote { quote = 0 }
                if byte == Self.less { return self.index(of: Self.greater, from: open).map { $0 + 1 } }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == Self.greater {
                return index
            }
        }
        return nil
    }

    /// Drops text up to and including `end`. Returns false if more text is needed.
    private mutating func skip(until end: [UInt8]) -> Bool {
        while let next = index(of: end[0], from: position) {
            if matches(end, at: next) {
                begin(.text, at: next + end.count)
                return true
            }
            guard isFinished || next + end.count <= buffer.count else {
                position = next
                return false
            }
            position = next + 1
        }
        position = buffer.count
        return false
    }

    private mutating func skipDeclaration(_ brackets: Int, _ quote: UInt8) {
        var (brackets, quote) = (brackets, quote)
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
