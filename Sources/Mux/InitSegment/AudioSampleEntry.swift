import Media

/// mp4a, ac-3, ec-3, Opus, fLaC or alac (ISO/IEC 14496-12 §12.2.3, 14496-14 §5.6, ETSI TS 102 366 Annex F).
struct AudioSampleEntry {
    private let configuration: AudioConfiguration

    init(_ configuration: AudioConfiguration) { self.configuration = configuration }

    /// Rate and channels of what is heard: SBR and parametric stereo that are announced count.
    private var outputFormat: (sampleRate: Int, channelCount: Int) {
        let asCoded = (configuration.sampleRate, configuration.channelCount)
        guard configuration.codec == .aac else { return asCoded }
        do throws(MediaError) {
            let specific = try AudioSpecificConfig(configuration.decoderSpecificInfo)
            let isParametricStereo = specific.extensionAudioObjectType == AudioSpecificConfig.parametricStereo
            return (
                specific.extensionSamplingFrequency ?? configuration.sampleRate,
                isParametricStereo ? 2 : configuration.channelCount
            )
        } catch {
            return asCoded
        }
    }

    func write(to stsd: inout BoxWriter) throws(MediaError) {
        let type = try type
        stsd.box(type) { entry in
            entry.zeros(6)
            entry.u16(1)  // data_reference_index
            entry.zeros(8)
            entry.u16(UInt16(clamping: outputFormat.channelCount))
            entry.u16(configuration.sampleSize)
            entry.zeros(4)
            // 16.16; a rate that does not fit is 0 and stands in the decoder's configuration.
            entry.u32((UInt32(UInt16(exactly: outputFormat.sampleRate) ?? 0)) << 16)
            switch configuration.codec {
            case .ac3: entry.box("dac3") { $0.append(configuration.decoderSpecificInfo) }
            case .eac3: entry.box("dec3") { $0.append(configuration.decoderSpecificInfo) }
            case .opus: entry.box("dOps") { $0.append(configuration.decoderSpecificInfo) }
            case .flac: entry.fullBox("dfLa") { $0.append(configuration.decoderSpecificInfo) }
            case .alac: entry.fullBox("alac") { $0.append(configuration.decoderSpecificInfo) }
            case .aac, .mpegAudio: writeElementaryStreamDescriptor(&entry)
            case .dts, .smpte302, .blurayPCM: break
            }
        }
    }

    private var type: BoxType {
        get throws(MediaError) {
            switch configuration.codec {
            case .aac, .mpegAudio: "mp4a"
            case .ac3: "ac-3"
            case .eac3: "ec-3"
            case .opus: "Opus"
            case .flac: "fLaC"
            case .alac: "alac"
            // The audio bridge is their only way: no player takes them in fragmented MP4.
            case .dts, .smpte302, .blurayPCM:
                throw MediaError(.badParameterSet(field: "codec"), section: "ISO/IEC 14496-12 §12.2.3")
            }
        }
    }

    /// esds (14496-14 §5.6) with an ES_Descriptor (14496-1 §7.2.6.5). No bit rate is said: it would make the name of
    /// the init section depend on more than the configuration.
    private func writeElementaryStreamDescriptor(_ entry: inout BoxWriter) {
        let info = configuration.decoderSpecificInfo
        let infoSize = info.isEmpty ? 0 : 5 + info.count
        entry.fullBox("esds") { esds in
            esds.descriptor(tag: 0x03, size: 3 + 5 + 13 + infoSize + 5 + 1)
            esds.u16(0)  // ES_ID, 0 in a file (14496-14 §4.1.2)
            esds.u8(0)
            esds.descriptor(tag: 0x04, size: 13 + infoSize)
            esds.u8(configuration.objectTypeIndication)
            esds.u8(0x15)  // audio stream, downstream
            esds.zeros(3 + 4 + 4)
            if !info.isEmpty {
                esds.descriptor(tag: 0x05, size: info.count)
                esds.append(info)
            }
            esds.descriptor(tag: 0x06, size: 1)
            esds.u8(0x02)
        }
    }
}

extension AudioConfiguration {
    /// objectTypeIndication (ISO/IEC 14496-1 Table 5) of what goes into an `mp4a` entry.
    var objectTypeIndication: UInt8 {
        switch codec {
        case .mpegAudio where sampleRate < 32_000: 0x69  // 13818-3, the halved rates
        case .mpegAudio: 0x6B  // 11172-3
        default: 0x40
        }
    }
}

extension BoxWriter {
    /// A descriptor's tag and its size in four bytes of seven bits each (ISO/IEC 14496-1 §8.3.3).
    fileprivate mutating func descriptor(tag: UInt8, size: Int) {
        u8(tag)
        for shift in [21, 14, 7] { u8(0x80 | UInt8(size >> shift & 0x7F)) }
        u8(UInt8(size & 0x7F))
    }
}
