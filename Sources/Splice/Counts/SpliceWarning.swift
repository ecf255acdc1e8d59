/// What an operator has to know of an upstream that is published all the same; said once.
package enum SpliceWarning: Hashable, Sendable {
    /// Audio tracks of fragmented MP4 in codecs that cannot be republished, by their sample entries.
    case unsupportedAudio([String])
    /// No random access point came, so a period begins with a frame that none is announced for.
    case noRandomAccessPoint
    /// No video has come for `StillFrame.longest`, so the channel goes on with its audio alone.
    case videoTimedOut
    /// Video was written before all that belongs to it had come, because too much of it was held.
    case mediaReleased
}
