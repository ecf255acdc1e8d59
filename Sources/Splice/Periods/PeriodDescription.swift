import Demux
package import Media

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

extension PeriodDescription {
    /// Description of an audio-only period.
    init(index: Int, cause: PeriodCause, audio: AudioConfiguration) {
        self.index = index
        self.cause = cause
        video = nil
        audioCodec = audio.codecString
    }

    /// - Parameters:
    ///   - first: first frame of the period, which may carry the video range.
    ///   - frameDuration: frame duration by the timestamps, as a fraction; parameter sets are not reliable.
    init(
        index: Int, cause: PeriodCause, video: VideoDescription, first: VideoPacket, audio: AudioConfiguration?,
        frameDuration: (ticks: Int64, frames: Int64)
    ) {
        self.index = index
        self.cause = cause
        audioCodec = audio?.codecString
        self.video = VideoFormat(video, first: first, frameDuration: frameDuration)
    }
}

extension PeriodDescription.VideoFormat {
    init(_ video: VideoDescription, first: VideoPacket, frameDuration: (ticks: Int64, frames: Int64)) {
        let ticks = max(1, frameDuration.ticks)
        let thousandths = (Ticks.perSecond * 2000 * frameDuration.frames + ticks) / (ticks * 2)
        let fraction = String(thousandths % 1000)
        self.init(
            codec: video.codecString, width: Int((video.displayWidth + 0x8000) >> 16), height: video.height,
            frameRate: "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction,
            videoRange: first.preferredTransferCharacteristics
                .map(VideoDescription.VideoRange.init) ?? video.videoRange)
        supplementalCodec = video.supplementalCodec
    }
}
