/// What a `Range` field asks of a representation whose size is known (RFC 9110 §14.1.2, §14.2).
enum HTTPByteRange: Equatable, Sendable {
    /// No usable range was asked for: the whole representation, status 200.
    case whole
    /// A range that lies in the representation and is not empty: status 206.
    case part(Range<Int>)
    /// A well-formed range that the representation has no byte of: status 416.
    case unsatisfiable

    /// A field that is malformed, of another unit, or that lists several ranges asks for the whole: §14.2 lets a server
    /// ignore any Range, and no player needs multipart/byteranges.
    init(field: String?, byteCount: Int) {
        guard let field, let set = Self.set(ofField: field) else {
            self = .whole
            return
        }
        switch set {
        case .from(let first, let last):
            let end = min(last ?? Int.max, byteCount - 1)
            self = first < byteCount ? .part(first..<end + 1) : .unsatisfiable
        case .suffix(let length) where length == 0:
            self = .unsatisfiable
        case .suffix(let length):
            // The last bytes of nothing are nothing, which Content-Range cannot express.
            self = byteCount == 0 ? .whole : .part(max(0, byteCount - length)..<byteCount)
        }
    }

    private enum Specification {
        case from(first: Int, last: Int?)
        case suffix(length: Int)
    }

    /// The one range-spec of a field, or nil where §14.2 has it ignored.
    private static func set(ofField field: String) -> Specification? {
        guard let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else { return nil }
        let text = field[field.index(after: equals)...].trimmingWhitespace
        guard let dash = text.firstIndex(of: "-") else { return nil }
        let (before, after) = (text[..<dash], text[text.index(after: dash)...])
        if before.isEmpty { return position(after).map { .suffix(length: $0) } }
        guard let first = position(before) else { return nil }
        if after.isEmpty { return .from(first: first, last: nil) }
        guard let last = position(after), first <= last else { return nil }
        return .from(first: first, last: last)
    }

    /// One or more digits; a number that no file reaches counts as the largest `Int`.
    private static func position(_ digits: Substring) -> Int? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits) ?? Int.max
    }
}

extension StringProtocol {
    /// Without the spaces and tabs (OWS, RFC 9110 §5.6.3) at both ends.
    var trimmingWhitespace: SubSequence {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = firstIndex { !isBlank($0) } ?? endIndex
        let end = self[start...].lastIndex { !isBlank($0) }
        return end.map { self[start...$0] } ?? self[start..<start]
    }
}
