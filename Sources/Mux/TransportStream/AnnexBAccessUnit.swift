package import Media
import Support

/// Converts published video samples to the byte stream format (ISO/IEC 14496-10 Annex B, ISO/IEC 13818-1 §2.14.1,
/// §2.17.1). Samples of MPEG-2 are in their byte stream format already.
package enum AnnexBAccessUnit {
    /// The access unit delimiter that each access unit begins with; empty for MPEG-2.
    package static func delimiter(_ codec: VideoConfiguration.Codec) -> [UInt8] {
        switch codec {
        case .h264: [0, 0, 0, 1, 0x09, 0xF0]
        case .hevc: [0, 0, 0, 1, 0x46, 0x01, 0x50]
        case .mpeg2: []
        }
    }

    /// Appends the NAL units of a sample, each with a four-byte start code in place of its length.
    /// - Parameter sample: NAL units, each prefixed with its length in four bytes. A NAL unit that is cut short ends the
    ///   access unit.
    package static func append(_ sample: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += sample
        let size = forEachUnit(of: sample) { unit in
            let index = start + unit - sample.startIndex
            (bytes[index], bytes[index + 1], bytes[index + 2], bytes[index + 3]) = (0, 0, 0, 1)
        }
        bytes.removeLast(sample.count - size)
    }

    /// Bytes that `append` appends.
    static func byteCount(of sample: ArraySlice<UInt8>) -> Int { forEachUnit(of: sample) { _ in } }

    /// - Parameter body: called with the index of each whole NAL unit's length.
    /// - Returns: the total size of the whole NAL units with their lengths, in bytes.
    private static func forEachUnit(of sample: ArraySlice<UInt8>, _ body: (Int) -> Void) -> Int {
        var index = sample.startIndex
        while index + 4 <= sample.endIndex {
            StepCounter.add(1)
            let length =
                UInt32(sample[index]) << 24 | UInt32(sample[index + 1]) << 16 | UInt32(sample[index + 2]) << 8
                | UInt32(sample[index + 3])
            let end = index + 4 + Int(length)
            guard end <= sample.endIndex else { break }
            body(index)
            index = end
        }
        return index - sample.startIndex
    }
}
