import Fetch

/// Age and max-age of an answer that may come from a cache (RFC 9111 §5.1, §5.2.2).
struct CacheFreshness: Equatable, Sendable {
    /// The time since the origin generated the answer; zero if no cache said so.
    var age = Duration.zero
    /// The time for which a cache may repeat the answer; zero if it may not, or if nothing was said.
    var maxAge = Duration.zero

    /// Values above a day are read as a day.
    static let longest = 86_400

    /// The time for which a cache repeats an answer that has just arrived.
    ///
    /// A cache that counts whole seconds repeats it for up to a second longer. A `max-age` without a cache delays no
    /// load for long: it counts only up to half a segment until a cache shows itself by an Age.
    ///
    /// - Parameters:
    ///   - segmentDuration: of the longest of the last segments.
    ///   - hasSeenCache: whether any answer had an Age of at least a second.
    func repeatTime(segmentDuration: Duration, hasSeenCache: Bool) -> Duration {
        guard maxAge > .zero else { return .zero }
        let rest = max(.zero, maxAge - age)
        if hasSeenCache { return rest }
        let longest = rest + .seconds(1)
        return longest <= segmentDuration / 2 ? longest : .zero
    }
}

extension FetchAnswer {
    var cacheFreshness: CacheFreshness {
        var freshness = CacheFreshness()
        if let age = header("age").flatMap({ Self.wholeSeconds($0[...]) }) { freshness.age = age }
        let directives = (header("cache-control") ?? "").lowercased().split { $0 == "," || $0 == " " }
        if directives.contains("no-store") || directives.contains("no-cache") { return freshness }
        // A shared cache obeys s-maxage before max-age.
        for name in ["s-maxage=", "max-age="] {
            guard let directive = directives.first(where: { $0.hasPrefix(name) }) else { continue }
            freshness.maxAge = Self.wholeSeconds(directive.dropFirst(name.count)) ?? .zero
            break
        }
        return freshness
    }

    private static func wholeSeconds(_ text: Substring) -> Duration? {
        let digits = text.drop { $0 == "\"" }.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty else { return nil }
        return .seconds(min(Int(digits) ?? CacheFreshness.longest, CacheFreshness.longest))
    }
}
