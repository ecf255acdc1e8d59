import CLibAV
import Media

/// Detects SBR and parametric stereo in AAC whose header signals AAC-LC (ISO/IEC 14496-3 §1.6.5).
///
/// In ADTS only the frames themselves carry this information, after the spectral data. Therefore libavcodec decodes the
/// first frames of a span.
enum ImplicitSBRProbe {
    /// Frames decoded to find SBR. Encoders write SBR data into every frame, but some begin with an empty frame.
    private static let framesToSBR = 3
    /// Frames decoded to find parametric stereo, which shows in two channels that differ; silence hides the difference.
    private static let framesToStereo = 16

    /// Returns `configuration` with the detected extensions signaled.
    /// - Returns: nil if `configuration` cannot have implicit SBR, or the frames have none.
    /// - Throws: `MediaError.Reason.missingLibrary`.
    static func signaledConfiguration(
        _ configuration: AudioConfiguration, in packets: ArraySlice<AudioPacket>
    ) throws(MediaError) -> AudioConfiguration? {
        guard configuration.mayCarryImplicitSBR else { return nil }
        _ = unsafe try LibAV.functions()
        var rest = packets.prefix(framesToStereo)
        for _ in 0..<framesToSBR where !rest.isEmpty {
            do throws(MediaError) {
                if let hasStereo = try parametricStereo(configuration, in: rest) {
                    return configuration.signaling(parametricStereo: hasStereo)
                }
            } catch {
                // Undecodable frames prove nothing: try from the next packet.
            }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Returns whether the packets carry parametric stereo; nil if the first packet has no SBR data.
    private static func parametricStereo(
        _ configuration: AudioConfiguration, in packets: ArraySlice<AudioPacket>
    ) throws(MediaError) -> Bool? {
        let decoder = try AudioDecoder(configuration)
        var isFirst = true
        for packet in packets {
            try decoder.send(packet.payload, time: 0)
            while try decoder.receive() {
                if isFirst, ![FF_PROFILE_AAC_HE, FF_PROFILE_AAC_HE_V2].contains(decoder.profile) { return nil }
                isFirst = false
                if configuration.channelCount != 1 { return false }
                if decoder.frame.hasUnequalChannels { return true }
            }
        }
        return isFirst ? nil : false
    }
}

extension AudioConfiguration {
    /// Highest AAC-LC sample rate to probe. SBR doubles the rate, and encoders do not exceed 48 kHz with SBR.
    private static let maxCoreSampleRate: SampleRate = 24_000

    /// Whether this is AAC-LC whose configuration ends before the optional SBR extension.
    fileprivate var mayCarryImplicitSBR: Bool {
        codec == .aac && sampleRate <= Self.maxCoreSampleRate && decoderSpecificInfo.count == 2
            && (try? AudioSpecificConfig(decoderSpecificInfo))?.audioObjectType == AudioSpecificConfig.lowComplexity
    }

    fileprivate func signaling(parametricStereo: Bool) -> AudioConfiguration {
        AudioConfiguration(
            codec: codec, sampleRate: sampleRate, channelCount: channelCount, samplesPerFrame: samplesPerFrame,
            decoderSpecificInfo: decoderSpecificInfo
                + AudioSpecificConfig.trailingExtension(
                    samplingFrequency: SampleRate(2 * sampleRate.hertz) ?? 48_000, parametricStereo: parametricStereo))
    }
}

extension LibAVFrame {
    fileprivate var hasUnequalChannels: Bool {
        guard channelCount == 2, format == AV_SAMPLE_FMT_FLTP.rawValue, let left = unsafe raw.pointee.extended_data[0],
            let right = unsafe raw.pointee.extended_data[1]
        else { return false }
        let size = sampleCount * MemoryLayout<Float>.size
        return unsafe !UnsafeRawBufferPointer(start: left, count: size).elementsEqual(
            UnsafeRawBufferPointer(start: right, count: size))
    }
}
