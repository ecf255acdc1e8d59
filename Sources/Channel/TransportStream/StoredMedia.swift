import Demux
import LiveRing
import Media
import Mux

/// The samples of a published segment, read from its files.
struct StoredMedia: Sendable {
    let video: TransportMedia.Video?
    let audio: TransportMedia.Audio?
    let messages: [PlacedMessage]
    /// The sum of the durations of the video samples, or of the audio samples if there is no video.
    let duration: Ticks

    /// - Parameters:
    ///   - initialization: the bytes of its init section.
    ///   - segment: the bytes of its file.
    init(initialization: [UInt8], segment: [UInt8]) throws(MediaError) {
        let tracks = try MovieTrack.tracks(of: initialization)
        let fragments = try MovieFragment.fragments(of: segment).flatMap(\.tracks)
        guard fragments.allSatisfy(\.isOnTimeline) else {
            throw MediaError(.badParameterSet(field: "baseMediaDecodeTime"), section: "ISO/IEC 14496-12 §8.8.12")
        }
        video = try Self.video(tracks.first { $0.handler == "vide" }, fragments)
        audio = try Self.audio(tracks.first { $0.handler == "soun" }, fragments)
        duration = Self.duration(of: tracks, fragments)
        messages = try BoxReader.boxes(in: segment[...]).filter { $0.type == "emsg" }.compactMap { box in
            guard let read = try? EventMessageBox(box), let time = read.movieTime,
                Ticks.timeline.contains(time.count)
            else { return nil }
            return PlacedMessage(message: read.message, time: time)
        }
    }

    private static func duration(of tracks: [MovieTrack], _ fragments: [TrackFragment]) -> Ticks {
        guard let track = tracks.first(where: { $0.handler == "vide" }) ?? tracks.first(where: { $0.handler == "soun" })
        else { return .zero }
        let sum = fragments.filter { $0.trackID == track.trackID }.flatMap(\.samples)
            .reduce(UInt64(0)) { $0 + UInt64($1.duration) }
        return Ticks(units: sum, timescale: track.timescale)
    }

    private static func video(
        _ track: MovieTrack?, _ fragments: [TrackFragment]
    ) throws(MediaError) -> TransportMedia.Video? {
        guard let track, let entry = track.sampleEntries.first,
            let description = try VideoSampleDescription(entry)
        else { return nil }
        var samples: [TransportMedia.VideoSample] = []
        for fragment in fragments where fragment.trackID == track.trackID {
            var time = Int64(fragment.decodeTime ?? 0)
            for sample in fragment.samples {
                samples.append(
                    TransportMedia.VideoSample(
                        decodeTime: Ticks(time), presentationTime: Ticks(time + Int64(sample.compositionOffset)),
                        isRandomAccessPoint: sample.isRandomAccessPoint, payload: sample.payload))
                time += Int64(sample.duration)
            }
        }
        guard !samples.isEmpty else { return nil }
        return TransportMedia.Video(
            configuration: description.configuration, samples: samples,
            beginsGradualRefresh: fragments.first { $0.trackID == track.trackID }?.beginsGradualRefresh ?? false)
    }

    private static func audio(
        _ track: MovieTrack?, _ fragments: [TrackFragment]
    ) throws(MediaError) -> TransportMedia.Audio? {
        let fragments = fragments.filter { $0.trackID == track?.trackID }
        // The first and the last sample may be shorter, and one before a gap is longer.
        let durations = fragments.flatMap(\.samples).map(\.duration).sorted()
        guard let track, !durations.isEmpty,
            let configuration = try configuration(of: track, sampleDuration: durations[durations.count / 2])
        else { return nil }
        var frames: [TransportMedia.AudioFrame] = []
        for fragment in fragments {
            var time = fragment.decodeTime ?? 0
            for sample in fragment.samples {
                frames.append(
                    TransportMedia.AudioFrame(
                        time: Ticks(units: time, timescale: track.timescale), payload: sample.payload))
                time += UInt64(sample.duration)
            }
        }
        return TransportMedia.Audio(configuration: configuration, frames: frames)
    }

    /// The configuration of the sample entry. The duration of a sample says how many samples a frame has; a frame of AAC
    /// may hold several blocks of 1024, or of 960.
    private static func configuration(
        of track: MovieTrack, sampleDuration: UInt32
    ) throws(MediaError) -> AudioConfiguration? {
        guard let entry = track.sampleEntries.first, let description = try AudioSampleDescription(entry) else {
            return nil
        }
        let known: AudioConfiguration
        switch description {
        case .complete(let configuration), .needsSampleDurations(let configuration): known = configuration
        case .needsFrameHeaders:
            guard case .audio(let channels, let hertz) = entry.format, let sampleRate = SampleRate(Int(hertz)) else {
                return nil
            }
            known = AudioConfiguration(
                codec: .mpegAudio(layer: 3), sampleRate: sampleRate, channelCount: Int(channels),
                samplesPerFrame: 1152, decoderSpecificInfo: [])
        }
        let samples = Int(
            Int64(sampleDuration).rescaled(
                Int64(known.sampleRate.hertz), over: Int64(track.timescale.unitsPerSecond)))
        let block = known.codec == .aac ? max(1, known.samplesPerFrame) : 1
        return AudioConfiguration(
            codec: known.codec, sampleRate: known.sampleRate, channelCount: known.channelCount,
            samplesPerFrame: max(1, (samples + block / 2) / block) * block,
            decoderSpecificInfo: known.decoderSpecificInfo)
    }
}

extension TrackFragment {
    /// Whether the samples begin on a timeline, in either track's timescale, and are no longer than a segment.
    fileprivate var isOnTimeline: Bool {
        let longest = RingRanges.duration.upperBound.rescaled(TrackTimescale.audio, over: Ticks.perSecond)
        return RingRanges.audioTicks.contains(decodeTime ?? 0)
            && samples.reduce(UInt64(0)) { $0 + UInt64($1.duration) } <= longest
    }
}
