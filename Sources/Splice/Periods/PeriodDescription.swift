import Demux
package import Media
import Support

/// Description of a period for the multivariant playlist and the status page.
package struct PeriodDescription: Equatable, Sendable {
    /// Number of periods before this one since the process began.
    package let index: Int
    package let cause: PeriodCause
    package let video: VideoFormat?
    /// Codec string of RFC 6381; nil if the period has no audio.
    package let audioCodec: String?

    package struct VideoFormat: Equatable, Sendable {
        package let codec: String
        /// Size in square pixels as displayed: after cropping, and with the sample aspect ratio applied to the width.
        package let width: Int
        package let height: Int
        /// Frames per second with three decimals, for example "29.970".
        package let frameRate: String
        package let videoRange: VideoDescription.VideoRange
        /// The SUPPLEMENTAL-CODECS entry; nil if there is none.
        package var supplementalCodec: String?
    }
}

extension PeriodDescription.VideoFormat {
    /// - Parameters:
    ///   - first: first frame of the period, which may carry the video range.
    ///   - frameDuration: frame duration by the timestamps, as a fraction; parameter sets are not reliable.
    init(_ video: VideoDescription, first: VideoPacket, frameDuration: (ticks: Int64, frames: Int64)) {
        let ticks = max(1, frameDuration.ticks)
        let thousandths = (Ticks.perSecond * 2000 * frameDuration.frames + ticks) / (ticks * 2)
        self.init(
            codec: video.codecString, width: Int((video.displayWidth + 0x8000) >> 16), height: video.height,
            frameRate: "\(thousandths / 1000)." + DecimalSeconds.padded(thousandths.magnitude % 1000, to: 3),
            videoRange: first.preferredTransferCharacteristics
                .map(VideoDescription.VideoRange.init) ?? video.videoRange)
        supplementalCodec = video.supplementalCodec
    }
}
