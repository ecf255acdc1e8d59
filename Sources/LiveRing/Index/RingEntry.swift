import Playlist
package import Support

/// One segment of the ring: its lines in a playlist and its files.
package struct RingEntry: Equatable, Sendable {
    package var mediaSequence: UInt64
    /// The discontinuity sequence number (RFC 8216 §6.2.1). It counts a DISCONTINUITY before this very segment.
    package var discontinuitySequence: UInt64
    package var isDiscontinuous: Bool
    /// Whether the publisher was interrupted before the segment, as by a restart of the process. The upstream may not have
    /// spliced anything there.
    package var isAfterInterruption = false
    /// Whether the segment can be decoded without any other segment.
    package var isIndependent: Bool
    package var initialization: SpoolFile
    package var segment: SpoolFile
    /// The written duration in 90 kHz ticks.
    package var duration: Int64
    package var programDateTime: ProgramDateTime
    package var resumePoint: ResumePoint
    package var format: SegmentFormat
    package var adMarkers: SegmentAdMarkers
    package var adBreak = AdBreakPoint()
    /// nil if the segment is not offered as a transport stream, as in journals of earlier versions.
    package var transportStream: TransportStreamPoint?
    /// The audio tracks of `resumePoint`, in their order; nil for a track without audio. A gap has fewer.
    package var audioFiles: [TrackFile?] = []
    /// The video tracks of `resumePoint`, in their order. Tracks beyond the end have the leading video, as in a slate.
    package var videoFiles: [VariantMedia<TrackFile>] = []
    /// The bytes of the leading audio in the segment; 0 if there is no video track beside the leading one.
    package var leadingAudioBytes = 0
    /// Whether the segment is listed under EXT-X-GAP (draft-pantos-hls-rfc8216bis §4.4.4.7).
    ///
    /// An entry becomes a gap if its file is lost or cut short. Viewers saw its number, which cannot be assigned again.
    package var isGap: Bool
    /// The first media sequence number of the playlist when this entry was listed. These numbers, in order, say when
    /// each older entry left the playlist.
    package var listedFrom: UInt64
    /// The bytes of its subtitle files, of all renditions.
    var subtitleBytes: UInt64 = 0

    /// Whether the segment is slate that fills an outage.
    package var isOutageSlate: Bool { !isGap && resumePoint.upstream == nil }

    /// The end time of the last sample.
    package var programDateTimeEnd: ProgramDateTime {
        programDateTime.advanced(byMilliseconds: PlaylistTicks.milliseconds(ticks: duration))
    }

    /// The bytes of its files in the spool, without the init section and the still, which segments share.
    var storedBytes: UInt64 {
        guard !isGap else { return subtitleBytes }
        let tracks = playableTracks.reduce(0) { $0 + $1.segment.byteCount }
        return UInt64(segment.byteCount + (transportStream?.privateData?.byteCount ?? 0) + tracks) + subtitleBytes
    }

    /// The files of the tracks beside the leading one that are not lost.
    var playableTracks: [TrackFile] {
        isGap ? [] : trackFiles.compactMap(\.self).filter { !$0.isGap }
    }

    /// The files of the tracks beside the leading one, audio first; nil for a track without a file of its own.
    var trackFiles: [TrackFile?] { audioFiles + videoFiles.map(\.own) }

    /// The segment as a video track beside the leading one has it, with the leading audio: what the master playlist lists.
    func ofVideoTrack(_ track: Int) -> RingEntry {
        var entry = self
        entry.transportStream = nil
        guard !isGap, let file = videoFiles[track].own, let format = file.format, !file.isGap else {
            entry.isGap = true
            return entry
        }
        entry.segment = SpoolFile(name: file.segment.name, byteCount: file.segment.byteCount + leadingAudioBytes)
        entry.format = format
        return entry
    }

    /// The init sections that playlists list with the segment, its own and then those of its tracks.
    var initializations: [(file: SpoolFile, isGap: Bool, isAudioOnly: Bool)] {
        [(initialization, isGap, format.isAudioOnly)]
            + trackFiles.compactMap(\.self)
            .map { ($0.initialization, isGap || $0.isGap, $0.format == nil) }
    }

    /// The same entry with the texts of `previous` where they are equal. Entries then share the memory of these texts,
    /// which in a week of segments are nearly all equal.
    func sharingTexts(with previous: RingEntry) -> RingEntry {
        var entry = self
        share(&entry.initialization, previous.initialization)
        share(&entry.format, previous.format)
        share(&entry.resumePoint.audioConfiguration, previous.resumePoint.audioConfiguration)
        for (index, track) in previous.resumePoint.audioTracks.prefix(resumePoint.audioTracks.count).enumerated() {
            share(&entry.resumePoint.audioTracks[index].identity, track.identity)
            share(&entry.resumePoint.audioTracks[index].configuration, track.configuration)
        }
        share(&entry.resumePoint.videoTracks, previous.resumePoint.videoTracks)
        entry.audioFiles = audioFiles.sharingTexts(with: previous.audioFiles)
        let shared = videoFiles.map(\.own).sharingTexts(with: previous.videoFiles.map(\.own))
        entry.videoFiles = zip(videoFiles, shared).map { file, shared in shared.map { .own($0) } ?? file }
        if let parameters = previous.transportStream?.parameters, transportStream?.parameters == parameters {
            entry.transportStream?.parameters = parameters
        }
        return entry
    }

    /// The segment in a playlist of `content`. Every value contains the map and the date; the writer decides where to
    /// write them.
    func mediaSegment(in content: PlaylistContent) -> MediaSegment {
        var value = mediaSegment
        switch content {
        case .fragmentedMP4, .subtitles: break
        case .transportStream:
            value.uri = SpoolName.transportStream(ofSegment: segment.name)
            value.map = nil
            value.isDiscontinuous = transportStream?.isDiscontinuous ?? false
            value.discontinuitySequence = transportStream?.discontinuitySequence ?? 0
        case .video(0): list(.video, in: &value, exists: format.videoCodec != nil)
        case .iFrames:
            list(.video, in: &value, exists: isIndependent && format.videoCodec != nil)
            value.uri = SpoolName.extract(.iframe, of: segment.name)
        case .audio(0): list(.audio, in: &value, exists: format.audioCodec != nil)
        case .video(let number):
            switch video(number) {
            case .own(let file): list(file, in: &value)
            case .other: list(.video, in: &value, exists: format.videoCodec != nil)
            case .gap: list(nil, in: &value)
            }
        case .audio(let number):
            list(audioFiles.indices.contains(number - 1) ? audioFiles[number - 1] : nil, in: &value)
        }
        return value
    }

    /// The media of a video track beside the leading one, after following `other`; `other` in the result means the
    /// leading one.
    private func video(_ number: Int) -> VariantMedia<TrackFile> {
        guard videoFiles.indices.contains(number - 1) else { return .other(0) }
        guard case .other(let other) = videoFiles[number - 1], other > 0 else { return videoFiles[number - 1] }
        return videoFiles.indices.contains(other - 1) ? videoFiles[other - 1] : .gap
    }

    /// Whether a video track beside the leading one has media of its own or of another track.
    package func hasMedia(ofVideo number: Int) -> Bool {
        switch video(number) {
        case .own(let file): !isGap && !file.isGap
        case .other: !isGap && format.videoCodec != nil
        case .gap: false
        }
    }

    private func list(_ file: TrackFile?, in value: inout MediaSegment) {
        value.uri = file?.segment.name ?? value.uri
        value.map = file.map { MediaInitialization(uri: $0.initialization.name) }
        value.isGap = isGap || file?.isGap ?? true
    }

    private func list(_ track: SpoolName.Track, in value: inout MediaSegment, exists: Bool) {
        value.uri = SpoolName.extract(track, of: segment.name)
        value.map = exists ? MediaInitialization(uri: SpoolName.extract(track, of: initialization.name)) : nil
        value.isGap = isGap || !exists
    }

    /// The segment in a playlist of fragmented MP4.
    var mediaSegment: MediaSegment {
        var value = MediaSegment(
            uri: segment.name, duration: PlaylistTicks.duration(ticks: duration), mediaSequence: mediaSequence,
            discontinuitySequence: discontinuitySequence)
        value.isDiscontinuous = isDiscontinuous
        value.map = MediaInitialization(uri: initialization.name)
        value.programDateTime = programDateTime
        value.isGap = isGap
        value.unknownTags = adMarkers.cueTags.map(\.line)
        value.dateRanges = adMarkers.dateRanges
        return value
    }
}

extension [TrackFile?] {
    /// The same files with the texts of `previous` where they are equal.
    fileprivate func sharingTexts(with previous: [TrackFile?]) -> [TrackFile?] {
        enumerated().map { index, file in
            guard var file, previous.indices.contains(index), let shared = previous[index] else { return file }
            share(&file.initialization, shared.initialization)
            share(&file.format, shared.format)
            return file
        }
    }
}

/// Gives a value the storage of an equal one.
private func share<Value: Equatable>(_ value: inout Value, _ other: Value) {
    if value == other { value = other }
}

extension MediaPlaylist {
    /// A playlist of `entries` with the head that every playlist of the ring has.
    /// - Parameters:
    ///   - nextMediaSequence: the first number if there are no entries.
    ///   - discontinuitySequence: the discontinuity sequence number if there are no entries.
    ///   - segment: returns the segment of an entry.
    init(
        entries: some Collection<RingEntry>, targetDuration: Int, nextMediaSequence: UInt64,
        discontinuitySequence: UInt64, segment: (RingEntry) -> MediaSegment = \.mediaSegment
    ) {
        self.init(
            targetDuration: .seconds(targetDuration),
            mediaSequence: entries.first?.mediaSequence ?? nextMediaSequence, segments: entries.map(segment))
        // The number of the first segment counts its own DISCONTINUITY, the number of the playlist does not (§6.2.1).
        self.discontinuitySequence =
            segments.first.map { $0.discontinuitySequence - ($0.isDiscontinuous ? 1 : 0) } ?? discontinuitySequence
        self.hasIndependentSegments = entries.allSatisfy(\.isIndependent)
    }
}

/// The numbers of an entry that count in the sums over all entries, without its texts.
struct EntryFigures: Equatable, Sendable {
    let mediaSequence: UInt64
    let listedFrom: UInt64
    /// 90 kHz ticks.
    let duration: Int64
    let programDateTime: ProgramDateTime
    let isIndependent: Bool
    let byteCount: Int
    /// An upper bound of the segment's size as a transport stream; nil if it is not offered as one.
    let transportStreamByteCount: Int?
    let storedBytes: UInt64
    /// The extent of its transport stream.
    let extent: TransportStreamExtent?

    var programDateTimeEnd: ProgramDateTime {
        programDateTime.advanced(byMilliseconds: PlaylistTicks.milliseconds(ticks: duration))
    }

    /// An upper bound for the bit rate of a transport stream: packet headers, tables, PCR, and packets that fill chunks.
    static func transportStreamByteCount(of byteCount: Int, lasting duration: Int64) -> Int {
        let perSecond: Int64 = 18_000
        return byteCount * 26 / 25 + Int(duration * perSecond / PlaylistTicks.ticksPerSecond)
    }
}

extension RingEntry {
    var figures: EntryFigures {
        EntryFigures(
            mediaSequence: mediaSequence, listedFrom: listedFrom, duration: duration, programDateTime: programDateTime,
            isIndependent: isIndependent, byteCount: segment.byteCount,
            transportStreamByteCount: transportStream.map(transportStreamByteCount), storedBytes: storedBytes,
            extent: transportStream?.extent)
    }

    private func transportStreamByteCount(_ point: TransportStreamPoint) -> Int {
        if point.privateData != nil || !audioFiles.isEmpty, let extent = point.extent { return extent.byteCount }
        return EntryFigures.transportStreamByteCount(of: segment.byteCount, lasting: duration)
    }
}
