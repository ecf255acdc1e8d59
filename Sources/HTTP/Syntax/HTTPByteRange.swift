import Support

/// The part of a representation of known size that a `Range` field requests (RFC 9110 §14.1.2, §14.2).
package enum HTTPByteRange: Equatable, Sendable {
    /// The whole representation, because the field requests no usable range: status 200.
    case whole
    /// A non-empty range inside the representation: status 206.
    case part(Range<Int>)
    /// A well-formed range that contains no byte of the representation: status 416.
    case unsatisfiable

    /// Parses a field. A malformed field, another unit or several ranges request the whole: §14.2 lets a server ignore
    /// any Range, and no player needs multipart/byteranges.
    package init(field: String?, byteCount: Int) {
        self = field.flatMap { Self.requested(by: $0, of: byteCount) } ?? .whole
    }

    /// nil where §14.2 lets a server ignore the field.
    private static func requested(by field: String, of byteCount: Int) -> HTTPByteRange? {
        guard let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else { return nil }
        let text = field[field.index(after: equals)...].trimmingBlanks
        guard let dash = text.firstIndex(of: "-") else { return nil }
        let (before, after) = (text[..<dash], text[text.index(after: dash)...])
        if before.isEmpty {
            guard let length = position(after) else { return nil }
            if length == 0 { return .unsatisfiable }
            // Content-Range cannot express an empty range, so the suffix of an empty representation is the whole.
            return byteCount == 0 ? .whole : .part(max(0, byteCount - length)..<byteCount)
        }
        guard let first = position(before), let last = after.isEmpty ? .max : position(after), first <= last else {
            return nil
        }
        return first < byteCount ? .part(first..<min(last, byteCount - 1) + 1) : .unsatisfiable
    }

    /// One or more digits; `Int.max` for a number that does not fit.
    private static func position(_ digits: Substring) -> Int? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits) ?? Int.max
    }
}
