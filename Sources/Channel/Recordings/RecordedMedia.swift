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

    /// The samples of one segment.
    package struct Part: Sendable {
        package var video: [Frame] = []
        package var audio: [Frame] = []
        package var videoConfiguration: VideoConfiguration?
        package var audioConfiguration: AudioConfiguration?
    }

    /// Audio that is that near to where it is due is there: packets have 90 kHz, and frames a finer time.
    private static let tolerance = 2 * TrackTimescale.audio / Ticks.perSecond + 2

    private var demuxer = TransportDemuxer()
    private var audioEnd: Int64?

    package init() {}

    /// Reads a segment. Segments come in order, from the first on.
    package mutating func read(_ bytes: [UInt8], of segment: RecordedSegment) throws(MediaError) -> Part {
        var demuxed = try demuxer.feed(bytes)
        let rest = try demuxer.reset()
        demuxed.video += rest.video
        demuxed.audio += rest.audio
        let near = segment.presented.lowerBound
        var part = Part()
        part.videoConfiguration = demuxed.video.first?.configuration
        part.audioConfiguration = demuxed.audio.first?.configuration
        part.video = frames(demuxed.video, near: near)
        if let configuration = part.audioConfiguration {
            part.audio = frames(demuxed.audio, of: configuration, near: near)
        }
        return part
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
        _ packets: [AudioPacket], of configuration: AudioConfiguration, near: Ticks
    ) -> [Frame] {
        let unit = Int64(configuration.samplesPerFrame).rescaled(
            TrackTimescale.audio, over: Int64(configuration.sampleRate.hertz))
        return packets.filter { $0.configuration == configuration }.map { packet in
            let due = audioEnd ?? .min
            var time =
                packet.pts.map {
                    Ticks(wire: $0, near: near).count.rescaled(TrackTimescale.audio, over: Ticks.perSecond)
                } ?? due
            if due != .min, abs(time - due) <= Self.tolerance { time = due }
            audioEnd = time + unit
            return Frame(
                decodeTime: time, duration: UInt32(clamping: unit), compositionOffset: 0, isRandomAccessPoint: true,
                bytes: [packet.payload])
        }
    }
}
