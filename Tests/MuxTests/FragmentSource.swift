@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// A fragmented file by ffmpeg, demuxed so that our writers can write it again.
struct FragmentSource {
    let tracks: [MovieTrack]
    let initSection: InitSection
    private let fragments: [MovieFragment]

    init(_ file: [UInt8]) throws {
        tracks = try MovieTrack.tracks(of: file)
        fragments = try MovieFragment.fragments(of: file)
        let (video, audio) = (tracks.first { $0.handler == "vide" }, tracks.first { $0.handler == "soun" })
        initSection = try InitWriter.write(
            video: video.map(Self.videoConfiguration), audio: audio.map(Self.audioConfiguration))
    }

    /// Returns our init section and a fragment for each fragment of the file.
    func rewritten() -> [UInt8] {
        fragments.reduce(into: initSection.bytes) { file, fragment in
            let written = FragmentWriter.write(
                sequenceNumber: fragment.sequenceNumber, video: track("vide", TrackID.video, of: fragment),
                audio: track("soun", TrackID.audio, of: fragment))
            file += written.header + written.payloads.joined()
        }
    }

    private func track(_ handler: BoxType, _ trackID: UInt32, of fragment: MovieFragment) -> MuxTrack? {
        guard let track = tracks.first(where: { $0.handler == handler }),
            let read = fragment.tracks.first(where: { $0.trackID == track.trackID })
        else { return nil }
        let scale = handler == "vide" ? 1 : UInt32(TrackTimescale.audio) / track.timescale.unitsPerSecond
        let samples = read.samples.map {
            MuxSample(
                duration: $0.duration * scale, compositionOffset: $0.compositionOffset, isSync: $0.isSync,
                payload: $0.payload)
        }
        return MuxTrack(trackID: trackID, decodeTime: (read.decodeTime ?? 0) * UInt64(scale), samples: samples)
    }

    private static func videoConfiguration(_ track: MovieTrack) throws -> VideoConfiguration {
        let record = Array(track.sampleEntries[0].configuration[0].body)
        var units: [[UInt8]] = []
        if track.sampleEntries[0].type == "hvc1" {
            var index = 23
            for _ in 0..<record[22] {
                let count = Int(record[index + 2])
                index += 3
                units += nalUnits(record, &index, count)
            }
        } else {
            var index = 6
            units += nalUnits(record, &index, Int(record[5] & 31))
            index += 1
            units += nalUnits(record, &index, Int(record[index - 1]))
        }
        return configuration(units, isHEVC: track.sampleEntries[0].type == "hvc1")
    }

    private static func nalUnits(_ record: [UInt8], _ index: inout Int, _ count: Int) -> [[UInt8]] {
        (0..<count).map { _ in
            let size = Int(record[index]) << 8 | Int(record[index + 1])
            defer { index += 2 + size }
            return Array(record[index + 2..<index + 2 + size])
        }
    }

    private static func configuration(_ units: [[UInt8]], isHEVC: Bool) -> VideoConfiguration {
        func type(_ unit: [UInt8]) -> UInt8 { isHEVC ? unit[0] >> 1 & 63 : unit[0] & 31 }
        return VideoConfiguration(
            codec: isHEVC ? .hevc : .h264, videoParameterSets: isHEVC ? units.filter { type($0) == 32 } : [],
            sequenceParameterSets: units.filter { type($0) == (isHEVC ? 33 : 7) },
            pictureParameterSets: units.filter { type($0) == (isHEVC ? 34 : 8) })
    }

    private static func audioConfiguration(_ track: MovieTrack) throws -> AudioConfiguration {
        guard case .audio(let channels, let rate) = track.sampleEntries[0].format else {
            throw MediaError(.truncated, section: BoxReader.section)
        }
        let record = Array(track.sampleEntries[0].configuration[0].body)
        let isMPEG4 = track.sampleEntries[0].type == "mp4a" && record[17] == 0x40
        let codec: AudioConfiguration.Codec =
            track.sampleEntries[0].type == "ac-3"
            ? .ac3 : track.sampleEntries[0].type == "ec-3" ? .eac3 : isMPEG4 ? .aac : .mpegAudio(layer: 3)
        // After the header of DecoderSpecificInfo, before SLConfigDescriptor.
        let info = isMPEG4 ? Array(record[35..<record.count - 6]) : track.sampleEntries[0].type == "mp4a" ? [] : record
        return AudioConfiguration(
            codec: codec, sampleRate: SampleRate(Int(rate)) ?? 48_000, channelCount: Int(channels),
            samplesPerFrame: 1024,
            decoderSpecificInfo: info)
    }
}
