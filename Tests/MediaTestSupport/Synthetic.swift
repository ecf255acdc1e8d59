@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Synthetic packets for the pure parts of the splice: parameter sets and payloads are labels, not bit streams.
enum SyntheticPackets {
    static let program = configuration(1)
    static let advertisement = configuration(2)

    static func configuration(_ label: UInt8) -> VideoConfiguration {
        VideoConfiguration(
            codec: .h264, sequenceParameterSets: [[0x67, label]], pictureParameterSets: [[0x68, label]])
    }

    static func audioConfiguration(rate: SampleRate = 48_000, channels: Int = 2) -> AudioConfiguration {
        AudioConfiguration(
            codec: .aac, sampleRate: rate, channelCount: channels, samplesPerFrame: 1024,
            decoderSpecificInfo: [0x11, UInt8(channels << 3)])
    }

    static let silence = SilentFrame(payload: [0x21, 0xFF], samples: 1024)

    static func videoPacket(
        dts: Int64, pts: Int64? = nil, sync: RandomAccessPoint? = nil, pid: UInt16 = 256,
        configuration: VideoConfiguration = program, payload: [UInt8]? = nil, isReference: Bool = false
    ) -> VideoPacket {
        VideoPacket(
            pid: pid, configuration: configuration, pts: Ticks(pts ?? dts).wire, dts: Ticks(dts).wire,
            randomAccess: sync,
            isDamaged: false, payload: (payload ?? [0, 0, 0, 1, UInt8(truncatingIfNeeded: dts)])[...],
            isReference: isReference)
    }

    /// Returns `count` frames from `start`, the first of every `group` an IDR.
    static func videoPackets(
        _ count: Int, from start: Int64, every frame: Int64 = 3600, group: Int = 25, pid: UInt16 = 256,
        configuration: VideoConfiguration = program
    ) -> [VideoPacket] {
        (0..<count).map {
            videoPacket(
                dts: start + Int64($0) * frame, sync: $0 % group == 0 ? .instantaneousRefresh : .none, pid: pid,
                configuration: configuration)
        }
    }

    static func audioPackets(
        _ count: Int, from start: Int64, configuration: AudioConfiguration = audioConfiguration(), pid: UInt16 = 257
    ) -> [AudioPacket] {
        (0..<count).map { index in
            let ticks = (Int64(index) * 1024 * 90_000 * 2 / Int64(configuration.sampleRate.hertz) + 1) / 2
            return AudioPacket(
                pid: pid, configuration: configuration, pts: Ticks(start + ticks).wire, isDamaged: false,
                payload: [0x21, UInt8(truncatingIfNeeded: index)])
        }
    }

    static func segment(
        _ sequence: UInt64 = 0, discontinuity: UInt64 = 0, date: Int64? = nil
    ) -> SegmentInput {
        SegmentInput(
            rendition: .main, mediaSequence: sequence, discontinuitySequence: discontinuity, programDateTime: date,
            bytes: [])
    }
}
