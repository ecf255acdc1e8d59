import Support

#if DEBUG
    import Metering
    import TestSupport
    import Testing

    @testable import Demux
    @testable import Media
    @testable import Mux

    /// Writing fragments, init sections and transport streams takes steps in proportion to the media, and so does reading
    /// bits.
    @Suite struct MuxCostTests {
        struct Row: Sendable, CustomTestStringConvertible {
            let when: String
            /// Writes or reads `count` units.
            let work: @Sendable (_ count: Int) throws -> Void

            var testDescription: String { when }
        }

        /// Steps that do not depend on the number of units.
        private static let base = 20_000

        @Test(arguments: fragments + streams + bits)
        func twiceAsMuchTakesTwiceAsManySteps(row: Row) throws {
            let steps = try [500, 1000, 2000, 4000].map { count in
                try StepCounter.steps { try row.work(count) }
            }
            #expect(steps[3] > 4000 && steps.allSatisfy { $0 > 0 }, "\(steps)")
            for (few, many) in zip(steps, steps.dropFirst()) {
                #expect(many <= few * 2 + few / 8 + Self.base, "\(steps)")
            }
        }
    }

    // MARK: - Fragments and init sections

    extension MuxCostTests {
        private static func fragment(
            _ when: String, _ sample: @escaping @Sendable (Int) -> MuxSample
        ) -> Row {
            Row(when: when) { count in
                let track = MuxTrack(trackID: 1, decodeTime: 0, samples: (0..<count).map(sample))
                let audio = MuxTrack(trackID: 2, decodeTime: 0, samples: (0..<count).map(sample))
                _ = FragmentWriter.write(sequenceNumber: 1, video: track, audio: audio)
            }
        }

        static let fragments: [Row] = [
            fragment("samples that differ in everything") { n in
                MuxSample(
                    duration: UInt32(n + 1), compositionOffset: Int32(n), isSync: n % 2 == 0, payload: [UInt8(n % 256)])
            },
            fragment("a gradual refresh of another length at each sample") { n in
                MuxSample(
                    duration: 1, compositionOffset: 0, randomAccess: .gradualRefresh(frames: n), payload: [1])
            },
            Row(when: "an init section with large parameter sets") { count in
                let fill = [UInt8](repeating: 0x55, count: 10 * count)
                let sequence = bytes("67640020acb402802dd80880000003008000003230200016e360002dc6f269403c60ca80")
                let video = VideoConfiguration(
                    codec: .h264, sequenceParameterSets: [sequence],
                    pictureParameterSets: [ElementarySamples.pictureUnit(0) + fill])
                _ = try InitWriter.write(video: video, audio: nil)
            },
        ]
    }

    // MARK: - Transport streams

    extension MuxCostTests {
        private static let aac = AudioConfiguration(
            codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024,
            decoderSpecificInfo: [0x11, 0x90])
        private static let avc = VideoConfiguration(
            codec: .h264, sequenceParameterSets: [[0x67, 1, 2, 3]], pictureParameterSets: [[0x68, 4]])
        private static let program = TransportProgram(video: .h264, audio: [.init(codec: .aac)])

        /// - Parameter step: ticks from a sample to the next.
        private static func stream(_ when: String, step: Int64, units: Int = 1) -> Row {
            Row(when: when) { count in
                let sample = [UInt8](Array(repeatElement([0, 0, 0, 1, 0x65], count: units).joined()))
                let times = (0..<count).map { Ticks(Int64($0) * step) }
                let samples = times.map {
                    TransportMedia.VideoSample(
                        decodeTime: $0, presentationTime: $0 + .milliseconds(200), isRandomAccessPoint: true,
                        payload: sample[...])
                }
                let frames = times.map { TransportMedia.AudioFrame(time: $0 + .milliseconds(200), payload: [1, 2]) }
                var media = TransportMedia(
                    decoding: .zero..<Ticks(Int64(count) * step), presentationStart: Ticks.milliseconds(200),
                    video: .init(configuration: avc, samples: samples),
                    audio: [.init(configuration: aac, frames: frames)])
                media.timedMetadata = times.map { ($0, [UInt8](repeating: 1, count: 20)) }
                _ = TransportStreamMuxer(program, audioChanges: 0).segment(media)
            }
        }

        static let streams: [Row] = [
            stream("key frames in the same second", step: 20), stream("a chunk for each key frame", step: 90_000),
            stream("NAL units of a byte", step: 3600, units: 20),
        ]
    }

    // MARK: - Bits

    extension MuxCostTests {
        static let bits: [Row] = [
            Row(when: "fields across bytes") { count in
                var reader = BitReader([UInt8](repeating: 0xA5, count: 10 * count)[...], section: "")
                while reader.bitsLeft >= 31 { _ = try reader.u(31) }
            },
            Row(when: "emulation prevention bytes") { count in
                var reader = BitReader(
                    nalUnit: [UInt8](Array(repeatElement([0, 0, 3], count: 3 * count).joined())), section: "")
                try reader.skip(16 * 3 * count)
            },
            Row(when: "a LATM frame of many bytes") { count in
                let length = [UInt8](repeating: 255, count: count / 25) + [0]
                let frame = [UInt8](repeating: 0x5A, count: count / 25 * 255)
                var writer = BitWriter()
                // useSameStreamMux 0, audioMuxVersion 0, allStreamsSameTimeFraming, one frame, program and layer; AAC LC of
                // 48 kHz in stereo; frameLengthType 0, latmBufferFullness, no other data, no CRC.
                for (value, size) in [
                    (0, 1), (0, 1), (1, 1), (0, 6), (0, 4), (0, 3), (2, 5), (3, 4), (2, 4), (0, 3), (0, 3), (255, 8),
                    (0, 1), (0, 1),
                ] { writer.append(value, bits: size) }
                for byte in length + frame { writer.append(Int(byte), bits: 8) }
                writer.align()
                var reader = LATMReader()
                let frames = try reader.frames(writer.bytes[...])
                #expect(frames.map(\.count) == [frame.count])
            },
        ]
    }
#endif
