package import Media
import Support

/// Converts stored video samples to the byte stream format (ISO/IEC 14496-10 Annex B, ISO/IEC 13818-1 §2.14.1, §2.17.1).
package enum AnnexBAccessUnit {
    private static let startCode: [UInt8] = [0, 0, 0, 1]

    /// The access unit: delimiter, parameter sets if it is a random access point, and the NAL units of the sample.
    ///
    /// The parameter sets of `configuration` are written if the sample of a random access point has none.
    /// - Parameter sample: NAL units, each prefixed with its length in four bytes. A NAL unit that is cut short ends the
    ///   access unit.
    package static func bytes(
        of sample: ArraySlice<UInt8>, _ configuration: VideoConfiguration, isRandomAccessPoint: Bool
    ) -> [UInt8] {
        let codec = configuration.codec
        var bytes = startCode + (codec == .h264 ? [0x09, 0xF0] : [0x46, 0x01, 0x50])
        bytes.reserveCapacity(bytes.count + sample.count)
        if isRandomAccessPoint, !beginsWithParameterSet(sample, codec) {
            let sets =
                configuration.videoParameterSets + configuration.sequenceParameterSets
                + configuration.pictureParameterSets
            for set in sets { bytes += startCode + set }
        }
        forEachNALUnit(of: sample) { unit in
            bytes += startCode
            bytes += sample[unit]
        }
        return bytes
    }

    /// Whether a parameter set precedes the first slice.
    private static func beginsWithParameterSet(_ sample: ArraySlice<UInt8>, _ codec: VideoConfiguration.Codec) -> Bool {
        var found = false
        var isBeforeSlices = true
        forEachNALUnit(of: sample) { unit in
            let header = sample[unit.lowerBound]
            let (isSlice, isSet) =
                codec == .h264
                ? (header & 0x1F <= 5, header & 0x1F == 7) : (header >> 1 & 0x3F < 32, header >> 1 & 0x3F == 33)
            if isSlice { isBeforeSlices = false }
            if isSet, isBeforeSlices { found = true }
        }
        return found
    }

    /// Calls `body` with the indices of each NAL unit, header included. Empty NAL units are skipped.
    private static func forEachNALUnit(of sample: ArraySlice<UInt8>, _ body: (Range<Int>) -> Void) {
        var index = sample.startIndex
        while index + 4 <= sample.endIndex {
            let size = sample[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
            StepCounter.add(1)
            let start = index + 4
            guard size <= sample.endIndex - start else { return }
            if size > 0 { body(start..<start + size) }
            index = start + size
        }
    }
}
