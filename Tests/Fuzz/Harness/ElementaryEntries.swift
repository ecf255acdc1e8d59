@testable import Demux
@testable import Media
@testable import Mux
@testable import Transcode

/// Entries for the contents of transport streams: NAL units, parameter sets and audio frames.
enum ElementaryEntries {
    static let all = [h264Sets, hevcSets, accessUnits, stills, audioFrames, packedAudio]

    private static let h264Sets = FuzzEntry(
        "h264-sets", "an H.264 sequence parameter set", largest: 1024,
        seeds: { seeds in configurations(seeds, .h264).flatMap { $0.sequenceParameterSets + $0.pictureParameterSets } },
        run: { bytes in
            describe(
                VideoConfiguration(
                    codec: .h264, videoParameterSets: [], sequenceParameterSets: [bytes], pictureParameterSets: [bytes])
            )
            for kind in [NALUnitRole.ParameterSet.sequence, .picture] {
                _ = ParameterSetID.read(bytes, kind, codec: .h264)
            }
        })

    private static let hevcSets = FuzzEntry(
        "hevc-sets", "an HEVC video, sequence or picture parameter set", largest: 2048,
        seeds: { seeds in
            configurations(seeds, .hevc).flatMap {
                $0.videoParameterSets + $0.sequenceParameterSets + $0.pictureParameterSets
            }
        },
        run: { bytes in
            describe(
                VideoConfiguration(
                    codec: .hevc, videoParameterSets: [bytes], sequenceParameterSets: [bytes],
                    pictureParameterSets: [bytes]))
            for kind in [NALUnitRole.ParameterSet.video, .sequence, .picture] {
                _ = ParameterSetID.read(bytes, kind, codec: .hevc)
            }
        })

    /// Derives everything that an init section needs from parameter sets.
    private static func describe(_ configuration: VideoConfiguration) {
        do throws(MediaError) {
            let description = try VideoDescription(configuration)
            _ = description.displayWidth
            _ = try InitWriter.write(video: configuration, audio: nil)
        } catch { return }
    }

    private static func configurations(
        _ seeds: CaptureSeeds, _ codec: VideoConfiguration.Codec
    ) -> [VideoConfiguration] {
        var found: [VideoConfiguration] = []
        for packet in videoPackets(seeds) where packet.configuration.codec == codec {
            if !found.contains(packet.configuration) { found.append(packet.configuration) }
        }
        return found
    }

    static func videoPackets(_ seeds: CaptureSeeds) -> [VideoPacket] {
        seeds.segments(in: .transportStream).flatMap { segment in
            var demuxer = TransportDemuxer(tracks: .video)
            return (try? demuxer.feed(segment))?.video ?? []
        }
    }
}

extension ElementaryEntries {
    /// The first byte selects the codec; each later 0xF7 begins a PES packet.
    private static let accessUnits = FuzzEntry(
        "access-units", "a byte stream of NAL units", largest: 8192, dictionary: ["\0\0\u{1}", "\0\0\0\u{1}"],
        seeds: { seeds in
            Dictionary(grouping: videoPackets(seeds), by: \.configuration).values.map { packets in
                [packets[0].configuration.codec == .h264 ? 0 : 1] + packets.prefix(4).flatMap { byteStream($0.payload) }
            }
        },
        run: { bytes in
            guard let first = bytes.first else { return }
            let codec: VideoConfiguration.Codec = first & 1 == 0 ? .h264 : .hevc
            var buffer = ElementaryBuffer()
            var framer = VideoFramer(pid: 256, codec: codec)
            var output = DemuxedSegment()
            for (number, part) in bytes.dropFirst().split(separator: 0xF7).enumerated() {
                let time = Ticks(Int64(number) * 3600)
                buffer.startPacket(pts: time, dts: number.isMultiple(of: 3) ? nil : time)
                buffer.bytes += part
                if number % 5 == 4 { buffer.recordLoss(isBetweenPackets: number % 2 == 0) }
            }
            output.video = try framer.frame(
                &buffer, start: nil, ending: .closed(isPacketDue: false), counts: &output.counts)
            try DemuxInvariants(bytes: bytes.count).check([output])
        })

    private static let codecs: [VideoConfiguration.Codec] = [.h264, .hevc, .mpeg2]

    /// The first byte selects the codec; the frame may have any size that is decoded.
    private static let stills = FuzzEntry(
        "stills", "a byte stream with one frame, which is decoded", largest: 16_384,
        dictionary: ["\0\0\u{1}", "\0\0\0\u{1}"],
        bounds: FuzzBounds(
            heldBytes: FuzzBound(base: 512 << 20, perByte: 64), copiedBytes: FuzzBound(base: 512 << 20, perByte: 1024),
            steps: FuzzBound(base: 200_000_000, perByte: 400)),
        seeds: { seeds in
            let packets = Dictionary(grouping: videoPackets(seeds), by: \.configuration).values.compactMap(\.first)
            return packets.map { packet in
                let configuration = packet.configuration
                let sets = configuration.videoParameterSets + configuration.sequenceParameterSets
                var input = [UInt8(codecs.firstIndex(of: configuration.codec) ?? 0)]
                for set in sets + configuration.pictureParameterSets { input += [0, 0, 0, 1] + set }
                return input + byteStream(packet.payload)
            }
        },
        run: { bytes in
            guard let first = bytes.first else { return }
            let box = StillImage.Size(width: 64, height: 128)
            do throws(MediaError) {
                let image = try StillDecoder.image(
                    of: Array(bytes.dropFirst()), codecs[Int(first) % codecs.count], record: [], in: box)
                let jpeg = try JPEGEncoder.encode(image)
                _ = jpeg.count
            } catch { return }
        })

    private static func byteStream(_ payload: ArraySlice<UInt8>) -> [UInt8] {
        var stream: [UInt8] = []
        var rest = payload
        while rest.count > 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            stream += [0, 0, 0, 1] + rest.dropFirst(4).prefix(min(length, 400))
            rest = rest.dropFirst(4 + length)
        }
        return stream
    }

    private static let framings: [AudioFraming] = [.mpeg, .ac3, .loas]
    /// The number of places where the first byte may end a PES packet.
    private static let places = Int(UInt8.max) / framings.count + 1

    /// The first byte selects the framing, and where the PES packet ends.
    private static let audioFrames = FuzzEntry(
        "audio-frames", "audio frames in PES packets", largest: 8192, dictionary: AudioSeeds.words,
        seeds: { seeds in
            let framed = seeds.segments(in: .packedAudio).map { segment in
                Array(segment[((try? ID3Tags(segment).end) ?? 0)...].prefix(3000))
            }
            let streams = AudioSeeds.streams.enumerated().map { number, stream in
                [UInt8((framings.firstIndex(of: stream.framing) ?? 0) + framings.count * number)] + stream.bytes
            }
            return streams + framed.map { [0] + $0 } + framed.map { [1] + $0 }
        },
        run: { bytes in
            guard let first = bytes.first else { return }
            let framing = framings[Int(first) % framings.count]
            var framer = AudioFramer(pid: 257, framing: framing)
            var buffer = ElementaryBuffer()
            var output = DemuxedSegment()
            let middle = 1 + Int(first) / framings.count * bytes.count / places
            for (part, isClosed) in [(bytes[1..<max(1, middle)], false), (bytes[max(1, middle)...], true)] {
                buffer.startPacket(pts: .zero, dts: nil)
                buffer.bytes += part
                output.audio += try framer.frame(&buffer, isClosed: isClosed, counts: &output.counts)
            }
            try demand(buffer.bytes.isEmpty, "\(buffer.bytes.count) bytes stay in the buffer")
            try DemuxInvariants(bytes: bytes.count).check([output])
            for configuration in Set(output.audio.map(\.configuration)) {
                _ = try? InitWriter.write(video: nil, audio: configuration)
            }
        })

    private static let packedAudio = FuzzEntry(
        "packed-audio", "a segment of packed audio", largest: 8192,
        dictionary: AudioSeeds.words + [
            "ID3\u{4}\0\0\0\0\0\u{3F}", "PRIV", "com.apple.streaming.transportStreamTimestamp\0",
        ],
        seeds: { seeds in
            seeds.segments(in: .packedAudio).map { Array($0.prefix(6000)) } + AudioSeeds.streams.map(\.bytes)
        },
        run: { bytes in
            _ = try LocatedMedia.find(in: bytes)
            _ = LocatedMedia.isWhole(bytes)
            for isAligned in [true, false] {
                var demuxer = PackedAudioDemuxer(requiresTimestamp: isAligned)
                var outputs: [DemuxedSegment] = []
                do throws(MediaError) {
                    for _ in 0..<2 { outputs.append(try demuxer.feed(bytes)) }
                } catch { continue }
                try DemuxInvariants(bytes: 2 * bytes.count).check(outputs)
            }
        })
}
