import Decrypt
import Demux
import Media
import Playlist
import Splice
import Support
import Tracker

extension SegmentInput {
    /// Decrypts a media segment and its EXT-X-MAP section, each under its own key: the keys may differ, and either may be clear
    /// (RFC 8216 §4.3.2.4, §4.3.2.5).
    init(decrypting tracked: TrackedSegment, of rendition: InputRendition) throws(DecryptError) {
        let segment = tracked.segment
        let bytes = try SegmentDecryptor.decrypt(
            tracked.body, under: segment.keys.aes128, key: tracked.key, keyURL: tracked.keyURL,
            mediaSequence: segment.mediaSequence, content: .media)
        let map = try tracked.map.map { map throws(DecryptError) in try Self.initialization(map, of: tracked) }
        self.init(
            rendition: rendition, mediaSequence: segment.mediaSequence,
            discontinuitySequence: segment.discontinuitySequence, isDiscontinuous: segment.isDiscontinuous,
            isAfterDiscontinuity: tracked.isAfterDiscontinuity,
            programDateTime: segment.programDateTime?.millisecondsSince1970, duration: Ticks(segment.duration),
            initialization: map, bytes: bytes, ranges: segment.byteRange.flatMap(\.range).map { [$0] } ?? [])
    }

    private static func initialization(_ map: [UInt8], of tracked: TrackedSegment) throws(DecryptError) -> [UInt8] {
        try SegmentDecryptor.decrypt(
            map, under: tracked.segment.map?.keys.aes128, key: tracked.mapKey, keyURL: tracked.mapKeyURL,
            mediaSequence: tracked.segment.mediaSequence, content: .media)
    }
}

extension ClearContent {
    /// Segments and EXT-X-MAP sections of any container.
    static let media = ClearContent(
        isContent: { bytes in (try? LocatedMedia.find(in: bytes)) != nil }, isWhole: LocatedMedia.isWhole)

    /// WebVTT files.
    static let subtitles = ClearContent(isContent: SubtitleInput.isSubtitles, isWhole: SubtitleInput.isWholeSubtitles)
}
