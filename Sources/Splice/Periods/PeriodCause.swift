/// The reason why a period begins.
package enum PeriodCause: String, CaseIterable, Equatable, Sendable {
    /// The first period of a source.
    case joined
    /// EXT-X-DISCONTINUITY where the clock or the program really changed.
    case tagged
    /// Segments before this point were lost.
    case loss
    /// Other parameter sets, or another elementary stream.
    case configuration
    /// The clock stepped back, or forward by more than a gap can explain.
    case clock
    /// The audio configuration changed while the video configuration did not.
    case audioConfiguration
    /// Media continues after an outage, or after another source.
    case resumed
}
