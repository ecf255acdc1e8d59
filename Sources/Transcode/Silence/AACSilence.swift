import Media

/// Builds AAC frames without spectral data, for an audio track whose source has no audio (ISO/IEC 14496-3 §4.4.2).
package enum AACSilence {
    /// Channel element of a raw_data_block, with its id_syn_ele (Table 4.85).
    private enum Element: Int {
        case singleChannel = 0
        case channelPair = 1
        case lowFrequency = 3
    }

    private static let layouts: [Int: [Element]] = [
        1: [.singleChannel],
        2: [.channelPair],
        3: [.singleChannel, .channelPair],
        4: [.singleChannel, .channelPair, .singleChannel],
        5: [.singleChannel, .channelPair, .channelPair],
        6: [.singleChannel, .channelPair, .channelPair, .lowFrequency],
        7: [.singleChannel, .channelPair, .channelPair, .channelPair, .lowFrequency],
    ]

    /// The smallest raw_data_block that decodes to zeros, at any sampling rate and frame length.
    /// - Parameter channelConfiguration: 1 mono, 2 stereo ... 6 for 5.1, 7 for 7.1.
    /// - Returns: nil for any other value.
    package static func frame(channelConfiguration: Int) -> [UInt8]? {
        guard let layout = layouts[channelConfiguration] else { return nil }
        var bits = BitWriter()
        var instances: [Element: Int] = [:]
        for element in layout {
            bits.append(element.rawValue, bits: 3)
            bits.append(instances[element, default: 0], bits: 4)  // element_instance_tag
            instances[element, default: 0] += 1
            if element == .channelPair { appendPair(&bits) } else { appendSingle(&bits) }
        }
        bits.append(7, bits: 3)  // ID_END
        return bits.bytes
    }

    private static func appendSingle(_ bits: inout BitWriter) {
        bits.append(0, bits: 8)  // global_gain
        appendWindow(&bits)
        appendNoTools(&bits)
    }

    private static func appendPair(_ bits: inout BitWriter) {
        bits.append(1, bits: 1)  // common_window
        appendWindow(&bits)
        bits.append(0, bits: 2)  // ms_mask_present
        for _ in 0..<2 {
            bits.append(0, bits: 8)  // global_gain
            appendNoTools(&bits)
        }
    }

    /// Appends ics_info: a long window without scale factor bands, sections, scale factors and spectral data.
    private static func appendWindow(_ bits: inout BitWriter) {
        bits.append(0, bits: 1 + 2 + 1 + 6 + 1)
    }

    /// Appends pulse_data_present, tns_data_present and gain_control_data_present.
    private static func appendNoTools(_ bits: inout BitWriter) {
        bits.append(0, bits: 3)
    }
}

extension AudioConfiguration {
    /// AAC Main, LC and LTP, with or without SBR, share this syntax.
    private static let objectTypes = [1, 2, 4]

    /// A silent AAC frame for this configuration; nil if the configuration needs an encoder.
    var silentRawDataBlock: [UInt8]? {
        do throws(MediaError) {
            let specific = try AudioSpecificConfig(decoderSpecificInfo)
            guard Self.objectTypes.contains(specific.audioObjectType) else { return nil }
            return AACSilence.frame(channelConfiguration: specific.channelConfiguration)
        } catch {
            return nil
        }
    }
}
