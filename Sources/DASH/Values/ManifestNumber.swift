import Support

/// A number that a manifest says, with the range in which it is accepted where it is read.
///
/// Sums of accepted numbers cannot overflow, neither over all segments of a manifest nor over the life of a channel.
package enum ManifestNumber: String, CaseIterable, Sendable {
    /// timescale: units in a second.
    case timescale
    /// t, d and presentationTimeOffset, in units of a timescale.
    case mediaTime
    /// startNumber and endNumber.
    case segmentNumber
    /// r: how often an S is repeated. -1 is read apart.
    case repeatCount
    /// bandwidth in bits per second.
    case bitRate
    /// width and height.
    case pixels
    /// Seconds of a duration, without their fraction. 317 years.
    case seconds
    /// The bounds of a byte range.
    case bytePosition

    package var range: ClosedRange<UInt64> {
        switch self {
        // A unit is a nanosecond at least, so that no segment lasts nothing.
        case .timescale: 1...1_000_000_000
        case .mediaTime, .segmentNumber: 0...(1 << 60)
        case .repeatCount: 0...UInt64(Int32.max)
        case .bitRate: 0...1_000_000_000_000
        case .pixels: 1...65_536
        case .seconds: DecimalSeconds.wholeSeconds
        case .bytePosition: 0...(1 << 62)
        }
    }

    /// The value of a decimal number; nil for other text, and for a number that is out of range.
    package func value(_ text: String) -> UInt64? {
        decimalInteger(text.utf8).flatMap { range.contains($0) ? $0 : nil }
    }
}

extension Duration {
    /// Reads a duration of XML Schema, such as `PT1H2M3.5S` or `P1D`. A year has 365 days, and a month 30. nil for other
    /// text, and out of the range of `ManifestNumber.seconds`.
    package init?(isoText text: String) {
        guard text.first == "P" else { return nil }
        var sum = Duration.zero
        var (isTime, hasPart) = (false, false)
        var digits = ""
        for character in text.dropFirst() {
            switch character {
            case "0"..."9", ".": digits.append(character)
            case "T": if isTime || !digits.isEmpty { return nil } else { isTime = true }
            default:
                guard let unit = Self.unit(character, isTime: isTime), let count = DecimalSeconds.duration(digits),
                    count.components.seconds <= Int64(ManifestNumber.seconds.range.upperBound) / unit
                else { return nil }
                sum += count * Int(unit)
                (digits, hasPart) = ("", true)
            }
        }
        guard hasPart, digits.isEmpty, sum.components.seconds <= ManifestNumber.seconds.range.upperBound else {
            return nil
        }
        self = sum
    }

    private static func unit(_ name: Character, isTime: Bool) -> Int64? {
        switch (name, isTime) {
        case ("Y", false): 365 * 86_400
        case ("M", false): 30 * 86_400
        case ("W", false): 7 * 86_400
        case ("D", false): 86_400
        case ("H", true): 3600
        case ("M", true): 60
        case ("S", true): 1
        default: nil
        }
    }
}
