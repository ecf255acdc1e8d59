import Support

/// A URL with identifiers such as `$Number%05d$` (ISO/IEC 23009-1 §5.3.9.4.4).
package struct URLTemplate: Equatable, Sendable {
    private enum Part: Equatable, Sendable {
        case text(String)
        case id
        /// - Parameter width: the least number of digits.
        case bandwidth(width: Int)
        case number(width: Int)
        case time(width: Int)
    }

    private var parts: [Part] = []

    /// The identifiers of one template, and the least number of digits.
    private static let (mostParts, widest) = (64, 32)

    /// nil for an identifier that is unknown, does not end, or is too wide, and for too many of them.
    package init?(_ text: String) {
        var isIdentifier = false
        for text in text.split(separator: "$", omittingEmptySubsequences: false) {
            guard parts.count < Self.mostParts else { return nil }
            if isIdentifier {
                guard let part = Self.part(text) else { return nil }
                parts.append(part)
            } else if !text.isEmpty {
                parts.append(.text(String(text)))
            }
            isIdentifier.toggle()
        }
        // An even number of parts leaves an identifier open.
        guard isIdentifier else { return nil }
    }

    private static func part(_ identifier: Substring) -> Part? {
        let parts = identifier.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first else { return nil }
        if name.isEmpty { return .text("$") }
        if name == "RepresentationID" { return parts.count == 1 ? .id : nil }
        var width = 1
        if parts.count == 2 {
            guard parts[1].hasPrefix("0"), parts[1].hasSuffix("d"),
                let digits = decimalInteger(parts[1].dropFirst().dropLast().utf8), digits <= UInt64(widest)
            else { return nil }
            width = Int(digits)
        }
        switch name {
        case "Bandwidth": return .bandwidth(width: width)
        case "Number": return .number(width: width)
        case "Time": return .time(width: width)
        default: return nil
        }
    }

    /// Whether the segments of a representation have URLs of their own.
    package var namesSegments: Bool {
        parts.contains { part in
            switch part {
            case .number, .time: true
            case .text, .id, .bandwidth: false
            }
        }
    }

    package func text(id: String, bandwidth: Int, number: UInt64 = 0, time: UInt64 = 0) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let plain): text += plain
            case .id: text += id
            case .bandwidth(let width): text += DecimalSeconds.padded(UInt64(bandwidth), to: width)
            case .number(let width): text += DecimalSeconds.padded(number, to: width)
            case .time(let width): text += DecimalSeconds.padded(time, to: width)
            }
        }
        return text
    }
}
