package import Media
package import Mux

/// The sample tables of a recording as an MP4 file, whose media data is the payloads of its parts in order.
package struct RecordedMovie: Sendable {
    private var writer = MovieWriter()
    private var video: (configuration: VideoConfiguration, descriptions: TrackDescriptions)?
    /// The last period of each audio track, by its number.
    private var audio: [Int: (configuration: AudioConfiguration, descriptions: TrackDescriptions)] = [:]
    /// When the first frame is presented.
    private var start: Ticks?

    package init() {}

    package mutating func append(_ part: RecordedMedia.Part) throws(MediaError) {
        if start == nil { start = part.start }
        if let configuration = part.videoConfiguration, configuration != video?.configuration {
            let section = try InitWriter.write(video: configuration, audio: nil)
            video = (configuration, try TrackDescriptions(section.bytes))
        }
        if let video { append(part.video, of: TrackID.video, as: video.descriptions) }
        for track in part.audio {
            if audio[track.number]?.configuration != track.configuration {
                let section = try InitWriter.write(video: nil, audio: track.configuration)
                audio[track.number] = (track.configuration, try TrackDescriptions(section.bytes))
            }
            guard let descriptions = audio[track.number]?.descriptions else { continue }
            let id = TrackID.audio + UInt32(track.number)
            append(track.frames, of: id, as: descriptions)
            if let language = track.track?.language { writer.setLanguage(language, of: id) }
        }
    }

    private mutating func append(
        _ frames: [RecordedMedia.Frame], of track: UInt32, as descriptions: TrackDescriptions
    ) {
        guard let first = frames.first else { return }
        let samples = frames.map {
            FragmentTrack.Sample(
                duration: $0.duration, compositionOffset: $0.compositionOffset,
                isRandomAccessPoint: $0.isRandomAccessPoint, byteCount: $0.byteCount)
        }
        writer.append(samples, of: track, at: first.decodeTime, as: descriptions)
    }

    /// Everything before the media data.
    /// - Parameters:
    ///   - duration: that of the recording.
    ///   - cuts: what was applied to all parts.
    package func head(
        lasting duration: Ticks, _ cuts: RecordedCuts? = nil, chapters: [MovieWriter.Chapter], tags: [MovieWriter.Tag]
    ) -> [UInt8] {
        let start = start ?? .zero
        let whole = start..<start + duration
        return writer.head(presenting: cuts?.presented(of: whole) ?? [whole], chapters: chapters, tags: tags)
    }
}

extension RecordedMedia.Part {
    /// The earliest presentation time of its video, else of its audio; nil if it is empty.
    package var start: Ticks? {
        let audio = audio.first?.frames.first?.decodeTime
        return video.map { Ticks($0.decodeTime + Int64($0.compositionOffset)) }.min()
            ?? audio.map { Ticks($0.rescaled(Ticks.perSecond, over: TrackTimescale.audio)) }
    }

    /// The bytes of its samples in the order of `RecordedMovie`.
    package var payload: [UInt8] {
        var bytes: [UInt8] = []
        let frames = video + audio.flatMap(\.frames)
        bytes.reserveCapacity(frames.reduce(0) { $0 + $1.byteCount })
        for frame in frames {
            for part in frame.bytes { bytes += part }
        }
        return bytes
    }

    /// Its frames as those of a Matroska file.
    /// - Parameter origin: where the file begins.
    package func frames(from origin: Ticks) -> [MatroskaWriter.Frame] {
        let video = video.map { frame in
            MatroskaWriter.Frame(
                track: MatroskaWriter.videoTrack,
                time: Ticks(frame.decodeTime + Int64(frame.compositionOffset)) - origin,
                decodeTime: Ticks(frame.decodeTime) - origin, isRandomAccessPoint: frame.isRandomAccessPoint,
                bytes: frame.bytes)
        }
        let audio = audio.flatMap { track in
            track.frames.map { frame in
                let time = Ticks(frame.decodeTime.rescaled(Ticks.perSecond, over: TrackTimescale.audio)) - origin
                return MatroskaWriter.Frame(
                    track: MatroskaWriter.audioTrack + UInt8(track.number), time: time, decodeTime: time,
                    isRandomAccessPoint: true, bytes: frame.bytes)
            }
        }
        let subtitles = subtitles.map { subtitle in
            MatroskaWriter.Frame(
                track: MatroskaWriter.subtitleTrack + UInt8(subtitle.service), time: subtitle.time - origin,
                decodeTime: subtitle.time - origin, isRandomAccessPoint: true, bytes: [subtitle.bytes])
        }
        return video + audio + subtitles
    }
}
