import Support

extension Duration {
    /// The duration in seconds, rounded to milliseconds; for people and graphs, never for a decision.
    package var seconds: Double { (inSeconds * 1000).rounded() / 1000 }

    /// The duration in whole seconds, rounded up; at least 1.
    var secondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}
