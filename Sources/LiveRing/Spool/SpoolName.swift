import Playlist
import Support

/// The names of files in the spool. Only files with such names are ever removed from a spool directory.
package enum SpoolName {
    static let journal = "ring.m3u8"
    static let checkpoint = "ring.checkpoint"
    static let lock = "ring.lock"
    /// A copy of a damaged journal, for inspection.
    static let damagedJournal = "ring.m3u8.damaged"
    /// The suffix of a file that is not complete yet.
    static let partSuffix = ".part"

    /// The name of a segment: `seg-<media sequence>-<fingerprint>.m4s`.
    ///
    /// The number makes a directory readable. The fingerprint of the fragment's header (decode times and sample sizes)
    /// prevents caches from answering with the bytes of an older ring that began at the same number.
    static func segment(mediaSequence: UInt64, header: [UInt8]) -> String {
        segment(mediaSequence: mediaSequence, fingerprint: fingerprint(header))
    }

    static func segment(mediaSequence: UInt64, fingerprint: UInt32) -> String {
        var name = Array(segmentPrefix.utf8)
        name.reserveCapacity(40)
        name += String(mediaSequence).utf8
        name.append(ASCII.minus)
        for shift in stride(from: 28, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: fingerprint >> UInt32(shift)) & 15
            name.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
        }
        name += fragmentedMP4Suffix.utf8
        return String(decoding: name, as: UTF8.self)
    }

    /// The number and the fingerprint in the name of a segment; nil for a name that `segment` does not return.
    static func numberAndFingerprint(ofSegment name: some Sequence<UInt8>) -> (number: UInt64, fingerprint: UInt32)? {
        var bytes = name.makeIterator()
        for expected in segmentPrefix.utf8 where bytes.next() != expected { return nil }
        var (number, digits) = (UInt64(0), 0)
        while let digit = bytes.next(), digit != ASCII.minus {
            // No leading zero, and not more than the ring assigns.
            guard ASCII.zero...ASCII.nine ~= digit, digits == 0 || number > 0, digits < 18 else { return nil }
            number = number * 10 + UInt64(digit - ASCII.zero)
            digits += 1
        }
        var fingerprint: UInt32 = 0
        for _ in 0..<8 {
            guard let value = bytes.next().flatMap(valueOfDigit) else { return nil }
            fingerprint = fingerprint << 4 | value
        }
        for expected in fragmentedMP4Suffix.utf8 where bytes.next() != expected { return nil }
        return digits > 0 && bytes.next() == nil ? (number, fingerprint) : nil
    }

    /// - Returns: nil for another byte than a hexadecimal digit without capital letters.
    private static func valueOfDigit(_ digit: UInt8) -> UInt32? {
        switch digit {
        case ASCII.zero...ASCII.nine: UInt32(digit - ASCII.zero)
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(digit - UInt8(ascii: "a") + 10)
        default: nil
        }
    }

    private static let segmentPrefix = "seg-"
    private static let fragmentedMP4Suffix = ".m4s"
    private static let transportStreamSuffix = ".ts"

    /// The name of a segment as a transport stream: `seg-<media sequence>-<fingerprint>.ts`. No such file is in the spool.
    static func transportStream(ofSegment name: String) -> String {
        name.dropLast(fragmentedMP4Suffix.count) + transportStreamSuffix
    }

    /// The name of the segment whose transport stream is called `name`; nil for any other name.
    package static func segment(ofTransportStream name: some StringProtocol) -> String? {
        guard name.hasSuffix(transportStreamSuffix) else { return nil }
        let segment = name.dropLast(transportStreamSuffix.count) + fragmentedMP4Suffix
        return mediaSequence(ofSegment: segment) == nil ? nil : String(segment)
    }

    /// The media sequence number in the name of a segment; nil for any other name.
    package static func mediaSequence(ofSegment name: some StringProtocol) -> UInt64? {
        guard name.hasPrefix("seg-"), name.hasSuffix(".m4s") else { return nil }
        return mediaSequence(in: name.dropFirst(4).dropLast(4))
    }

    /// The kinds of tracks beside the leading one. The prefixes of their names are equally long.
    package enum TrackKind: String, CaseIterable, Sendable {
        case audio, video
    }

    /// The name of a segment's file in a track beside the leading one: `audio-<track>-<media sequence>-<fingerprint>.m4s`.
    static func file(of kind: TrackKind, track: Int, mediaSequence: UInt64, header: [UInt8]) -> String {
        "\(kind)-\(track)-\(mediaSequence)-\(hexFingerprint(header)).m4s"
    }

    /// The kind, the track and the segment in the name of a track's file; nil for any other name.
    package static func trackFile(
        named name: some StringProtocol
    ) -> (kind: TrackKind, track: Int, mediaSequence: UInt64)? {
        guard name.hasSuffix(".m4s"), let kind = TrackKind.allCases.first(where: { name.hasPrefix("\($0)-") }),
            let (track, mediaSequence) = numberAndSequence(in: name.dropFirst(6).dropLast(4))
        else { return nil }
        return (kind, track, mediaSequence)
    }

    /// A track of a segment or an init section that is extracted on request. No file with such a name is in the spool.
    package enum Track: String, CaseIterable, Sendable {
        case video, audio
        /// The first frame of the video.
        case iframe
    }

    /// The name of one track of a file: `seg-<media sequence>-<fingerprint>-video.m4s`, `init-<hash>-video.mp4`.
    package static func extract(_ track: Track, of name: String) -> String {
        "\(name.dropLast(4))-\(track)\(name.suffix(4))"
    }

    /// The track and the file in the name of one track of a file; nil for any other name.
    package static func extract(named name: some StringProtocol) -> (track: Track, file: String)? {
        guard name.hasSuffix(fragmentedMP4Suffix) || name.hasSuffix(".mp4") else { return nil }
        for track in Track.allCases where name.dropLast(4).hasSuffix("-\(track)") {
            let file = String(name.dropLast(5 + track.rawValue.utf8.count)) + String(name.suffix(4))
            return mediaSequence(ofSegment: file) != nil || isInitialization(file) ? (track, file) : nil
        }
        return nil
    }

    package static let iFramePlaylist = "iframes.m3u8"

    /// The name of the playlist of an audio track: `audio-<number>.m3u8`.
    static func audioPlaylist(_ number: Int) -> String { "audio-\(number).m3u8" }

    /// The name of the playlist of a video track: `video-<number>.m3u8`, and `video.m3u8` of the leading one.
    static func videoPlaylist(_ number: Int) -> String { number == 0 ? "video.m3u8" : "video-\(number).m3u8" }

    /// The content of the playlist of a track; nil for any other name.
    package static func content(ofTrackPlaylist name: some StringProtocol) -> PlaylistContent? {
        if name == videoPlaylist(0) { return .video(0) }
        guard name.hasSuffix(".m3u8"), let kind = TrackKind.allCases.first(where: { name.hasPrefix("\($0)-") }),
            let number = number(name.dropFirst(6).dropLast(5))
        else { return nil }
        switch kind {
        case .audio: return .audio(number)
        case .video: return number > 0 ? .video(number) : nil
        }
    }

    /// The name of a subtitle file: `sub-<rendition>-<media sequence>-<fingerprint>.vtt`, with the fingerprint of `bytes`.
    static func subtitles(rendition: Int, mediaSequence: UInt64, bytes: [UInt8]) -> String {
        "sub-\(rendition)-\(mediaSequence)-\(hexFingerprint(bytes)).vtt"
    }

    /// The rendition and the segment in the name of a subtitle file; nil for any other name.
    package static func subtitles(named name: some StringProtocol) -> (rendition: Int, mediaSequence: UInt64)? {
        guard name.hasPrefix("sub-"), name.hasSuffix(".vtt") else { return nil }
        return numberAndSequence(in: name.dropFirst(4).dropLast(4)).map { (rendition: $0, mediaSequence: $1) }
    }

    private static func numberAndSequence(in text: some StringProtocol) -> (track: Int, mediaSequence: UInt64)? {
        guard let dash = text.firstIndex(of: "-"), let track = number(text[..<dash]),
            let sequence = mediaSequence(in: text[text.index(after: dash)...])
        else { return nil }
        return (track, sequence)
    }

    /// The name of a rendition's subtitle journal and of its playlist: `subs-<rendition>.m3u8`.
    static func subtitleJournal(_ rendition: Int) -> String { "subs-\(rendition).m3u8" }

    /// The rendition in the name of a subtitle journal; nil for any other name.
    package static func rendition(ofSubtitleJournal name: some StringProtocol) -> Int? {
        guard name.hasPrefix("subs-"), name.hasSuffix(".m3u8") else { return nil }
        return number(name.dropFirst(5).dropLast(5))
    }

    private static func number(_ digits: some StringProtocol) -> Int? {
        guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }

    /// The number in `<media sequence>-<fingerprint>`; nil for other text.
    private static func mediaSequence(in text: some StringProtocol) -> UInt64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 8, parts[1].allSatisfy(isAlphanumeric) else { return nil }
        // The ring assigns no larger numbers, and later numbers could overflow.
        return UInt64(parts[0]).flatMap { $0 < UInt64(Int64.max) ? $0 : nil }
    }

    package static func isInitialization(_ name: some StringProtocol) -> Bool { isHashed(name, after: "init-") }

    /// The kind of the `SidecarFile` called `name`; nil for any other name.
    static func kind(ofSidecar name: some StringProtocol) -> SidecarFile.Kind? {
        SidecarFile.Kind.allCases.first { isHashed(name, after: $0.prefix) }
    }

    /// Whether an earlier version may have written a file called `name`. No segment needs it.
    static func isLeadIn(_ name: some StringProtocol) -> Bool { isHashed(name, after: "leadin-") }

    /// Whether `name` is `<prefix><letters, digits>.mp4`.
    private static func isHashed(_ name: some StringProtocol, after prefix: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(".mp4"), name.utf8.count <= 100 else { return false }
        let middle = name.dropFirst(prefix.utf8.count).dropLast(4)
        return !middle.isEmpty && middle.allSatisfy(isAlphanumeric)
    }

    /// Whether `name` is `<64 hexadecimal digits>.m4s`.
    static func isArchiveObject(_ name: some StringProtocol) -> Bool {
        name.utf8.count == 68 && name.hasSuffix(fragmentedMP4Suffix)
            && name.utf8.dropLast(4).allSatisfy { Hexadecimal.value(ofDigit: $0) != nil }
    }

    /// Whether the header of a segment (`styp`, `moof` and the header of `mdat`) matches the fingerprint in `name`; nil
    /// if `name` is not the name of a segment or of a track's file.
    package static func isHeader(_ header: ArraySlice<UInt8>, ofSegment name: String) -> Bool? {
        guard mediaSequence(ofSegment: name) != nil || trackFile(named: name) != nil else { return nil }
        return name.dropLast(fragmentedMP4Suffix.count).hasSuffix("-\(hexFingerprint(header))")
    }

    /// The hash in the name of an init section or of a file beside segments; nil for any other name.
    package static func hash(inNameOfShared name: String) -> Substring? {
        guard isInitialization(name) || kind(ofSidecar: name) != nil, let dash = name.lastIndex(of: "-") else {
            return nil
        }
        return name[name.index(after: dash)...].dropLast(4)
    }

    /// Whether only a ring creates files called `name`.
    static func isRingFile(_ name: String) -> Bool {
        if name == journal + partSuffix || name == checkpoint + partSuffix { return true }
        let base = name.hasSuffix(partSuffix) ? name.dropLast(partSuffix.count) : name[...]
        return isInitialization(base) || mediaSequence(ofSegment: base) != nil || subtitles(named: base) != nil
            || trackFile(named: base) != nil || rendition(ofSubtitleJournal: base) != nil
            || kind(ofSidecar: base) != nil
            || isLeadIn(base)
    }

    private static func isAlphanumeric(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }

    /// The 32-bit FNV-1a hash of `bytes` in eight hexadecimal digits.
    static func hexFingerprint(_ bytes: some Sequence<UInt8>) -> String {
        let fingerprint = fingerprint(bytes)
        return Hexadecimal.encode((0..<4).map { UInt8(truncatingIfNeeded: fingerprint >> (24 - 8 * $0)) })
    }

    /// The 32-bit FNV-1a hash of `bytes`.
    static func fingerprint(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
