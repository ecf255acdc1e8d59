import Media
import Mux
import Transcode

// The media of a segment's transport stream: in the channel's codecs, without gaps.

extension TransportMedia {
    /// The frames that the transport stream of a segment has instead of the published media.
    struct Replacements: Equatable, Sendable {
        /// Video frames in a foreign codec, or of a channel of audio alone, that are not in the transport stream.
        var foreignFrames = 0
        /// Random access points that stand in for these, or that are sent again while they stand.
        var stills = 0
        /// Audio frames in a foreign codec that are not in the transport stream.
        var foreignAudioFrames = 0
        var silentFrames = 0
    }

    /// Between two stills.
    private static let stillInterval = Ticks.milliseconds(200)
    /// Longest time between two frames, if the first may be sent again. PTS come every 0.7 s (ISO/IEC 13818-1 §2.7.4),
    /// and players that join need a frame soon.
    private static let longestStanding = Ticks.milliseconds(600)

    /// Replaces media in foreign codecs, and media that is missing.
    /// - Parameters:
    ///   - codec: of the video; nil if there is none.
    ///   - compositionDelay: presentation time − decode time of the first video frame of every period.
    ///   - still: the latest random access point before the segment in the channel's codec; nil if there is none.
    mutating func replaceForeignMedia(
        _ state: TransportStreamState, videoCodec codec: VideoConfiguration.Codec?, compositionDelay: Ticks,
        still: VideoSample?
    ) -> Replacements {
        let duration = decoding.upperBound - decoding.lowerBound
        let isAudioOnly = state.program.video == nil
        if isAudioOnly || video.isEmpty {
            let start = isAudioOnly ? presentationStart : presentationStart - compositionDelay
            decoding = start..<start + duration
        }
        var replacements = Replacements()
        if codec == state.program.video {
            replacements.stills = repeatStandingFrames()
        } else {
            replacements.foreignFrames = video.count
            video = isAudioOnly ? [] : still.map(stills) ?? []
            replacements.stills = video.count
        }
        if audioConfiguration.map(state.carries) != true {
            replacements.foreignAudioFrames = audio.count
            audio = state.silence.map(silence) ?? []
            audioConfiguration = audio.isEmpty ? nil : state.silence
            replacements.silentFrames = audio.count
        }
        for (index, track) in furtherAudio.enumerated() where track.frames.isEmpty {
            let frames = silence(in: track.configuration)
            furtherAudio[index] = FurtherAudio(frames: frames, configuration: track.configuration)
            replacements.silentFrames += frames.count
        }
        return replacements
    }

    private func stills(_ still: VideoSample) -> [VideoSample] {
        let delay = presentationStart - decoding.lowerBound
        return stride(
            from: decoding.lowerBound.count, to: decoding.upperBound.count, by: Int(Self.stillInterval.count)
        ).map { time in
            VideoSample(
                decodeTime: Ticks(time), presentationTime: Ticks(time) + delay, isRandomAccessPoint: true,
                payload: still.payload)
        }
    }

    /// Adds copies of random access points that stand for longer than `longestStanding`.
    /// - Returns: the number of copies.
    private mutating func repeatStandingFrames() -> Int {
        func length(at index: Int) -> Int64 {
            let end = index + 1 < video.count ? video[index + 1].decodeTime : decoding.upperBound
            return (end - video[index].decodeTime).count
        }
        let standing = video.indices.filter {
            video[$0].isRandomAccessPoint && length(at: $0) > Self.longestStanding.count
        }
        let count = video.count
        for index in standing.reversed() {
            let (sample, length) = (video[index], length(at: index))
            let copies = (length - 1) / Self.longestStanding.count
            video.replaceSubrange(
                index...index, with: (0...copies).map { sample.moved(by: Ticks(length * $0 / (copies + 1))) })
        }
        return video.count - count
    }

    /// Returns silence for the segment. The frames of consecutive segments are on one grid, so that none overlaps another.
    private func silence(in configuration: AudioConfiguration) -> [AudioFrame] {
        var silence = SilentFrameCache()
        guard let frame = silence.frame(for: configuration) else { return [] }
        let end = presentationStart + (decoding.upperBound - decoding.lowerBound)
        let (rate, samples) = (configuration.sampleRate, Int64(frame.samples))
        let first = { (time: Ticks) in time.count.rescaledUp(Int64(rate.hertz), over: samples * Ticks.perSecond) }
        return (first(presentationStart)..<first(end)).map { number in
            AudioFrame(time: Ticks(samples: number * samples, sampleRate: rate), payload: frame.payload[...])
        }
    }
}

extension TransportMedia.VideoSample {
    fileprivate func moved(by time: Ticks) -> Self {
        Self(
            decodeTime: decodeTime + time, presentationTime: presentationTime + time,
            isRandomAccessPoint: isRandomAccessPoint, payload: payload)
    }
}
