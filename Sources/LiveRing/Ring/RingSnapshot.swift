package import Playlist
package import Support

/// One published state of the ring, which answers every request without waiting for the ring.
package struct RingSnapshot: Sendable {
    /// A number that rises with every change. An answer made from a snapshot is valid as long as the number stays the
    /// same.
    package let version: UInt64
    package let index: RingIndex
    /// Whether every playlist ends with EXT-X-ENDLIST.
    package let hasEnded: Bool
    /// How often a full disk made the ring drop its rewind since the ring was opened.
    package let rewindDrops: Int
    /// How often the spool directory was missing or replaced and was acquired again.
    package internal(set) var spoolReplacements = 0
    /// The error of the latest cleanup after a publish. The segment itself was published.
    package let housekeepingError: RingError?
    /// The subtitle renditions in the order in which the ring was opened with them.
    package internal(set) var subtitles: [SubtitleRendition] = []
    package let directory: String
    /// The media files that are not in `directory`, if the ring has one reader.
    var memory: SpoolMemory?
    /// Fetches the files that are not in `directory`; nil if all files are there.
    package internal(set) var remote: (any RemoteFiles)?
    /// The bytes fetched from remote files.
    var reads: RemoteReads?

    /// The newest entry; nil before the first.
    package var newest: RingEntry? { index.listed.last }

    package var hasSegments: Bool { !index.listed.isEmpty }

    // Playlists are rendered with every call, in UTF-8.

    /// `live.m3u8`, `ts/live.m3u8` or `subs-<number>.m3u8`; nil before the first segment, or if there are no such
    /// subtitles. Players give up on an empty playlist, so requests have to wait.
    package func livePlaylist(
        of content: PlaylistContent = .fragmentedMP4, as form: PlaylistForm = .unannounced, ads: AdView = .keep
    ) -> [UInt8]? {
        published(content, form, ads)?.live.map(Self.bytes)
    }

    /// `dvr.m3u8`, `ts/dvr.m3u8` or `dvr-subs-<number>.m3u8`; nil if the ring has no segment in the range.
    package func dvrPlaylist(
        _ range: RewindRange, of content: PlaylistContent = .fragmentedMP4, as form: PlaylistForm = .unannounced,
        ads: AdView = .keep
    ) -> [UInt8]? {
        published(content, form, ads)?.rewind(range).map(Self.bytes)
    }

    /// The playlist of a selection that `selection(of:)` of this snapshot returned, like `dvrPlaylist` of a range.
    package func dvrPlaylist(
        _ selection: RewindSelection, of content: PlaylistContent = .fragmentedMP4,
        as form: PlaylistForm = .unannounced,
        ads: AdView = .keep
    ) -> [UInt8]? {
        published(content, form, wholeView(ads, of: selection))?.playlist(of: selection).map(Self.bytes)
    }

    /// The view of ads for a range. A segment that a player may have loaded must stay as it was listed. Therefore
    /// breaks that are found later are replaced only in a range that no player saw grow.
    private func wholeView(_ ads: AdView, of selection: RewindSelection) -> AdView {
        guard ads.replacesSegments, selection.isClosed, let first = index.listed[selection.indices].first,
            let last = index.listed[selection.indices].last
        else { return ads }
        return ads.replacing(
            adBreaks(.between(start: first.programDateTime, end: last.programDateTimeEnd)) ?? [])
    }

    /// The number after the last segment that playlists of `content` list.
    package func nextMediaSequence(of content: PlaylistContent) -> UInt64 {
        guard case .subtitles(let number) = content else { return index.nextMediaSequence }
        return subtitles.first { $0.number == number }?.nextMediaSequence ?? index.nextMediaSequence
    }

    /// The number of audio tracks beside the leading one.
    package var audioTrackCount: Int { newest?.resumePoint.audioTracks.count ?? 0 }

    /// The number of video tracks beside the leading one.
    package var videoTrackCount: Int { newest?.resumePoint.videoTracks.count ?? 0 }

    /// Whether players can choose among several audio or video tracks.
    package var hasTracks: Bool { audioTrackCount > 0 || videoTrackCount > 0 }

    /// Whether playlists of `content` exist, now or as soon as media is published.
    package func offers(_ content: PlaylistContent) -> Bool {
        switch content {
        case .fragmentedMP4, .transportStream: true
        case .iFrames: index.variantAttributes?.resolution != nil
        case .video(let number): hasTracks && number <= videoTrackCount
        case .audio(let number): hasTracks && number <= audioTrackCount
        case .subtitles(let number): subtitles.contains { $0.number == number }
        }
    }

    private func published(
        _ content: PlaylistContent, _ form: PlaylistForm, _ ads: AdView
    ) -> PublishedPlaylist? {
        guard offers(content) else { return nil }
        var playlist = PublishedPlaylist(index: index, hasEnded: hasEnded, content: content, form: form, ads: ads)
        if case .subtitles(let number) = content { playlist.subtitles = subtitles.first { $0.number == number } }
        return playlist
    }

    /// Whether the playlist is long enough for a player to start without stalling (Apple HLS authoring specification
    /// §8.11), or will not become longer.
    package var isFilled: Bool {
        hasEnded || index.listedTicks >= index.window(.zero).ticks
    }

    /// The entries that a range selects; nil if it does not go from one date to another, or selects no entry.
    package func selection(of range: RewindRange) -> RewindSelection? {
        guard case .between(let start, let end) = range else { return nil }
        return PublishedPlaylist(index: index, hasEnded: hasEnded).selection(from: start, to: end)
    }

    package var liveSegmentCount: Int { index.listed.endIndex - index.liveWindow.start }

    /// `master.m3u8`, or `dvr-master.m3u8` of a range, with audio renditions, subtitles and captions; nil before the first
    /// segment.
    /// - Parameters:
    ///   - audio: the renditions of the audio tracks, the leading one first, without URIs, and their codecs; empty if
    ///     there is only one track.
    ///   - listsIFrames: whether the stream of I-frames is listed too.
    package func masterPlaylist(
        _ range: RewindRange? = nil, audio: [(rendition: Rendition, codec: String?)] = [], listsIFrames: Bool = false
    ) -> [UInt8]? {
        guard var attributes = index.variantAttributes else { return nil }
        let query = range.flatMap { $0.query.isEmpty ? nil : "?\($0.query)" } ?? ""
        let uri = { (name: String) in range == nil ? name : "dvr-\(name)\(query)" }
        let whole = range == nil ? "live.m3u8" : "dvr.m3u8\(query)"
        let frames =
            listsIFrames
            ? attributes.iFrameStream(uri: uri(SpoolName.iFramePlaylist), layout: index.declaredLayout) : nil
        let further = (newest?.resumePoint.videoTracks ?? []).enumerated().compactMap { track, name in
            furtherVariant(track, named: name, uri: uri(SpoolName.videoPlaylist(track + 1)))
        }
        for codec in audio.compactMap(\.codec) where !attributes.codecs.contains(codec) {
            attributes.codecs.append(codec)
        }
        // Players can choose an audio rendition only if the variant contains no audio. In a channel of audio alone, the
        // variant is the first rendition.
        let isWhole = audio.isEmpty || attributes.resolution == nil
        let renditions = audio.enumerated().map { index, track in
            var rendition = track.rendition
            rendition.uri = index == 0 && isWhole ? whole : uri(SpoolName.audioPlaylist(index))
            return rendition
        }
        return master(
            attributes, uri: isWhole ? whole : uri(SpoolName.videoPlaylist(0)), further: further, audio: renditions,
            iFrames: frames, renditionURI: uri)
    }

    /// A variant without its groups and without audio: measured, or as the upstream declares it before it has media;
    /// nil if neither is known.
    private func furtherVariant(_ track: Int, named name: String, uri: String) -> Variant? {
        if index.furtherSums.indices.contains(track),
            let measured = VariantAttributes(index.furtherSums[track], rates: \.fragmentedMP4, format: \.format)
        {
            return measured.variant(uri: uri, layout: index.declaredVariants[name]?.videoLayout?.republished)
        }
        return index.declaredVariants[name].map { Variant(declaring: $0, uri: uri) }
    }

    /// The number of segments in the live playlist.
    package var liveSegments: Int { index.listed.endIndex - index.liveWindow.start }

    /// Whether a live playlist of a variant beside the leading one lists media, not only gaps.
    package func hasMedia(ofVideo number: Int) -> Bool {
        index.listed[index.liveWindow.start..<index.listed.endIndex].contains { $0.hasMedia(ofVideo: number) }
    }

    /// - Parameters:
    ///   - further: the variants beside the leading one; all variants get the same groups.
    ///   - renditionURI: returns the URI of a subtitle playlist, given the URI of its live playlist.
    private func master(
        _ attributes: VariantAttributes?, uri: String, further: [Variant] = [], audio: [Rendition] = [],
        iFrames: Variant? = nil, renditionURI: (String) -> String
    ) -> [UInt8]? {
        guard let attributes else { return nil }
        let subtitles = listedSubtitles.map { track in
            var rendition = track.rendition
            rendition.uri = rendition.uri.map(renditionURI)
            return rendition
        }
        var variants = [attributes.variant(uri: uri, layout: index.declaredLayout)] + further
        for index in variants.indices {
            // If the upstream does not name the video codec, listing only the audio codec would mean that the variant
            // has no video.
            if index > 0, !variants[index].codecs.isEmpty { variants[index].codecs += attributes.audioCodecs }
            (variants[index].audio, variants[index].subtitles) = (audio.first?.groupID, subtitles.first?.groupID)
            // Without captions, CLOSED-CAPTIONS is omitted: captions may come later, and players show none if it is
            // NONE.
            variants[index].closedCaptions = captions.first?.groupID
        }
        var playlist = MultivariantPlaylist(variants: variants, renditions: audio + subtitles + captions)
        // While the channel runs, a later segment could break the promise for a player that keeps this playlist.
        playlist.hasIndependentSegments = hasEnded && attributes.isIndependent
        playlist.iFrameStreams = iFrames.map { [$0] } ?? []
        return Array(PlaylistWriter.write(playlist).utf8)
    }

    /// The closed captions that the master playlists declare.
    package var captions: [Rendition] { index.declared.captions }

    /// The closed captions that the master playlists will declare after another segment.
    /// - Parameter instreamIDs: the INSTREAM-ID of each caption channel in that segment's video.
    package func captions(after instreamIDs: [String]) -> [Rendition] {
        var declared = index.declared
        _ = declared.insert(instreamIDs)
        return declared.captions
    }

    /// The subtitles that the master playlists list. A rendition made before captions were found is left out if it
    /// contains none and captions were found since.
    private var listedSubtitles: [SubtitleRendition] {
        let found = captions.compactMap { $0.attributes["INSTREAM-ID"] }
        let isEmpty = { (rendition: SubtitleRendition) in
            rendition.source == SubtitleRendition.firstSource && !found.contains(SubtitleRendition.firstSource)
        }
        let hasOthers = subtitles.contains { $0.source != nil && !isEmpty($0) }
        return hasOthers ? subtitles.filter { !isEmpty($0) } : subtitles
    }

    /// The upstream's rendition of an audio track; nil if it does not name one.
    package func declaredAudio(_ track: String) -> Rendition? {
        index.declared.audio.first { $0.attributes[DeclaredRenditions.track] == track }
    }

    /// The subtitle file called `name` if it can be fetched.
    package func subtitleFile(named name: String) -> SpoolFile? {
        subtitles.lazy.compactMap { $0.file(named: name) }.first
    }

    /// The ad breaks that are at least partly in the range; nil if the ring has no segment in the range.
    ///
    /// The hour on each side of the range is examined too, so that a break is the same in every range that contains a
    /// part of it.
    package func adBreaks(_ range: RewindRange) -> [AdBreak]? {
        let hour: Int64 = 3_600_000
        let (start, end) = dates(of: range)
        let named = indices(of: range)
        guard !named.isEmpty else { return nil }
        let wide = index.indices(from: start?.advanced(byMilliseconds: -hour), to: end?.advanced(byMilliseconds: hour))
        let judged = min(named.lowerBound, wide.lowerBound)..<max(named.upperBound, wide.upperBound)
        return AdBreakFinder(index.listed[judged], canGoOn: !hasEnded).breaks.filter { found in
            (end.map { found.start < $0 } ?? true) && (start.flatMap { start in found.end.map { start < $0 } } ?? true)
        }
    }

    /// The path of `file`, absolute if the directory of the ring is.
    package func path(of file: SpoolFile) -> String { "\(directory)/\(file.name)" }

    /// The space of the file system with the ring's files; nil if the system does not report it. Each call asks the
    /// system.
    package var fileSystemSpace: FileSystemSpace? { FileSystemSpace(at: directory) }

    private static func bytes(_ playlist: MediaPlaylist) -> [UInt8] { Array(PlaylistWriter.write(playlist).utf8) }
}

// MARK: - Transport streams

extension RingSnapshot {
    /// `ts/master.m3u8` in UTF-8, or `ts/dvr-master.m3u8` of a range; nil before the first segment.
    /// - Parameters:
    ///   - range: nil for the live playlists.
    ///   - format: returns the format of a segment's transport stream, given the segment's format and its
    ///     `TransportStreamPoint.parameters`.
    package func transportStreamMasterPlaylist(
        _ range: RewindRange? = nil, format: (SegmentFormat, String) -> SegmentFormat
    ) -> [UInt8]? {
        let query = range.map { $0.query.isEmpty ? "" : "?\($0.query)" } ?? ""
        let attributes = VariantAttributes(index.variantSums, rates: \.transportStream) { span in
            span.transportStream.map {
                var listed = format(span.format, $0)
                listed.supplementalCodec = nil  // No descriptor of the transport stream says it.
                return listed
            }
        }
        return master(attributes, uri: range == nil ? "live.m3u8" : "dvr.m3u8\(query)") {
            "../\(range == nil ? "" : "dvr-")\($0)\(query)"
        }
    }

    /// The position of a range: the number of its first segment, the 90 kHz ticks of that segment before the range, and
    /// whether the whole range is published. nil if the ring has no segment in the range.
    package func part(of range: RewindRange) -> (first: UInt64, offset: Int64, isComplete: Bool)? {
        let published = newest?.programDateTimeEnd.millisecondsSince1970 ?? 0
        let (start, end) = dates(of: range)
        let indices = index.indices(from: start, to: end)
        guard let first = index.listed[indices].first else { return nil }
        let early = start.map { max(0, $0.milliseconds(since: first.programDateTime)) } ?? 0
        return (
            first.mediaSequence, PlaylistTicks.ticks(milliseconds: early),
            hasEnded || end.map { $0.millisecondsSince1970 <= published } ?? false
        )
    }

    /// The transport streams of the segments in a range as one file. nil if the range has no segment or no end, if the
    /// segment after its end is not published, or if an earlier version published a part of it.
    package func transportStreamFile(_ range: RewindRange) -> TransportStreamFile? {
        publishedIndices(of: range).flatMap { TransportStreamFile($0, of: index, hasEnded: hasEnded) }
    }

    /// The indices of the listed entries of a range; nil if the range has no end, or its end is not published.
    package func publishedIndices(of range: RewindRange) -> Range<Int>? {
        guard case .between(let start, let end?) = range, hasEnded || index.reaches(end) else { return nil }
        return index.indices(from: start, to: end)
    }

    package func indices(of range: RewindRange) -> Range<Int> {
        let (start, end) = dates(of: range)
        return index.indices(from: start, to: end)
    }

    /// The first listed entry that is presented after a date; nil if all entries end before it.
    package func firstEntry(endingAfter date: ProgramDateTime) -> RingEntry? {
        index.firstIndex(at: date).map { index.listed[$0] }
    }

    private func dates(of range: RewindRange) -> (start: ProgramDateTime?, end: ProgramDateTime?) {
        switch range {
        case .whole: (nil, nil)
        case .between(let start, let end): (start, end)
        case .last(let span), .delayed(let span): (newest?.programDateTimeEnd.advanced(byMilliseconds: -span), nil)
        }
    }

    /// The dates of the first frame listed and of the end of the last; nil before the first segment.
    package var dates: (first: ProgramDateTime, end: ProgramDateTime)? {
        guard let first = index.listed.first, let last = newest else { return nil }
        return (first.programDateTime, last.programDateTimeEnd)
    }

    /// Whether a segment is listed that can be sent as a transport stream.
    package var hasTransportStream: Bool { index.variantSums.transportStream.ticks > 0 }

    package func bytes(of file: SpoolFile) throws(RingError) -> [UInt8] {
        if let held = memory?[file.name] { return held.bytes(in: 0..<held.byteCount) }
        return try open(file).readToEnd()
    }

    /// The bytes of a media file in memory: the header, and each sample; nil if the file is in the directory.
    package func chunks(of file: SpoolFile) -> [ArraySlice<UInt8>]? { memory?[file.name]?.chunks }

    /// Whether one reader is all that reads the ring's media, which then stays in memory.
    package var hasOneReader: Bool { memory != nil }

    /// Tells the ring that its one reader needs no segment before this one.
    package func recordUse(before mediaSequence: UInt64) { memory?.recordUse(before: mediaSequence) }

    /// The bytes of a range of a file; fewer if the file ends early. Of the beginning of a remote segment, only the
    /// header.
    package func bytes(of file: SpoolFile, in range: Range<Int>) throws(RingError) -> [UInt8] {
        if let held = memory?[file.name] { return held.bytes(in: range) }
        do throws(RingError) { return try FileDescriptor(path(of: file)).bytes(in: range) } catch {
            return try reads(of: file, after: error).bytes(of: file, in: range)
        }
    }

    /// Reads a file of the ring into the beginning of `buffer`, which is made longer if need be.
    /// - Returns: the number of its bytes.
    package func read(_ file: SpoolFile, into buffer: inout [UInt8]) throws(RingError) -> Int {
        if let held = memory?[file.name] {
            buffer = held.bytes(in: 0..<held.byteCount)
            return buffer.count
        }
        return try open(file).readToEnd(into: &buffer)
    }

    /// Opens a file of the ring, or the copy of a remote one that was fetched.
    private func open(_ file: SpoolFile) throws(RingError) -> FileDescriptor {
        do throws(RingError) { return try FileDescriptor(path(of: file)) } catch {
            return try reads(of: file, after: error).open(file)
        }
    }

    /// - Throws: `error`, unless the file is missing here and may be remote.
    private func reads(of file: SpoolFile, after error: RingError) throws(RingError) -> RemoteReads {
        guard remote != nil, case .system(.open, _, code: FileDescriptor.doesNotExist) = error else { throw error }
        guard let reads else { throw .remote(name: file.name, message: "it is not fetched") }
        return reads
    }

    /// Whether a file is in the directory of the ring.
    package func isLocal(_ file: SpoolFile) -> Bool {
        memory?[file.name] != nil || (try? FileDescriptor(path(of: file)).byteCount()) == file.byteCount
    }
}

// MARK: - Archives

extension RingSnapshot {
    /// The most gaps that an archive may need.
    package static let maximumGaps = RingJournal.maximumUnrecorded

    /// Creates the snapshot of an archive whose files may be elsewhere.
    /// - Parameters:
    ///   - entries: the segments, in the order of their numbers. Missing numbers, at most `maximumGaps`, become gaps.
    ///   - directory: the directory of the files that are not remote.
    package init(
        archived entries: some Sequence<RingEntry>, policy: RetentionPolicy, targetDuration: Int, declared: [Rendition],
        hasEnded: Bool, version: UInt64, directory: String, remote: any RemoteFiles
    ) {
        var index = RingIndex(policy: policy, targetDuration: targetDuration, declared: declared)
        var first: UInt64?
        for var entry in entries {
            let start = first ?? entry.mediaSequence
            (first, entry.listedFrom, entry.subtitleBytes) = (start, start, 0)
            index.appendGaps(before: entry)
            index.replay(entry)
        }
        self.init(
            version: version, index: index, hasEnded: hasEnded, rewindDrops: 0, housekeepingError: nil,
            directory: directory, remote: remote)
    }
}

extension ArchiveIndex {
    /// An index of the ring's segments, without any of them.
    package init(like snapshot: RingSnapshot) {
        self.init(targetDuration: snapshot.index.targetDuration, declared: snapshot.index.declaredRenditions)
    }
}
