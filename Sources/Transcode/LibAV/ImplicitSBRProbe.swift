import CLibAV
import Media

/// Whether AAC that its header calls LC carries SBR, or SBR and parametric stereo (ISO/IEC 14496-3 §1.6.5): in ADTS
/// nothing but the frames themselves says so, and what says it stands behind the spectral data. So libavcodec decodes the
/// first frames of a stretch.
enum ImplicitSBRProbe {
    /// Encoders put SBR data into every frame; some begin with an empty one.
    private static let framesToSBR = 3
    /// Parametric stereo is told by two channels that differ; in silence they do not.
    private static let framesToStereo = 16

    /// - Parameter packets: of one configuration, in order.
    /// - Returns: `configuration` with what was found announced behind it; nil when there is nothing to find or nothing
    ///   was found.
    static func signaledConfiguration(
        _ configuration: AudioConfiguration, in packets: ArraySlice<AudioPacket>
    ) -> AudioConfiguration? {
        guard configuration.mayCarryImplicitSBR else { return nil }
        var rest = packets.prefix(framesToStereo)
        for _ in 0..<framesToSBR where !rest.isEmpty {
            do throws(MediaError) {
                if let hasStereo = try parametricStereo(configuration, in: rest) {
                    return configuration.signaling(parametricStereo: hasStereo)
                }
            } catch {
                // What cannot be decoded tells nothing.
            }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// - Returns: nil when the first packet has no SBR data.
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
    /// SBR doubles the rate; nobody sends what would be more than 48 kHz then.
    private static let fastestCore = 24_000

    /// AAC-LC whose configuration ends where it could announce more.
    fileprivate var mayCarryImplicitSBR: Bool {
        guard codec == .aac, sampleRate <= Self.fastestCore, decoderSpecificInfo.count == 2 else { return false }
        do throws(MediaError) {
            return try AudioSpecificConfig(decoderSpecificInfo).audioObjectType == AudioSpecificConfig.lowComplexity
        } catch {
            return false
        }
    }

    /// With SBR announced the backward compatible way.
    fileprivate func signaling(parametricStereo: Bool) -> AudioConfiguration {
        AudioConfiguration(
            codec: codec, sampleRate: sampleRate, channelCount: channelCount, samplesPerFrame: samplesPerFrame,
            decoderSpecificInfo: decoderSpecificInfo
                + AudioSpecificConfig.trailingExtension(
                    samplingFrequency: 2 * sampleRate, parametricStereo: parametricStereo))
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
