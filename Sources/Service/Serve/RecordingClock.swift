import Support

/// The wall clock, and a function that waits for a date.
struct RecordingClock: Sendable {
    let now: @Sendable () -> ProgramDateTime
    /// Waits for a date; returns at once for a past date. Throws if the task is canceled earlier.
    let sleep: @Sendable (_ date: ProgramDateTime) async throws -> Void

    static let wall = RecordingClock(
        now: { ProgramDateTime(millisecondsSince1970: WallClock.milliseconds) },
        sleep: { date in
            try await Task.sleep(for: .milliseconds(max(0, date.millisecondsSince1970 - WallClock.milliseconds)))
        })
}
