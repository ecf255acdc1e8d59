import Support

/// The bytes of a resource in an answer, whatever its status says (RFC 9110 §14.4, §15.3.7).
///
/// Neither the status nor Content-Range is trusted. Both are compared with the length of the body and with the
/// requested range: some origins label a whole file as the requested part.
package struct ResourcePart: Equatable, Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// The body ends before the range does.
        case short
        /// The answer contains other bytes, or does not say which.
        case wrong
    }

    /// The bytes of the range.
    package let bytes: [UInt8]
    /// The size of the whole resource; nil if the answer does not state it.
    package let resourceSize: UInt64?

    /// - Parameters:
    ///   - answer: a successful answer.
    ///   - range: the requested range; nil: the whole resource.
    ///   - mayEndEarly: whether the range may extend beyond the end of the resource. The size must be known then.
    package init(
        of answer: FetchAnswer, range: Range<UInt64>?, mayEndEarly: Bool = false
    ) throws(Failure) {
        let count = UInt64(answer.body.count)
        let contentRange = answer.status == 206 ? answer.header("content-range").flatMap { ContentRange($0) } : nil
        guard let range else {
            guard answer.status == 206, let contentRange, !contentRange.isWhole, contentRange.size != count else {
                (bytes, resourceSize) = (answer.body, count)
                return
            }
            throw .short
        }
        let extent = try Extent(answer.status, contentRange, byteCount: count, asked: range)
        let size = extent.resourceSize
        guard !mayEndEarly || size != nil else { throw .wrong }
        let wanted = mayEndEarly ? range.clamped(to: 0..<(size ?? range.upperBound)) : range
        guard extent.start <= wanted.lowerBound else { throw .wrong }
        // Neither difference can be larger than the body, once the end is known to be inside it.
        guard wanted.upperBound - extent.start <= count, !wanted.isEmpty || range.isEmpty else { throw .short }
        resourceSize = size
        guard wanted.count != answer.body.count else {
            bytes = answer.body
            return
        }
        bytes = Array(answer.body[Int(wanted.lowerBound - extent.start)..<Int(wanted.upperBound - extent.start)])
    }

    /// The position of a body in its resource.
    private struct Extent {
        let start: UInt64
        let resourceSize: UInt64?

        init(_ status: Int, _ field: ContentRange?, byteCount: UInt64, asked: Range<UInt64>) throws(Failure) {
            let askedCount = asked.upperBound - asked.lowerBound
            guard status == 206 else {
                // An origin without ranges sends everything. Some send the part with another status.
                let isPart = asked.lowerBound > 0 && byteCount == askedCount
                (start, resourceSize) = isPart ? (asked.lowerBound, nil) : (0, byteCount)
                return
            }
            guard let field else {
                // Without a label, only the length shows whether the part was returned.
                guard byteCount <= askedCount || asked.lowerBound == 0 else { throw .wrong }
                (start, resourceSize) = (asked.lowerBound, nil)
                return
            }
            switch byteCount {
            case field.last - field.first + 1: (start, resourceSize) = (field.first, field.size)
            case field.size: (start, resourceSize) = (0, field.size)
            // A last position that is one too high is a common mistake.
            case askedCount where field.first == asked.lowerBound: (start, resourceSize) = (field.first, field.size)
            case ..<askedCount: throw .short
            default: throw .wrong
            }
        }
    }
}

/// Content-Range of a part (RFC 9110 §14.4).
private struct ContentRange {
    /// The positions of the first and the last byte.
    let first: UInt64
    let last: UInt64
    /// The size of the whole resource; nil if it is unknown.
    let size: UInt64?

    /// nil for malformed text, and for positions outside the resource.
    init?(_ text: String) {
        let fields = text.lowercased().split { " -/=:".contains($0) }
        guard fields.count == 4, fields[0] == "bytes", let first = decimalInteger(fields[1].utf8),
            let last = decimalInteger(fields[2].utf8), first <= last, last < .max
        else { return nil }
        size = decimalInteger(fields[3].utf8)
        guard size.map({ last < $0 }) ?? (fields[3] == "*") else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// Whether the part is all of the resource.
    var isWhole: Bool { first == 0 && (size.map { last + 1 == $0 } ?? true) }
}
