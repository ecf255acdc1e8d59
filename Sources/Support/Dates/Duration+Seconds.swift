extension Duration {
    /// The duration in seconds, for people and graphs, never for a decision.
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

    /// The duration in milliseconds, truncated.
    package var wholeMilliseconds: Int64 { whole(1000) }

    /// The duration in microseconds, truncated.
    package var wholeMicroseconds: Int64 { whole(1_000_000) }

    /// The duration in units of which a second has `count`, truncated; the nearest number if it does not fit into 64 bits.
    private func whole(_ count: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: count)
        let (sum, exceeds) = product.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / count))
        guard overflows || exceeds else { return sum }
        return seconds < 0 ? .min : .max
    }

    /// `8 s`, `1.5 s`.
    package var secondsText: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(abs(tenths % 10)) s"
    }
}
