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
        let map = try tracked.clearInitialization()
        self.init(
            rendition: rendition, mediaSequence: segment.mediaSequence,
            discontinuitySequence: segment.discontinuitySequence, isDiscontinuous: segment.isDiscontinuous,
            isAfterDiscontinuity: tracked.isAfterDiscontinuity, repeatable: Ticks(tracked.repeatable),
            programDateTime: segment.programDateTime?.millisecondsSince1970, duration: Ticks(segment.duration),
            initialization: map, bytes: bytes, ranges: segment.byteRange.flatMap(\.range).map { [$0] } ?? [])
    }
}

extension TrackedSegment {
    /// Decrypts the EXT-X-MAP section, unless it is clear; nil if there is none.
    func clearInitialization() throws(DecryptError) -> [UInt8]? {
        try map.map { map throws(DecryptError) in
            try SegmentDecryptor.decrypt(
                map, under: segment.map?.keys.aes128, key: mapKey, keyURL: mapKeyURL,
                mediaSequence: segment.mediaSequence, content: .media)
        }
    }
}

extension ClearContent {
    /// Segments and EXT-X-MAP sections of any container.
    static let media = ClearContent(
        isContent: { bytes in (try? LocatedMedia.find(in: bytes)) != nil }, isWhole: LocatedMedia.isWhole)

    /// WebVTT files.
    static let subtitles = ClearContent(isContent: SubtitleInput.isSubtitles, isWhole: SubtitleInput.isWholeSubtitles)
}
