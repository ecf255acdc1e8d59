import Media

/// Video sample entry: avc1 or hvc1 (ISO/IEC 14496-12 §12.1.3, 14496-15 §5.4.2 and §8.4.1).
///
/// These types signal that the entry contains the parameter sets. The samples may repeat the same parameter sets.
/// Interlaced video gets no `fiel` box, which is QuickTime's: players take the field order from the parameter sets.
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
        entry.u32(0x0048_0000)  // horizresolution, 72 dpi
        entry.u32(0x0048_0000)  // vertresolution
        entry.u32(0)
        entry.u16(1)  // frame_count
        entry.zeros(32)  // compressorname
        entry.u16(0x0018)  // depth
        entry.u16(0xFFFF)
    }

    /// Writes `colr` (§12.1.5).
    private func writeColor(_ entry: inout BoxWriter) {
        guard let color = description.color else { return }
        entry.box("colr") { colr in
            colr.type("nclx")
            colr.u16(UInt16(color.primaries))
            colr.u16(UInt16(color.transferCharacteristics))
            colr.u16(UInt16(color.matrixCoefficients))
            colr.u8(color.isFullRange ? 0x80 : 0)
        }
    }

    /// Writes `pasp` (§12.1.4).
    private func writePixelAspectRatio(_ entry: inout BoxWriter) {
        guard let ratio = description.sampleAspectRatio else { return }
        entry.box("pasp") { pasp in
            pasp.u32(UInt32(ratio.numerator))
            pasp.u32(UInt32(ratio.denominator))
        }
    }
}
