import Demux
package import Media
import Mux

/// The samples of a recording, read from its transport stream segment by segment.
package struct RecordedMedia: Sendable {
    /// One sample, with its time on the timeline of the file.
    package struct Frame: Sendable {
        /// When it is decoded, in the timescale of its track.
        package let decodeTime: Int64
        package let duration: UInt32
        package let compositionOffset: Int32
        package let isRandomAccessPoint: Bool
        package let bytes: [ArraySlice<UInt8>]

        package var byteCount: Int { bytes.reduce(0) { $0 + $1.count } }
    }

    /// The samples of an audio track in one segment.
    package struct Audio: Sendable {
        /// The number of the track in the recording; that of the leading audio is 0.
        package let number: Int
        /// nil if nothing says it.
        package let track: AudioTrackIdentity?
        package let configuration: AudioConfiguration
        package let frames: [Frame]
    }

    package struct Part: Sendable {
        package var video: [Frame] = []
        package var videoConfiguration: VideoConfiguration?
        /// The tracks that are in the segment, in the order of their numbers.
        package var audio: [Audio] = []
        package var subtitles: [Subtitle] = []
    }

    /// A packet of DVB subtitles of one service.
    package struct Subtitle: Sendable {
        /// The index of its service in `subtitleServices`.
        package let service: Int
        package let time: Ticks
        /// Its segments (ETSI EN 300 743 §7.2).
        package let bytes: ArraySlice<UInt8>
    }

    /// Audio that is that near to where it is due is there: packets have 90 kHz, and frames a finer time.
    private static let tolerance = 2 * TrackTimescale.audio / Ticks.perSecond + 2

    private var demuxer = TransportDemuxer(audio: .all)
    /// Where the audio of each track ends.
    private var audioEnds: [Int: Int64] = [:]
    /// The tracks beside the leading one, in the order of their numbers.
    private var furtherTracks: [AudioTrackIdentity] = []
    /// The services of DVB subtitles that were announced so far, with their streams.
    private var subtitles: [(stream: PrivateDataStream, service: SubtitlingService)] = []
    package var subtitleServices: [SubtitlingService] { subtitles.map(\.service) }
    private static let subtitleLimit = 64

    package init() {}

    /// Reads a segment. Segments come in order, from the first on.
    /// - Parameter near: when it is presented, on the timeline of the file.
    package mutating func read(_ bytes: [UInt8], near: Ticks) throws(MediaError) -> Part {
        var demuxed = try demuxer.feed(bytes)
        let rest = try demuxer.reset()
        demuxed.video += rest.video
        demuxed.audio += rest.audio
        for further in rest.furtherAudio { demuxed.append(further.packets, of: further.track) }
        var part = Part()
        part.videoConfiguration = demuxed.video.first?.configuration
        part.video = frames(demuxed.video, near: near)
        let further = demuxed.furtherAudio.compactMap { further in
            number(of: further.track).map { (number: $0, track: Optional(further.track), packets: further.packets) }
        }.sorted { $0.number < $1.number }
        for audio in [(number: 0, track: demuxed.audioTrack, packets: demuxed.audio)] + further {
            guard let configuration = audio.packets.first?.configuration else { continue }
            part.audio.append(
                Audio(
                    number: audio.number, track: audio.track, configuration: configuration,
                    frames: frames(audio.packets, of: configuration, track: audio.number, near: near)))
        }
        part.subtitles = subtitles(of: demuxed, near: near)
        return part
    }

    private mutating func subtitles(of demuxed: DemuxedSegment, near: Ticks) -> [Subtitle] {
        for stream in demuxed.program?.privateData ?? [] where !subtitles.contains(where: { $0.stream == stream }) {
            subtitles += stream.subtitlingServices.prefix(Self.subtitleLimit - subtitles.count).map { (stream, $0) }
        }
        return demuxed.metadata.flatMap { item -> [Subtitle] in
            guard case .privateData(let stream, let payload) = item.content, let time = item.time,
                payload.first == Self.subtitleData
            else { return [] }
            // Without data_identifier, subtitle_stream_id and end_of_PES_data_field_marker.
            let end = payload.last == 0xFF ? payload.count - 1 : payload.count
            let segments = payload[min(2, end)..<end]
            let services = subtitles.indices.filter { subtitles[$0].stream == stream }
            return services.compactMap { index in
                let own = services.count == 1 ? segments : subtitles[index].service.segments(of: segments)[...]
                return own.isEmpty ? nil : Subtitle(service: index, time: Ticks(wire: time, near: near), bytes: own)
            }
        }
    }

    /// data_identifier of DVB subtitles.
    private static let subtitleData: UInt8 = 0x20

    /// The number of a track beside the leading one; nil if there are too many.
    private mutating func number(of track: AudioTrackIdentity) -> Int? {
        if let index = furtherTracks.firstIndex(of: track) { return index + 1 }
        guard furtherTracks.count < AudioTrackChoice.limit else { return nil }
        furtherTracks.append(track)
        return furtherTracks.count
    }

    private func frames(_ packets: [VideoPacket], near: Ticks) -> [Frame] {
        var (frames, last): ([Frame], Int64) = ([], 3600)
        let times = packets.map { packet in
            let presented = packet.pts.map { Ticks(wire: $0, near: near).count } ?? near.count
            let decoded = packet.dts.map { Ticks(wire: $0, near: near).count } ?? presented
            return (decoded: decoded, presented: presented)
        }
        for (index, packet) in packets.enumerated() {
            if index + 1 < times.count { last = max(0, times[index + 1].decoded - times[index].decoded) }
            frames.append(
                Frame(
                    decodeTime: times[index].decoded, duration: UInt32(clamping: last),
                    compositionOffset: Int32(clamping: times[index].presented - times[index].decoded),
                    isRandomAccessPoint: packet.randomAccess.map { $0.streamAccessPointType < 4 } ?? false,
                    bytes: packet.parameterSets.isEmpty
                        ? [packet.payload] : [packet.parameterSets[...], packet.payload]))
        }
        return frames
    }

    private mutating func frames(
        _ packets: [AudioPacket], of configuration: AudioConfiguration, track: Int, near: Ticks
    ) -> [Frame] {
        let unit = Int64(configuration.samplesPerFrame).rescaled(
            TrackTimescale.audio, over: Int64(configuration.sampleRate.hertz))
        return packets.filter { $0.configuration == configuration }.map { packet in
            let due = audioEnds[track] ?? .min
            var time =
                packet.pts.map {
                    Ticks(wire: $0, near: near).count.rescaled(TrackTimescale.audio, over: Ticks.perSecond)
                } ?? due
            if due != .min, abs(time - due) <= Self.tolerance { time = due }
            audioEnds[track] = time + unit
            return Frame(
                decodeTime: time, duration: UInt32(clamping: unit), compositionOffset: 0, isRandomAccessPoint: true,
                bytes: [packet.payload])
        }
    }
}
