package import Media
package import Support

/// A parser for the segment index of a representation (`sidx`, ISO/IEC 14496-12 §8.16.3).
package enum SegmentIndexParser {
    private static let section = "ISO/IEC 14496-12 §8.16.3"

    /// - Parameters:
    ///   - bytes: the index range.
    ///   - range: where the bytes are in their resource.
    package static func parse(_ bytes: [UInt8], at range: ByteRange) throws(MediaError) -> SegmentIndex {
        guard let box = try BoxReader.wholeBoxes(in: bytes[...]).boxes.first("sidx") else {
            throw MediaError(.truncated, section: section)
        }
        var fields = BoxFields(box.body)
        let version = try fields.versionAndFlags().version
        try fields.skip(4)
        let timescale = UInt64(try fields.u32())
        guard ManifestNumber.timescale.range.contains(timescale) else { throw bad("timescale", box) }
        var start = version == 0 ? UInt64(try fields.u32()) : try fields.u64()
        let firstOffset = version == 0 ? UInt64(try fields.u32()) : try fields.u64()
        guard ManifestNumber.mediaTime.range.contains(start) else { throw bad("earliest_presentation_time", box) }
        guard ManifestNumber.bytePosition.range.contains(firstOffset) else { throw bad("first_offset", box) }
        try fields.skip(2)
        var offset = range.offset + UInt64(box.body.endIndex) + firstOffset
        var entries: [SegmentIndex.Entry] = []
        for _ in 0..<(try fields.u16()) {
            StepCounter.add(1)
            let (reference, duration) = (try fields.u32(), try fields.u32())
            try fields.skip(4)
            // A reference to another index.
            guard reference >> 31 == 0 else { throw bad("reference_type", box) }
            guard reference > 0, duration > 0 else { throw bad("referenced_size", box) }
            entries.append(
                .init(
                    byteRange: ByteRange(offset: offset, length: UInt64(reference)), start: start,
                    duration: UInt64(duration)))
            offset += UInt64(reference)
            start += UInt64(duration)
        }
        return SegmentIndex(timescale: timescale, entries: entries)
    }

    private static func bad(_ field: String, _ box: Box) -> MediaError {
        MediaError(.badParameterSet(field: field), offset: box.start, section: section)
    }
}
