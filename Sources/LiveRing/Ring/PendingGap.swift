/// Published time without media that is not in the journal yet, because the journal could not be written.
struct PendingGap: Equatable, Sendable {
    /// Of more gaps, the oldest are dropped. A discontinuity follows the gaps in any case.
    static let limit = 1024

    /// 90 kHz ticks.
    let duration: Int64
    /// The clocks of the channel after the gap.
    let resumePoint: ResumePoint
}
