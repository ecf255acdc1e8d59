import ArgumentParser
import Support

/// A duration on the command line: `90`, `90s`, `15m`, `2h`.
struct TimeSpan: ExpressibleByArgument, Equatable, Sendable {
    let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = argument.last.flatMap { units[$0] }
        guard let count = Int64(unit == nil ? argument[...] : argument.dropLast()), count >= 0 else { return nil }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow, seconds <= Self.maximum else { return nil }
        self.seconds = seconds
    }

    /// A year, in seconds; a larger value is a typing error.
    private static let maximum: Int64 = 366 * 86_400

    var duration: Duration { .seconds(seconds) }
    var defaultValueDescription: String { "\(seconds)s" }
}

/// A number of bytes on the command line: `4096`, `512KiB`, `64MiB`, `1GiB`. `64M` and `64MB` equal `64MiB`.
struct ByteCount: ExpressibleByArgument, Equatable, Sendable {
    let bytes: Int

    init(_ bytes: Int) { self.bytes = bytes }

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let shift = Self.shifts.firstIndex { $0.contains(argument[digits.endIndex...].lowercased()) }
        guard let count = Int(digits), count > 0, let shift, count <= Self.maximum >> (10 * shift) else { return nil }
        bytes = count << (10 * shift)
    }

    private static let shifts = [["", "b"], ["k", "kb", "kib"], ["m", "mb", "mib"], ["g", "gb", "gib"]]

    private static let maximum = MemoryBudget.largestLimit

    var defaultValueDescription: String {
        let shift = min(30, bytes.trailingZeroBitCount / 10 * 10)
        return "\(bytes >> shift)\(["B", "KiB", "MiB", "GiB"][shift / 10])"
    }
}

/// An HTTP header on the command line: `Name: value`.
struct HeaderArgument: ExpressibleByArgument, Equatable, Sendable {
    let name: String
    let value: Secret

    init?(argument: String) {
        // Header names (RFC 9110 §5.6.2) contain neither separator, so the first one ends the name.
        guard let separator = argument.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
        let name = argument[..<separator].trimmingBlanks
        let value = argument[argument.index(after: separator)...].trimmingBlanks
        let isToken = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
        guard !name.isEmpty, isToken, !value.utf8.contains(where: { $0 < 0x20 }) else { return nil }
        self.name = String(name)
        self.value = Secret(String(value))
    }
}
