import Decrypt
import Demux
import Media
import Playlist
import Splice
import Support
import Tracker

/// The clear bytes of a media segment and of its EXT-X-MAP section.
///
/// Each is decrypted under its own key: the keys may differ, and either may be clear (RFC 8216 §4.3.2.4, §4.3.2.5).
struct DecryptedSegment: Equatable {
    let bytes: [UInt8]
    /// The EXT-X-MAP section; nil if none is in force.
    let initialization: [UInt8]?

    init(_ tracked: TrackedSegment) throws(DecryptError) {
        let segment = tracked.segment
        bytes = try SegmentDecryptor.decrypt(
            tracked.body, under: segment.keys.aes128, key: tracked.key, keyURL: tracked.keyURL,
            mediaSequence: segment.mediaSequence)
        initialization = try tracked.map.map { map throws(DecryptError) in try Self.initialization(map, of: tracked) }
    }

    /// Decrypts `map`, unless it is clear.
    ///
    /// Some packagers list a key before a section that they leave clear, so a section that begins as boxes do is not
    /// decrypted.
    private static func initialization(_ map: [UInt8], of tracked: TrackedSegment) throws(DecryptError) -> [UInt8] {
        let segmentKey = tracked.segment.map?.keys.aes128
        let container = try? SegmentContainer.sniff(map)
        guard segmentKey != nil, container != .fragmentedMP4 else { return map }
        return try SegmentDecryptor.decrypt(
            map, under: segmentKey, key: tracked.mapKey, keyURL: tracked.mapKeyURL,
            mediaSequence: tracked.segment.mediaSequence)
    }
}

extension SegmentInput {
    /// - Parameter clear: the decrypted bytes of `tracked`.
    init(_ tracked: TrackedSegment, _ clear: DecryptedSegment, of rendition: InputRendition) {
        self.init(
            rendition: rendition, mediaSequence: tracked.segment.mediaSequence,
            discontinuitySequence: tracked.segment.discontinuitySequence,
            isDiscontinuous: tracked.segment.isDiscontinuous, isAfterDiscontinuity: tracked.isAfterDiscontinuity,
            programDateTime: tracked.segment.programDateTime?.millisecondsSince1970,
            duration: Ticks(tracked.segment.duration), initialization: clear.initialization, bytes: clear.bytes,
            ranges: tracked.segment.byteRange.flatMap(\.range).map { [$0] } ?? [])
    }
}
