import Media

/// avc1 or hvc1 (ISO/IEC 14496-12 §12.1.3, 14496-15 §5.4.2 and §8.4.1). These types say that the parameter sets stand
/// in the entry; that the samples repeat the same bytes does no harm.
struct VideoSampleEntry {
    private let configuration: VideoConfiguration
    private let description: VideoDescription

    init(_ configuration: VideoConfiguration, _ description: VideoDescription) {
        self.configuration = configuration
        self.description = description
    }

    func write(to stsd: inout BoxWriter) throws(MediaError) {
        let isH264 = configuration.codec == .h264
        try stsd.box(isH264 ? "avc1" : "hvc1") { (entry: inout BoxWriter) throws(MediaError) in
            writeFields(&entry)
            if isH264 {
                let record = try AVCDecoderConfigurationRecord(configuration).bytes
                entry.box("avcC") { $0.append(record) }
            } else {
                let record = try HEVCDecoderConfigurationRecord(configuration).bytes
                entry.box("hvcC") { $0.append(record) }
            }
            writeColor(&entry)
            writePixelAspectRatio(&entry)
        }
    }

    private func writeFields(_ entry: inout BoxWriter) {
        entry.zeros(6)
        entry.u16(1)  // data_reference_index
        entry.zeros(16)
        entry.u16(UInt16(description.width))
        entry.u16(UInt16(description.height))
        entry.u32(0x0048_0000)  // 72 dpi across
        entry.u32(0x0048_0000)  // and down
        entry.u32(0)
        entry.u16(1)  // frame_count
        entry.zeros(32)  // compressorname
        entry.u16(0x0018)  // depth
        entry.u16(0xFFFF)
    }

    /// §12.1.5.
    private func writeColor(_ entry: inout BoxWriter) {
        guard let colour = description.color else { return }
        entry.box("colr") { colr in
            colr.type("nclx")
            colr.u16(UInt16(colour.primaries))
            colr.u16(UInt16(colour.transferCharacteristics))
            colr.u16(UInt16(colour.matrixCoefficients))
            colr.u8(colour.isFullRange ? 0x80 : 0)
        }
    }

    /// §12.1.4.
    private func writePixelAspectRatio(_ entry: inout BoxWriter) {
        guard let ratio = description.sampleAspectRatio else { return }
        entry.box("pasp") { pasp in
            pasp.u32(UInt32(ratio.numerator))
            pasp.u32(UInt32(ratio.denominator))
        }
    }
}
