import Media

/// Audio sample entry: mp4a, ac-3 or ec-3 (ISO/IEC 14496-12 §12.2.3, 14496-14 §5.6, ETSI TS 102 366 Annex F).
struct AudioSampleEntry {
    private let configuration: AudioConfiguration

    init(_ configuration: AudioConfiguration) { self.configuration = configuration }

    /// Sample rate and channel count of the decoder's output, with explicitly signaled SBR and parametric stereo.
    private var outputFormat: (sampleRate: SampleRate, channelCount: Int) {
        let core = (configuration.sampleRate, configuration.channelCount)
        guard configuration.codec == .aac else { return core }
        do throws(MediaError) {
            let specific = try AudioSpecificConfig(configuration.decoderSpecificInfo)
            let isParametricStereo = specific.extensionAudioObjectType == AudioSpecificConfig.parametricStereo
            return (
                specific.extensionSamplingFrequency ?? configuration.sampleRate,
                isParametricStereo ? 2 : configuration.channelCount
            )
        } catch {
            return core
        }
    }

    func write(to stsd: inout BoxWriter) throws(MediaError) {
        let type = try type
        stsd.box(type) { entry in
            entry.zeros(6)
            entry.u16(1)  // data_reference_index
            entry.zeros(8)
            entry.u16(UInt16(clamping: outputFormat.channelCount))
            entry.u16(16)  // samplesize
            entry.zeros(4)
            // 16.16 fixed point. A rate that does not fit is 0; the decoder configuration contains it.
            entry.u32((UInt32(UInt16(exactly: outputFormat.sampleRate.hertz) ?? 0)) << 16)
            switch configuration.codec {
            case .ac3: entry.box("dac3") { $0.append(configuration.decoderSpecificInfo) }
            case .eac3: entry.box("dec3") { $0.append(configuration.decoderSpecificInfo) }
            case .aac, .mpegAudio:
                entry.elementaryStreamDescriptor(
                    configuration.objectTypeIndication, .audio, info: configuration.decoderSpecificInfo)
            case .flac, .opus: break
            }
        }
    }

    private var type: BoxType {
        get throws(MediaError) {
            switch configuration.codec {
            case .aac, .mpegAudio: "mp4a"
            case .ac3: "ac-3"
            case .eac3: "ec-3"
            // FLAC and Opus are always transcoded.
            case .flac, .opus: throw MediaError(.badParameterSet(field: "codec"), section: "ISO/IEC 14496-12 §12.2.3")
            }
        }
    }
}

extension AudioConfiguration {
    /// objectTypeIndication of an `mp4a` entry (ISO/IEC 14496-1 Table 5).
    var objectTypeIndication: UInt8 {
        switch codec {
        case .mpegAudio where sampleRate < 32_000: 0x69  // 13818-3, half sample rates
        case .mpegAudio: 0x6B  // 11172-3
        default: 0x40
        }
    }
}
