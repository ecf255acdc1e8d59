import Support

#if DEBUG
    import Support
    import TestSupport
    import Testing

    @testable import MediaTestSupport
    @testable import Demux
    @testable import Media

    /// Demuxing takes steps in proportion to its input, whatever the input holds. Steps are counted by `StepCounter`.
    @Suite struct DemuxCostTests {
        typealias Builder = TransportStreamBuilder
        typealias Stream = TransportStreamBuilder.Stream
        typealias Sample = ElementarySamples

        struct Row: Sendable, CustomTestStringConvertible {
            let when: String
            /// Demuxes an input of `count` units.
            let demux: @Sendable (_ count: Int) throws -> Void

            var testDescription: String { when }
        }

        /// Steps that do not depend on the size of the input, among them those of the limits of `DemuxLimits`.
        private static let base = 20_000

        @Test(arguments: tables + media + audio + movies)
        func twiceAsMuchTakesTwiceAsManySteps(row: Row) throws {
            let steps = try [500, 1000, 2000, 4000].map { count in
                try StepCounter.steps { try row.demux(count) }
            }
            #expect(steps.allSatisfy { $0 > 0 })
            for (few, many) in zip(steps, steps.dropFirst()) {
                #expect(many <= few * 2 + few / 8 + Self.base, "\(steps)")
            }
        }

        /// Steps between two looks at whether the task was canceled, however many units there are: most are bytes.
        private static let longestWork = 1_000_000

        @Test(arguments: tables + media + audio + movies)
        func cancellationIsLookedAtInBetween(row: Row) throws {
            let steps = try [500, 2000, 8000].map { count in
                try StepCounter.counter { try row.demux(count) }.stepsBetweenLooks
            }
            #expect(steps.allSatisfy { $0 <= Self.longestWork }, "\(steps)")
        }

        /// Demuxes segments that `append` writes, two of them, so that what the first leaves is walked again.
        private static func transport(
            _ when: String, _ append: @escaping @Sendable (inout Builder, Int) -> Void
        ) -> Row {
            Row(when: when) { count in
                var (demuxer, builder) = (TransportDemuxer(), Builder())
                for _ in 0..<2 {
                    append(&builder, count)
                    _ = try? demuxer.feed(builder.cut())
                }
                _ = try demuxer.finish()
            }
        }
    }

    // MARK: - Tables

    extension DemuxCostTests {
        static let video = Stream(pid: 0x100, type: 0x1B)
        static let other = Stream(pid: 0x200, type: 0x1B)

        static let tables: [Row] = [
            transport("PMTs that alternate between two streams") { builder, count in
                builder.tables([video])
                for n in 0..<count {
                    builder.map([n % 2 == 0 ? other : video])
                    builder.pes(pid: n % 2 == 0 ? 0x200 : 0x100, pts: 0, Sample.idr(1))
                }
            },
            transport("PMTs with another stream each, whose packets precede them") { builder, count in
                builder.tables([video])
                for n in 0..<count {
                    builder.pes(pid: UInt16(0x200 + n), pts: 0, Sample.idr(1))
                    builder.map([Stream(pid: UInt16(0x200 + n), type: 0x1B)])
                }
            },
            transport("packets of many PIDs beside a PAT of 1,000 programs") { builder, count in
                builder.association((1...1000).map { (UInt16($0), UInt16($0 + 0x400)) })
                builder.map([video], program: 1, mapPID: 0x401)
                for n in 0..<count { builder.packet(pid: UInt16(0x100 + n % 0x1000), payload: [1]) }
            },
            transport("PATs that alternate") { builder, count in
                builder.association([(1, 0x1000)])
                builder.map([video])
                for n in 0..<count {
                    builder.association((1...100).map { (UInt16($0 + n % 2), UInt16(0x1000 + $0)) })
                }
            },
            transport("PMTs of all programs, again and again in other versions") { builder, count in
                builder.association((1...200).map { (UInt16($0), UInt16($0 + 0x400)) })
                for n in 0..<count {
                    let (program, version) = (UInt16(n % 200 + 1), UInt16(n / 200 % 2))
                    builder.map([Stream(pid: 0x800 + version, type: 0x0F)], program: program, mapPID: 0x400 + program)
                }
            },
            transport("PMTs of 150 streams that alternate") { builder, count in
                builder.tables([video])
                for n in 0..<count / 4 {
                    builder.map((0..<150).map { Stream(pid: UInt16(0x100 + $0 + n % 2), type: 0x1B) })
                }
            },
            transport("PMTs of unlisted programs") { builder, count in
                builder.tables([video])
                for n in 0..<count { builder.map([video], program: UInt16(n + 2)) }
            },
            transport("a section of one byte a packet") { builder, count in
                builder.tables([video])
                for n in 0..<count { builder.packet(pid: 0x1000, startsUnit: n == 0, payload: [n == 0 ? 0 : 2]) }
            },
            transport("sections of three bytes") { builder, count in
                builder.tables([video])
                for _ in 0..<count / 10 {
                    builder.sections([[UInt8]](repeating: [2, 0, 0], count: 60), pid: 0x1000)
                }
            },
            transport("splice information sections") { builder, count in
                builder.tables([video, Stream(pid: 0x300, type: 0x86)])
                for _ in 0..<count {
                    builder.sections([[0xFC, 0x30, 0x11] + [UInt8](repeating: 0, count: 17)], pid: 0x300)
                }
            },
            transport("a timed ID3 tag in each packet") { builder, count in
                builder.tables([video, Stream(pid: 0x300, type: 0x15)])
                for _ in 0..<count { builder.pes(pid: 0x300, streamID: 0xBD, pts: 0, Array("ID3".utf8)) }
            },
            transport("streams without tables") { builder, count in
                for n in 0..<count { builder.pes(pid: UInt16(0x100 + n % 4000), pts: 0, Sample.plain(1)) }
            },
            transport("sync lost every three packets") { builder, count in
                builder.tables([video])
                for n in 0..<count {
                    builder.packet(pid: 0x100, payload: [1])
                    if n % 3 == 0 { builder.junk([0x47, 1, 0x47, 2]) }
                }
            },
        ]
    }

    // MARK: - Video

    extension DemuxCostTests {
        static let media: [Row] = [
            transport("PES packets of a byte") { builder, count in
                builder.tables([video])
                for n in 0..<count { builder.pes(pid: 0x100, pts: Int64(n), [1]) }
            },
            transport("packets lost between PES packets") { builder, count in
                builder.tables([video])
                for n in 0..<count {
                    builder.pes(pid: 0x100, pts: Int64(n), isBounded: true, Sample.stream([Sample.slice(1, size: 9)]))
                    builder.skip(1, pid: 0x100)
                    builder.packet(pid: 0x100, payload: Sample.stream([Sample.slice(2, size: 9)]))
                }
            },
            transport("packets lost inside PES packets") { builder, count in
                builder.tables([video])
                for n in 0..<count {
                    builder.packets(pid: 0x100, Builder.pesPacket(pts: Int64(n), Sample.plain(1)))
                    builder.skip(1, pid: 0x100)
                }
            },
            transport("PES headers in packets of a byte") { builder, count in
                builder.tables([video])
                for _ in 0..<count / 20 {
                    let header = Builder.pesPacket(pts: 0, [])
                    for (index, byte) in header.enumerated() {
                        builder.packet(pid: 0x100, startsUnit: index == 0, payload: [byte])
                    }
                }
            },
            transport("NAL units of a byte") { builder, count in
                builder.tables([video])
                builder.pes(pid: 0x100, pts: 0, repeated([0, 0, 1, 0x41], count))
            },
            transport("zeros") { builder, count in
                builder.tables([video])
                builder.pes(pid: 0x100, pts: 0, Sample.idr(1) + [UInt8](repeating: 0, count: 100 * count))
            },
            transport("emulation prevention bytes in an SEI message") { builder, count in
                builder.tables([video])
                let message = repeated([0x06, 0x05], 1) + repeated([0, 0, 3], count)
                builder.pes(pid: 0x100, pts: 0, Sample.stream([message]) + Sample.idr(1))
            },
            transport("SEI units before a slice") { builder, count in
                builder.tables([video])
                let messages = [[UInt8]](repeating: [0x06, 0x05, 0x01, 0xAA], count: count)
                builder.pes(pid: 0x100, pts: 0, Sample.stream(messages) + Sample.idr(1))
            },
            transport("key frames that repeat large parameter sets") { builder, count in
                builder.tables([video])
                let fill = [UInt8](repeating: 0x55, count: 9000)
                let sets = (0..<3).map { Sample.pictureUnit($0) + fill }
                builder.pes(pid: 0x100, pts: 0, Sample.sequence(0) + Sample.stream(sets) + Sample.idr(1))
                for n in 0..<count {
                    builder.pes(pid: 0x100, pts: Int64(n), Sample.stream([Sample.slice(1, isIDR: true)]))
                }
            },
            transport("frames with another parameter set each, beside large ones") { builder, count in
                builder.tables([video])
                let fill = [UInt8](repeating: 0x55, count: 9000)
                let sets = (0..<2).map { Sample.pictureUnit($0) + fill }
                builder.pes(pid: 0x100, pts: 0, Sample.sequence(0) + Sample.stream(sets) + Sample.idr(1))
                for n in 0..<count {
                    let sets = [Sample.recoveryPoint, Sample.pictureUnit(2, fill: UInt8(n % 200))]
                    builder.pes(pid: 0x100, pts: Int64(n), Sample.stream(sets + [Sample.slice(1, size: 9)]))
                }
            },
        ]
    }

    // MARK: - Audio

    extension DemuxCostTests {
        /// Frames the bytes in parts, as segments bring them.
        private static func frames(
            _ when: String, _ framing: AudioFraming, _ bytes: @escaping @Sendable (Int) -> [UInt8]
        ) -> Row {
            Row(when: when) { count in
                let bytes = bytes(count)
                var (framer, buffer) = (AudioFramer(pid: 0x101, framing: framing), ElementaryBuffer())
                var counts = Counts<DemuxCount>()
                for start in stride(from: 0, to: bytes.count, by: 8000) {
                    buffer.startPacket(pts: .zero, dts: .zero)
                    buffer.bytes += bytes[start..<min(start + 8000, bytes.count)]
                    _ = try framer.frame(&buffer, isClosed: false, counts: &counts)
                }
                _ = try framer.frame(&buffer, isClosed: true, counts: &counts)
            }
        }

        private static func repeated(_ unit: [UInt8], _ count: Int) -> [UInt8] {
            Array(repeatElement(unit, count: count).joined())
        }

        static let audio: [Row] = [
            frames("ADTS frames", .mpeg) { repeated(Sample.adts(1), $0) },
            frames("ADTS headers without a frame", .mpeg) { repeated([0xFF, 0xF1, 0x4C, 0x80, 0x01, 0xFF, 0xFC], $0) },
            frames("the first byte of a syncword", .mpeg) { repeated([0xFF], 10 * $0) },
            frames("E-AC-3 frames that extend one frame", .ac3) {
                AudioAC3Tests.Frame().bytes + repeated(AudioAC3Tests.Frame(streamType: 1).bytes, $0)
            },
            frames("E-AC-3 headers that lead to the same frames", .ac3) { count in
                let heads = (0..<24).flatMap { AudioAC3Tests.Frame(size: 160 * (24 - $0)).bytes.prefix(160) }
                let run = heads + repeated(AudioAC3Tests.Frame(streamType: 1).bytes, 30) + [0, 0]
                return repeated(run, count / 50)
            },
            frames("LATM elements", .loas) { repeated([0x56, 0xE0, 0x04, 0x20, 0x00, 0x11, 0x90], $0) },
            Row(when: "ID3 tags before packed audio") { count in
                let tag = ID3Sample.tag(ID3Sample.title)
                var demuxer = PackedAudioDemuxer(requiresTimestamp: false)
                _ = try demuxer.feed(repeated(tag, count) + repeated(Sample.adts(1), 4))
            },
            Row(when: "ID3 tags between audio frames") { count in
                let tag = ID3Sample.tag(ID3Sample.title)
                var demuxer = PackedAudioDemuxer(requiresTimestamp: false)
                // Beyond the limit, a tag is bytes without a frame.
                let units = repeated(tag + Sample.adts(1), DemuxLimits.messages + count)
                _ = try demuxer.feed(repeated(Sample.adts(1), 4) + units)
            },
        ]
    }

    // MARK: - Fragmented MP4

    extension DemuxCostTests {
        typealias Movie = MovieBuilder

        private static func movie(_ when: String, _ segment: @escaping @Sendable (Int) -> [UInt8]) -> Row {
            Row(when: when) { count in
                var demuxer = FragmentedMP4Demuxer()
                try demuxer.initialize(with: Movie.initialization([Movie.Track()]))
                for _ in 0..<2 { _ = try demuxer.feed(segment(count)) }
            }
        }

        /// Reads the index of a file, and the segments that it has.
        private static func file(_ when: String, _ file: @escaping @Sendable (Int) -> [UInt8]) -> Row {
            Row(when: when) { count in
                let bytes = file(count)
                let index = try MediaFileIndex.of(bytes).index
                if index.initialization != nil { _ = try index.demux(bytes) }
            }
        }

        private static func sample(_ byte: UInt8) -> Movie.Sample {
            Movie.Sample(payload: [0, 0, 0, 4, 0x65, 0x88, byte, byte])
        }

        private static func fragment(base: UInt64? = nil) -> [UInt8] {
            Movie.fragment([
                Movie.Traf(headerFlags: 0, baseDataOffset: base, runs: [(flags: 0x301, samples: [sample(1)])])
            ])
        }

        static let movies: [Row] = [
            movie("samples") { count in
                Movie.fragment([
                    Movie.Traf(runs: [(flags: 0x301, samples: (0..<count).map { _ in sample(1) })])
                ])
            },
            movie("track runs") { count in
                Movie.fragment([
                    Movie.Traf(runs: (0..<count).map { _ in (flags: 0x301, samples: [sample(1)]) })
                ])
            },
            movie("track fragments") { count in
                Movie.fragment((0..<count).map { _ in Movie.Traf(runs: [(flags: 0x301, samples: [sample(1)])]) })
            },
            movie("movie fragments with data offsets from the file, among empty media data") { count in
                repeated(fragment(base: 4) + repeated(Movie.box("mdat", []), 4), count)
            },
            movie("event messages") { count in
                let body = [0, 0, 0, 0, 0x61, 0, 0, 0, 1, 0x5F, 0x90] + [UInt8](repeating: 0, count: 12)
                return repeated(Movie.box("emsg", body), count) + fragment()
            },
            movie("segment indexes") { count in
                repeated(Movie.box("sidx", [UInt8](repeating: 0, count: 24)), count) + fragment()
            },
            file("samples of a file, each in a chunk of its own") {
                Movie.plainFile(samples: $0, chunks: $0, size: 40)
            },
            file("samples of a file in one chunk") { Movie.plainFile(samples: $0, chunks: 1, size: 1) },
            file("fragments of a file") { Movie.initialization([Movie.Track()]) + repeated(fragment(), $0) },
            file("packets of a transport stream in a file") { count in
                repeated([0x47, 0x1F, 0xFF, 0x10] + [UInt8](repeating: 0xFF, count: 184), count)
            },
            movie("NAL units of a byte in a sample") { count in
                let payload = repeated([0, 0, 0, 1, 0x41], count)
                return Movie.fragment([
                    Movie.Traf(runs: [(flags: 0x301, samples: [Movie.Sample(payload: payload)])])
                ])
            },
        ]
    }
#endif
