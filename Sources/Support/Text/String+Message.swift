extension String {
    package var quoted: String { "“\(self)”" }
}

extension Duration {
    /// `8 s`, `1.5 s`.
    package var secondsText: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(abs(tenths % 10)) s"
    }
}
