import Decrypt
import Demux
import Playlist
import Splice
import Tracker

/// A segment and the section it is read with, each decrypted under its own key: they may differ, and either may be clear.
struct DecryptedSegment: Equatable {
    let bytes: [UInt8]
    /// Nil when no EXT-X-MAP is in force.
    let initialization: [UInt8]?

    init(_ tracked: TrackedSegment) throws(DecryptError) {
        let segment = tracked.segment
        bytes = try SegmentDecryptor.decrypt(
            tracked.body, keys: segment.keys, key: tracked.key, keyURL: tracked.keyURL,
            mediaSequence: segment.mediaSequence)
        initialization = try tracked.map.map { map throws(DecryptError) in try Self.initialization(map, of: tracked) }
    }

    /// Packagers list a key in front of a section that they leave clear: what begins as boxes is taken as it stands.
    private static func initialization(_ map: [UInt8], of tracked: TrackedSegment) throws(DecryptError) -> [UInt8] {
        let keys = tracked.segment.map?.keys ?? []
        guard !keys.isEmpty, SegmentContainer.sniff(map) != .fragmentedMP4 else { return map }
        return try SegmentDecryptor.decrypt(
            map, keys: keys, key: tracked.mapKey, keyURL: tracked.mapKeyURL,
            mediaSequence: tracked.segment.mediaSequence)
    }
}
