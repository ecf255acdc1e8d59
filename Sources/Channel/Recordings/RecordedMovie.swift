package import Media
package import Mux

/// The sample tables of a recording as an MP4 file, whose media data is the payloads of its parts in order.
package struct RecordedMovie: Sendable {
    private struct Configurations: Equatable {
        let video: VideoConfiguration?
        let audio: AudioConfiguration?
    }

    private var writer = MovieWriter()
    private var video: VideoConfiguration?
    private var audio: AudioConfiguration?
    private var descriptions: (configurations: Configurations, value: TrackDescriptions)?
    /// When the first frame is presented.
    private var start: Ticks?

    package init() {}

    package mutating func append(_ part: RecordedMedia.Part) throws(MediaError) {
        video = part.videoConfiguration ?? video
        audio = part.audioConfiguration ?? audio
        let configurations = Configurations(video: video, audio: audio)
        if descriptions?.configurations != configurations {
            let section = try InitWriter.write(video: video, audio: audio)
            descriptions = (configurations, try TrackDescriptions(section.bytes))
        }
        guard let descriptions = descriptions?.value else { return }
        if start == nil { start = part.start }
        for (track, frames) in [(TrackID.video, part.video), (TrackID.audio, part.audio)] {
            guard let first = frames.first else { continue }
            let samples = frames.map {
                FragmentTrack.Sample(
                    duration: $0.duration, compositionOffset: $0.compositionOffset,
                    isRandomAccessPoint: $0.isRandomAccessPoint, byteCount: $0.byteCount)
            }
            writer.append(samples, of: track, at: first.decodeTime, as: descriptions)
        }
    }

    /// Everything before the media data.
    package func head(lasting duration: Ticks, chapters: [MovieWriter.Chapter], title: String) -> [UInt8] {
        let start = start ?? .zero
        return writer.head(presenting: start..<start + duration, chapters: chapters, title: title)
    }
}

extension RecordedMedia.Part {
    /// The earliest presentation time of its video, else of its audio; nil if it is empty.
    package var start: Ticks? {
        video.map { Ticks($0.decodeTime + Int64($0.compositionOffset)) }.min()
            ?? audio.first.map { Ticks($0.decodeTime.rescaled(Ticks.perSecond, over: TrackTimescale.audio)) }
    }

    /// The bytes of its samples in the order of `RecordedMovie`.
    package var payload: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((video + audio).reduce(0) { $0 + $1.byteCount })
        for frame in video + audio {
            for part in frame.bytes { bytes += part }
        }
        return bytes
    }

    /// Its frames as those of a Matroska file.
    /// - Parameter origin: where the file begins.
    package func frames(from origin: Ticks) -> [MatroskaWriter.Frame] {
        let video = video.map { frame in
            MatroskaWriter.Frame(
                isVideo: true, time: Ticks(frame.decodeTime + Int64(frame.compositionOffset)) - origin,
                decodeTime: Ticks(frame.decodeTime) - origin, isRandomAccessPoint: frame.isRandomAccessPoint,
                bytes: frame.bytes)
        }
        let audio = audio.map { frame in
            let time = Ticks(frame.decodeTime.rescaled(Ticks.perSecond, over: TrackTimescale.audio)) - origin
            return MatroskaWriter.Frame(
                isVideo: false, time: time, decodeTime: time, isRandomAccessPoint: true, bytes: frame.bytes)
        }
        return video + audio
    }
}
