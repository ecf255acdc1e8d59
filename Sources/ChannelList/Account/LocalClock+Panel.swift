import Support

extension LocalClock {
    /// The clocks of the world differ by quarters of an hour.
    private static let step: Int64 = 900

    /// Reads a panel's statements about its clock (`server_info` of `player_api.php`).
    ///
    /// `timezone` takes precedence. If it is not the name of a zone, the difference of `time_now`, which is local, and
    /// `timestamp_now` is used.
    /// - Returns: the clock, nil if the panel makes no usable statement; and whether its statements contradict each
    ///   other.
    static func ofPanel(_ info: LooseJSON) -> (clock: LocalClock?, isContradictory: Bool) {
        let named = info["timezone"].text.flatMap { LocalClock(zone: String($0.trimmingWhiteSpace)) }
        guard let now = info["timestamp_now"].text.flatMap({ Int64($0) }), let date = info["time_now"].text,
            let local = ProgramDateTime(parsing: date.replacing(" ", with: "T"))
        else { return (named, false) }
        let distance = local.millisecondsSince1970 / 1000 - now
        let (steps, rest) = distance.quotientAndRemainder(dividingBy: step)
        let rounded = (steps + rest / (step / 2)) * step
        guard let measured = LocalClock(secondsAhead: rounded) else { return (named, false) }
        guard let named else { return (measured, false) }
        return (named, named.secondsAhead(at: now) != rounded)
    }
}
