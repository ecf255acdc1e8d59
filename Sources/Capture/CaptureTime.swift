import Foundation

/// A time in an index: decimal seconds as a JSON number or string, exact to the microsecond without binary rounding.
struct CaptureTime: Equatable, Codable {
    /// The longest recording, in seconds: thirty years.
    private static let limit = Decimal(1_000_000_000)

    let duration: Duration

    init(duration: Duration) { self.duration = duration }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try? value.decode(String.self)
        let seconds = if let text { Self.decimal(text) } else { try value.decode(Decimal.self) }
        guard let seconds, seconds >= 0, seconds < Self.limit else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a time in seconds")
        }
        var exact = seconds * 1_000_000
        var rounded = Decimal()
        unsafe NSDecimalRound(&rounded, &exact, 0, .plain)
        duration = .microseconds(NSDecimalNumber(decimal: rounded).int64Value)
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(Decimal(sign: .plus, exponent: -6, significand: Decimal(microseconds)))
    }

    private var microseconds: Int64 {
        duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    }

    /// Parses digits with at most one decimal point; `Decimal(string:)` would ignore trailing characters.
    private static func decimal(_ text: String) -> Decimal? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        return isNumber ? Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) : nil
    }
}
