package import Media

/// One `moof` (ISO/IEC 14496-12 §8.8.4).
package struct MovieFragment: Equatable, Sendable {
    package let sequenceNumber: UInt32
    package let tracks: [TrackFragment]

    /// Returns the fragments of a segment, in order.
    package static func fragments(of segment: [UInt8]) throws(MediaError) -> [MovieFragment] {
        let boxes = try BoxReader.boxes(in: segment[...])
        var reader = FragmentReader(segment, boxes: boxes, defaults: [:])
        var fragments: [MovieFragment] = []
        for box in boxes where box.type == "moof" {
            let fragment = try reader.fragment(box)
            guard fragment.tracks.flatMap(\.samples).allSatisfy(\.isComplete) else {
                throw MediaError(.truncated, offset: segment.endIndex, section: BoxReader.section)
            }
            fragments.append(fragment)
        }
        return fragments
    }
}
