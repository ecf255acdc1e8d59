import Playlist
import Support

/// The properties of an entry that no standard tag holds.
///
/// They are one comment line before the URI of the segment, in the form of a tag with an attribute list (RFC 8216 §4.2).
struct JournalEntryTag {
    static let tag = "#LIVERELAY-ENTRY:"

    private enum Name: String {
        case byteCount = "BYTES"
        case initializationByteCount = "INIT-BYTES"
        case listedFrom = "LISTED-FROM"
        case discontinuitySequence = "DISCONTINUITY-SEQUENCE"
        case isAfterInterruption = "INTERRUPTED"
        case isIndependent = "INDEPENDENT"
        case videoDecodeTime = "VIDEO-TIME"
        case audioDecodeTime = "AUDIO-TIME"
        case fragmentSequenceNumber = "FRAGMENT"
        case presentationEnd = "END"
        case compositionOffset = "OFFSET"
        case videoCodec = "VIDEO"
        case audioCodec = "AUDIO"
        case width = "WIDTH"
        case height = "HEIGHT"
        case frameRate = "FRAME-RATE"
        case videoRange = "VIDEO-RANGE"
        case supplementalCodec = "SUPPLEMENTAL"
        case audioConfiguration = "SOUND"
        case transportStream = "TS"
        case transportStreamDiscontinuitySequence = "TS-DISCONTINUITY-SEQUENCE"
        case isTransportStreamDiscontinuous = "TS-DISCONTINUITY"
        case sidecars = "TS-FILES"
        /// The number is the version of the byte layout. It is raised when segments are written as other bytes.
        case extent = "TS-EXTENT-2"
        case earlyAudio = "TS-EARLY-AUDIO-2"
        case splices = "TS-SPLICES"
        case adBreak = "AD-BREAK"
        case audioTracks = "TRACKS"
        case audioFiles = "TRACK-FILES"
        case videoTracks = "VIDEO-TRACKS"
        case videoFiles = "VIDEO-FILES"
        case leadingAudioBytes = "AUDIO-BYTES"
        case sourceNumber = "SOURCE"
        case sourceMediaSequence = "SOURCE-SEGMENT"
        case sourceDate = "SOURCE-DATE"
        case sourcePublishedFrames = "SOURCE-PICTURES"
    }

    private let attributes: AttributeList
    private let uri: String

    init(_ entry: RingEntry) {
        uri = entry.segment.name
        attributes = AttributeList(
            Self.unquotedValues(of: entry).compactMap { name, value in
                value.map { .init(name: name.rawValue, value: $0, isQuoted: false) }
            }
                + Self.quotedValues(of: entry).compactMap { name, value in
                    value.map { .init(name: name.rawValue, value: $0, isQuoted: true) }
                })
    }

    private static func unquotedValues(of entry: RingEntry) -> [(Name, String?)] {
        let (resumePoint, format, transportStream) = (entry.resumePoint, entry.format, entry.transportStream)
        return [
            (.byteCount, String(entry.segment.byteCount)),
            (.initializationByteCount, String(entry.initialization.byteCount)),
            (.listedFrom, String(entry.listedFrom)),
            (.discontinuitySequence, String(entry.discontinuitySequence)),
            (.isAfterInterruption, entry.isAfterInterruption ? "YES" : nil),
            (.isIndependent, entry.isIndependent ? nil : "NO"),
            (.videoDecodeTime, String(resumePoint.videoDecodeTime)),
            (.audioDecodeTime, String(resumePoint.audioDecodeTime)),
            (.fragmentSequenceNumber, String(resumePoint.fragmentSequenceNumber)),
            (.presentationEnd, String(resumePoint.presentationEnd)),
            (.compositionOffset, String(resumePoint.compositionOffset)),
            (.transportStreamDiscontinuitySequence, transportStream.map { String($0.discontinuitySequence) }),
            (.isTransportStreamDiscontinuous, transportStream?.isDiscontinuous == true ? "YES" : nil),
            (.sourceNumber, resumePoint.upstream.map { String($0.sourceIndex) }),
            (.sourceMediaSequence, resumePoint.upstream.map { String($0.mediaSequence) }),
            (.sourceDate, resumePoint.upstream?.programDateTime.map { String($0.millisecondsSince1970) }),
            (.width, format.resolution.map { String($0.width) }),
            (.height, format.resolution.map { String($0.height) }),
            (.leadingAudioBytes, entry.leadingAudioBytes > 0 ? String(entry.leadingAudioBytes) : nil),
        ]
    }

    private static func quotedValues(of entry: RingEntry) -> [(Name, String?)] {
        let (resumePoint, format) = (entry.resumePoint, entry.format)
        return [
            (.videoCodec, format.videoCodec), (.audioCodec, format.audioCodec), (.frameRate, format.frameRate),
            (.videoRange, format.videoRange), (.supplementalCodec, format.supplementalCodec),
            (.audioConfiguration, resumePoint.audioConfiguration),
            (.sourcePublishedFrames, resumePoint.upstream?.publishedFrames),
            (.transportStream, entry.transportStream?.parameters), (.adBreak, Self.text(of: entry.adBreak)),
            (.sidecars, entry.transportStream.flatMap(Self.text)),
            (.splices, Self.words(entry.adMarkers.splices.map(\.text))),
            (.audioTracks, Self.text(of: resumePoint.audioTracks)),
            (.audioFiles, Self.words(entry.audioFiles.map { $0.map(Self.text) ?? Self.noFile })),
            (.videoTracks, Self.words(resumePoint.videoTracks)),
            (.videoFiles, Self.words(entry.videoFiles.map(Self.text))),
            (
                .extent,
                entry.transportStream?.extent.map { "\($0.byteCount)/\($0.leadByteCount)/\($0.pause)/\($0.shift)" }
            ), (.earlyAudio, entry.transportStream?.extent.flatMap(Self.earlyAudio)),
        ]
    }

    /// `bytes alone/bytes removed`; nil if there is none.
    private static func earlyAudio(of extent: TransportStreamExtent) -> String? {
        extent.earlyAudioByteCount > 0 ? "\(extent.earlyAudioByteCount)/\(extent.removedByteCount)" : nil
    }

    /// `edges/in/edge`, the last two as 0 or 1; nil if all are 0.
    private static func text(of point: AdBreakPoint) -> String? {
        point == AdBreakPoint() ? nil : "\(point.edges)/\(point.isInside ? 1 : 0)/\(point.isEdge ? 1 : 0)"
    }

    /// `name:bytes` of each file that the transport stream needs; nil if there is none.
    private static func text(ofSidecarsOf point: TransportStreamPoint) -> String? {
        point.sidecars.isEmpty ? nil : point.sidecars.map { "\($0.name):\($0.byteCount)" }.joined(separator: " ")
    }

    /// `identity:configuration:decode time` of each track; nil if there is none.
    private static func text(of tracks: [AudioTrackPoint]) -> String? {
        words(tracks.map { "\($0.identity):\($0.configuration):\($0.decodeTime)" })
    }

    private static func words(_ words: [String]) -> String? { words.isEmpty ? nil : words.joined(separator: " ") }

    private static let noFile = "-"
    private static let otherTrack = "="

    /// `init section:bytes:segment:bytes`. Of a video track, the codec, the width, the height, the frame rate and the video
    /// range follow.
    private static func text(of file: TrackFile) -> String {
        let names = [file.initialization, file.segment].map { "\($0.name):\($0.byteCount)" }
        return (names + (file.format.map(fields) ?? [])).joined(separator: ":")
    }

    /// Like the text of a file; a hyphen for a gap, or `=` and the number of another track.
    private static func text(of media: VariantMedia<TrackFile>) -> String {
        switch media {
        case .gap: noFile
        case .own(let file): text(of: file)
        case .other(let track): "\(otherTrack)\(track)"
        }
    }

    private static func fields(of format: SegmentFormat) -> [String] {
        [
            format.videoCodec ?? "", format.resolution.map { String($0.width) } ?? "",
            format.resolution.map { String($0.height) } ?? "", format.frameRate ?? "", format.videoRange ?? "",
        ] + (format.supplementalCodec.map { [$0] } ?? [])
    }

    /// Reads the tag among the lines before `segment`.
    init(of segment: MediaSegment) throws(RingError) {
        uri = segment.uri
        guard let line = segment.unknownTags.last(where: { $0.hasPrefix(Self.tag) }) else {
            throw .damagedJournalEntry(uri: segment.uri, attribute: Self.tag)
        }
        do throws(PlaylistError) {
            attributes = try AttributeList(parsing: line.dropFirst(Self.tag.count), line: 0, tag: Self.tag)
        } catch {
            throw .damagedJournalEntry(uri: segment.uri, attribute: Self.tag)
        }
    }

    var line: String { Self.tag + attributes.text }

    /// The entry of `segment` and this tag. Its numbers come from the file name and the tag, not from its position.
    func entry(for segment: MediaSegment) throws(RingError) -> RingEntry {
        guard let mediaSequence = SpoolName.mediaSequence(ofSegment: segment.uri) else {
            throw .damagedJournalEntry(uri: segment.uri, attribute: PlaylistTag.mediaSequence.rawValue)
        }
        guard let map = segment.map, let programDateTime = segment.programDateTime else {
            throw .damagedJournalEntry(uri: segment.uri, attribute: "EXT-X-MAP, EXT-X-PROGRAM-DATE-TIME")
        }
        let duration = PlaylistTicks.ticks(segment.duration)
        guard RingRanges.duration.contains(duration) else {
            throw .damagedJournalEntry(uri: segment.uri, attribute: "EXTINF")
        }
        return RingEntry(
            mediaSequence: mediaSequence,
            discontinuitySequence: try number(.discontinuitySequence, in: RingRanges.sequenceNumbers),
            isDiscontinuous: segment.isDiscontinuous, isAfterInterruption: text(.isAfterInterruption) == "YES",
            isIndependent: text(.isIndependent) != "NO",
            initialization: SpoolFile(
                name: map.uri, byteCount: try number(.initializationByteCount, in: RingRanges.sizes)),
            segment: SpoolFile(name: segment.uri, byteCount: try number(.byteCount, in: RingRanges.sizes)),
            duration: duration, programDateTime: programDateTime, resumePoint: try resumePoint(),
            format: try format(), adMarkers: try adMarkers(of: segment),
            adBreak: try adBreak(),
            transportStream: try transportStream(),
            audioFiles: try words(.audioFiles) { word, _ in Self.audioFile(word) },
            videoFiles: try words(.videoFiles, Self.videoFile),
            leadingAudioBytes: text(.leadingAudioBytes) == nil
                ? 0 : try number(.leadingAudioBytes, in: RingRanges.sizes),
            isGap: segment.isGap,
            listedFrom: try number(.listedFrom, in: RingRanges.sequenceNumbers))
    }

    /// Journals of earlier versions contain no splice commands.
    private func adMarkers(of segment: MediaSegment) throws(RingError) -> SegmentAdMarkers {
        let ranges = segment.dateRanges
        let splices = try words(.splices) { word, _ in
            AnnouncedSplice(text: word).flatMap { ranges.indices.contains($0.range) ? $0 : nil }
        }
        return SegmentAdMarkers(cueTags: segment.cueTags, dateRanges: ranges, splices: splices)
    }

    /// Without a value, as in journals of earlier versions, the segment is outside every break.
    private func adBreak() throws(RingError) -> AdBreakPoint {
        guard let numbers = try numbers(.adBreak, count: 3) else { return AdBreakPoint() }
        guard RingRanges.sequenceNumbers.contains(numbers[0]), 0...1 ~= numbers[1], 0...1 ~= numbers[2]
        else { throw damage(.adBreak) }
        return AdBreakPoint(isInside: numbers[1] == 1, isEdge: numbers[2] == 1, edges: UInt64(numbers[0]))
    }

    private func resumePoint() throws(RingError) -> ResumePoint {
        var point = ResumePoint(
            videoDecodeTime: try number(.videoDecodeTime, in: RingRanges.ticks),
            audioDecodeTime: try number(.audioDecodeTime, in: RingRanges.audioTicks),
            fragmentSequenceNumber: try number(.fragmentSequenceNumber, in: RingRanges.fragments),
            presentationEnd: try number(.presentationEnd, in: RingRanges.ticks),
            compositionOffset: try number(.compositionOffset, in: RingRanges.ticks),
            audioConfiguration: text(.audioConfiguration), audioTracks: try audioTracks(),
            upstream: try upstreamPosition())
        point.videoTracks = (text(.videoTracks) ?? "").split(separator: " ").map(String.init)
        return point
    }

    /// nil without the attribute, as in journals of earlier versions.
    private func transportStream() throws(RingError) -> TransportStreamPoint? {
        guard let parameters = text(.transportStream) else { return nil }
        var point = TransportStreamPoint(
            parameters: parameters,
            discontinuitySequence: try number(.transportStreamDiscontinuitySequence, in: RingRanges.sequenceNumbers),
            isDiscontinuous: text(.isTransportStreamDiscontinuous) == "YES", extent: try extent())
        let files = try sidecars()
        point.sidecars = files
        // At most one of each kind.
        guard point.sidecars.count == files.count else { throw damage(.sidecars) }
        return point
    }

    /// `bytes/lead bytes/pause/shift`; nil if there is none.
    private func extent() throws(RingError) -> TransportStreamExtent? {
        guard let numbers = try numbers(.extent, count: 4) else { return nil }
        guard RingRanges.sizes.contains(numbers[0]), RingRanges.leads.contains(numbers[1]),
            RingRanges.duration.contains(numbers[2]) || numbers[2] == 0,
            RingRanges.ticks.contains(numbers[3].magnitude)
        else { throw damage(.extent) }
        let early = try earlyAudio(in: numbers[0])
        return TransportStreamExtent(
            byteCount: Int(numbers[0]), leadByteCount: Int(numbers[1]), pause: numbers[2], shift: numbers[3],
            earlyAudioByteCount: Int(early.alone), removedByteCount: Int(early.removed))
    }

    /// Zero in journals of earlier versions, whose files begin and end with whole segments.
    /// - Parameter byteCount: size of the segment.
    private func earlyAudio(in byteCount: Int64) throws(RingError) -> (alone: Int64, removed: Int64) {
        guard let numbers = try numbers(.earlyAudio, count: 2) else { return (0, 0) }
        guard RingRanges.sizes.contains(numbers[0]), (0..<max(1, byteCount)).contains(numbers[1])
        else { throw damage(.earlyAudio) }
        return (numbers[0], numbers[1])
    }

    /// Earlier versions also named the end of the audio before the segment.
    private func sidecars() throws(RingError) -> [SpoolFile] {
        var files: [SpoolFile] = []
        for word in (text(.sidecars) ?? "").split(separator: " ") {
            let parts = word.split(separator: ":")
            if let name = parts.first, SpoolName.isLeadIn(name) { continue }
            guard parts.count == 2, SpoolName.kind(ofSidecar: parts[0]) != nil, let size = Int(parts[1]),
                RingRanges.sizes.contains(size)
            else { throw damage(.sidecars) }
            files.append(SpoolFile(name: String(parts[0]), byteCount: size))
        }
        return files
    }

    private func audioTracks() throws(RingError) -> [AudioTrackPoint] {
        var tracks: [AudioTrackPoint] = []
        for word in (text(.audioTracks) ?? "").split(separator: " ") {
            let parts = word.split(separator: ":")
            guard parts.count == 3, let time = UInt64(parts[2]), let signed = Int64(exactly: time),
                RingRanges.audioTicks.contains(signed)
            else { throw damage(.audioTracks) }
            tracks.append(
                AudioTrackPoint(identity: String(parts[0]), configuration: String(parts[1]), decodeTime: time))
        }
        return tracks
    }

    private func words<Value>(
        _ name: Name, _ read: (_ word: Substring, _ count: Int) -> Value?
    ) throws(RingError) -> [Value] {
        let words = (text(name) ?? "").split(separator: " ")
        let values = words.compactMap { read($0, words.count) }
        guard values.count == words.count else { throw damage(name) }
        return values
    }

    private static func audioFile(_ word: Substring) -> TrackFile?? {
        word == noFile ? .some(nil) : file(word, of: .audio).map { .some($0) }
    }

    /// - Parameter count: the number of tracks.
    private static func videoFile(_ word: Substring, count: Int) -> VariantMedia<TrackFile>? {
        if word == noFile { return .gap }
        guard word.hasPrefix(otherTrack) else { return file(word, of: .video).map { .own($0) } }
        return Int(word.dropFirst()).flatMap { (0...count).contains($0) ? .other($0) : nil }
    }

    private static func file(_ word: Substring, of kind: SpoolName.TrackKind) -> TrackFile? {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        guard kind == .video ? 9...10 ~= parts.count : parts.count == 4, SpoolName.isInitialization(parts[0]),
            SpoolName.trackFile(named: parts[2])?.kind == kind,
            let sizes = Int64(parts[1]).flatMap({ first in Int64(parts[3]).map { [first, $0] } }),
            sizes.allSatisfy(RingRanges.sizes.contains)
        else { return nil }
        return TrackFile(
            initialization: SpoolFile(name: String(parts[0]), byteCount: Int(sizes[0])),
            segment: SpoolFile(name: String(parts[2]), byteCount: Int(sizes[1])),
            format: kind == .video ? format(of: parts[4...].map(String.init)) : nil)
    }

    /// - Parameter fields: five or six, as `fields(of:)` returns them.
    private static func format(of fields: [String]) -> SegmentFormat {
        let size = fields[1...2].compactMap { Int($0) }.filter { RingRanges.pixels.contains(Int64($0)) }
        let known = { (field: String) in field.isEmpty ? nil : field }
        var format = SegmentFormat(
            videoCodec: known(fields[0]),
            resolution: size.count == 2 ? Variant.Resolution(width: size[0], height: size[1]) : nil,
            frameRate: known(fields[3]), videoRange: known(fields[4]))
        format.supplementalCodec = fields.dropFirst(5).first
        return format
    }

    /// The upstream position; nil without the attribute, as in journals of earlier versions.
    private func upstreamPosition() throws(RingError) -> UpstreamPosition? {
        guard text(.sourceNumber) != nil else { return nil }
        return UpstreamPosition(
            sourceIndex: try number(.sourceNumber, in: RingRanges.sourceIndices),
            mediaSequence: try number(.sourceMediaSequence, in: RingRanges.sequenceNumbers),
            programDateTime: text(.sourceDate) == nil
                ? nil : ProgramDateTime(millisecondsSince1970: try number(.sourceDate, in: RingRanges.dates)),
            publishedFrames: text(.sourcePublishedFrames))
    }

    private func format() throws(RingError) -> SegmentFormat {
        let resolution: Variant.Resolution? =
            text(.width) == nil
            ? nil
            : .init(
                width: try number(.width, in: RingRanges.pixels), height: try number(.height, in: RingRanges.pixels))
        var format = SegmentFormat(
            videoCodec: text(.videoCodec), audioCodec: text(.audioCodec), resolution: resolution,
            frameRate: text(.frameRate), videoRange: text(.videoRange))
        format.supplementalCodec = text(.supplementalCodec)
        return format
    }

    private func text(_ name: Name) -> String? { attributes[name.rawValue] }

    private func number<Number: FixedWidthInteger>(
        _ name: Name, in range: ClosedRange<Int64>
    ) throws(RingError) -> Number {
        guard let value = text(name).flatMap({ Number($0) }), range.contains(value) else { throw damage(name) }
        return value
    }

    /// The numbers between slashes; nil without the attribute.
    private func numbers(_ name: Name, count: Int) throws(RingError) -> [Int64]? {
        guard let text = text(name) else { return nil }
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).compactMap { Int64($0) }
        guard numbers.count == count else { throw damage(name) }
        return numbers
    }

    private func damage(_ name: Name) -> RingError { .damagedJournalEntry(uri: uri, attribute: name.rawValue) }
}
