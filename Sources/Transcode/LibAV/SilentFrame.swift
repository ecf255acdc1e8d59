/// An encoded audio frame that decodes to silence.
package struct SilentFrame: Equatable, Sendable {
    package let payload: [UInt8]
    /// Samples per channel, at the configuration's sample rate.
    package let samples: Int
}
