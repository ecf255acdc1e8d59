package import Media

/// Writes a Matroska file in one pass (RFC 9559). Some parts are patched at the end.
///
/// Each track has one configuration. Video with other parameters continues in the same track, because every random
/// access point contains its parameter sets. Audio that needs another decoder configuration does not fit.
package struct MatroskaWriter: Sendable {
    package struct Frame: Sendable {
        /// `videoTrack`, or `audioTrack` or a later number.
        package let track: UInt8
        /// Time since the beginning of the file.
        package let time: Ticks
        /// The order of frames in the file.
        package let decodeTime: Ticks
        package let isRandomAccessPoint: Bool
        package let bytes: [ArraySlice<UInt8>]

        package init(
            track: UInt8, time: Ticks, decodeTime: Ticks, isRandomAccessPoint: Bool, bytes: [ArraySlice<UInt8>]
        ) {
            (self.track, self.time, self.decodeTime) = (track, time, decodeTime)
            (self.isRandomAccessPoint, self.bytes) = (isRandomAccessPoint, bytes)
        }
    }

    /// The title, the date and the tags of a file.
    package struct Description: Sendable {
        package var title: String?
        /// Milliseconds since 1970.
        package var date: Int64
        package var duration: Ticks
        package var tags: [(name: String, value: String)]
        package var chapters: [MovieWriter.Chapter]

        package init(
            title: String?, date: Int64, duration: Ticks, tags: [(name: String, value: String)],
            chapters: [MovieWriter.Chapter]
        ) {
            (self.title, self.date, self.duration) = (title, date, duration)
            (self.tags, self.chapters) = (tags, chapters)
        }
    }

    /// An audio track as the head describes it.
    package struct Audio: Sendable {
        package let configuration: AudioConfiguration
        /// nil if the identity is unknown.
        package let track: AudioTrackIdentity?

        package init(_ configuration: AudioConfiguration, track: AudioTrackIdentity?) {
            (self.configuration, self.track) = (configuration, track)
        }
    }

    package static let videoTrack: UInt8 = 1
    /// The leading audio; other tracks follow.
    package static let audioTrack: UInt8 = 2
    /// The first subtitles, after the most audio tracks that a channel may have.
    package static let subtitleTrack = audioTrack + 1 + UInt8(AudioTrackChoice.limit)
    /// The longest cluster in milliseconds: block times count from the beginning of the cluster, in 16 bits.
    private static let longestCluster: Int64 = 30_000
    /// 2001-01-01 in seconds since 1970; Matroska dates count from it.
    private static let epoch: Int64 = 978_307_200_000

    /// Everything before the first cluster.
    package let head: [UInt8]
    /// The origin of positions in the file: the first byte after the size of the segment.
    private let base: Int
    private let seekOffsets: [Int]
    private var byteCount: Int
    private var cues: [(time: Int64, track: UInt8, position: Int)] = []
    private let mainTrack: UInt8
    private let knownTracks: Set<UInt8>

    /// - Parameters:
    ///   - audio: the audio tracks by track number.
    ///   - subtitles: services of DVB subtitles.
    package init(
        video: VideoConfiguration?, audio: [UInt8: Audio], subtitles: [SubtitlingService] = [],
        _ description: Description
    ) throws(MediaError) {
        var file = EBMLWriter()
        file.master(0x1A45_DFA3) { header in
            header.unsigned(0x4286, 1)
            header.unsigned(0x42F7, 1)
            header.unsigned(0x42F2, 4)
            header.unsigned(0x42F3, 8)
            header.text(0x4282, "matroska")
            header.unsigned(0x4287, 4)
            header.unsigned(0x4285, 2)
        }
        file.id(0x1853_8067)
        file.wideSize(0)
        let base = file.bytes.count
        var tracks = EBMLWriter()
        if let video {
            try tracks.master(0xAE) { (entry: inout EBMLWriter) throws(MediaError) in try Self.write(video, to: &entry)
            }
        }
        for (number, audio) in audio.sorted(by: { $0.key < $1.key }) {
            try tracks.master(0xAE) { (entry: inout EBMLWriter) throws(MediaError) in
                try Self.write(audio, as: number, to: &entry)
            }
        }
        for (index, service) in subtitles.enumerated() {
            tracks.master(0xAE) { entry in Self.write(service, as: Self.subtitleTrack + UInt8(index), to: &entry) }
        }
        knownTracks = Set((video == nil ? [] : [Self.videoTrack]) + audio.keys)
            .union(subtitles.indices.map { Self.subtitleTrack + UInt8($0) })
        let parts: [(id: UInt32, bytes: [UInt8])] = [
            (0x1549_A966, Self.info(description)), (0x1654_AE6B, tracks.bytes),
            (0x1043_A770, Self.chapters(description)), (0x1254_C367, Self.tags(description)),
        ].filter { !$0.1.isEmpty }
        // The last entry is for the cues.
        let seekSize = (parts.count + 1) * Self.seekEntrySize
        var position = 4 + 8 + seekSize
        var seek = EBMLWriter()
        var offsets: [Int] = []
        for part in parts + [(0x1C53_BB6B, [])] {
            seek.master(0x4DBB) { entry in
                entry.element(0x53AB, EBMLWriter.bytes(ofID: part.id))
                entry.wideUnsigned(0x53AC, UInt64(position))
            }
            offsets.append(base + 4 + 8 + seek.bytes.count - 8)
            position += 4 + 8 + part.bytes.count
        }
        file.element(0x114D_9B74, seek.bytes)
        for part in parts { file.element(part.id, part.bytes) }
        (head, self.base, seekOffsets, byteCount) = (file.bytes, base, offsets, file.bytes.count)
        mainTrack = video == nil ? audio.keys.min() ?? Self.audioTrack : Self.videoTrack
    }

    /// Seek, SeekID and SeekPosition with their IDs and sizes.
    private static let seekEntrySize = 2 + 8 + (2 + 8 + 4) + (2 + 8 + 8)

    /// Returns the clusters with the frames of a segment. Frames of tracks that the head does not describe are dropped.
    package mutating func clusters(_ frames: [Frame]) -> [UInt8] {
        let ordered = frames.filter { knownTracks.contains($0.track) }.enumerated().sorted {
            ($0.element.decodeTime, $0.offset) < ($1.element.decodeTime, $1.offset)
        }
        .map(\.element)
        var bytes: [UInt8] = []
        var pending = ordered[...]
        while let first = pending.first {
            let start = max(0, Self.milliseconds(first.time))
            let end =
                pending.firstIndex { abs(Self.milliseconds($0.time) - start) > Self.longestCluster } ?? pending.endIndex
            let cluster = pending[pending.startIndex..<max(end, pending.startIndex + 1)]
            let entry = cluster.first { $0.isRandomAccessPoint && $0.track == mainTrack }
            if let entry {
                cues.append((max(0, Self.milliseconds(entry.time)), mainTrack, byteCount + bytes.count - base))
            }
            bytes += Self.cluster(cluster, from: start)
            pending = pending[cluster.endIndex...]
        }
        byteCount += bytes.count
        return bytes
    }

    private static func cluster(_ frames: ArraySlice<Frame>, from start: Int64) -> [UInt8] {
        var body = EBMLWriter(capacity: frames.reduce(64) { $0 + 32 + $1.bytes.reduce(0) { $0 + $1.count } })
        body.unsigned(0xE7, UInt64(start))
        for frame in frames {
            let size = 4 + frame.bytes.reduce(0) { $0 + $1.count }
            body.id(0xA3)
            body.wideSize(UInt64(size))
            body.append([0x80 | frame.track])
            let offset = UInt16(bitPattern: Int16(clamping: milliseconds(frame.time) - start))
            body.append([UInt8(offset >> 8), UInt8(offset & 0xFF), frame.isRandomAccessPoint ? 0x80 : 0])
            for part in frame.bytes { body.append(part) }
        }
        var cluster = EBMLWriter(capacity: body.bytes.count + 12)
        cluster.element(0x1F43_B675, body.bytes)
        return cluster.bytes
    }

    /// Returns the bytes after the last cluster, and the patches for bytes of the head.
    package func end() -> (tail: [UInt8], patches: [(offset: Int, bytes: [UInt8])]) {
        var points = EBMLWriter()
        for cue in cues {
            points.master(0xBB) { point in
                point.unsigned(0xB3, UInt64(cue.time))
                point.master(0xB7) { place in
                    place.unsigned(0xF7, UInt64(cue.track))
                    place.unsigned(0xF1, UInt64(cue.position))
                }
            }
        }
        var tail = EBMLWriter()
        tail.element(0x1C53_BB6B, points.bytes)
        let size = UInt64(byteCount + tail.bytes.count - base)
        let patches = [
            (base - 8, EBMLWriter.wide(1 << 56 | size)),
            (seekOffsets[seekOffsets.count - 1], EBMLWriter.wide(UInt64(byteCount - base))),
        ]
        return (tail.bytes, patches)
    }

    private static func milliseconds(_ time: Ticks) -> Int64 { time.count.rescaled(1000, over: Ticks.perSecond) }
}

// MARK: - The head

extension MatroskaWriter {
    private static func info(_ description: Description) -> [UInt8] {
        var info = EBMLWriter()
        info.unsigned(0x2AD7B1, 1_000_000)  // nanoseconds of a unit
        info.float(0x4489, Double(description.duration.count) / 90)
        let nanoseconds = (description.date - epoch).multipliedReportingOverflow(by: 1_000_000)
        if !nanoseconds.overflow { info.element(0x4461, EBMLWriter.wide(UInt64(bitPattern: nanoseconds.partialValue))) }
        if let title = description.title { info.text(0x7BA9, title) }
        info.text(0x4D80, "liverelay")
        info.text(0x5741, "liverelay")
        return info.bytes
    }

    private static func write(_ video: VideoConfiguration, to entry: inout EBMLWriter) throws(MediaError) {
        let description = try VideoDescription(video)
        writeCommon(videoTrack, type: 1, to: &entry)
        switch video.codec {
        case .h264:
            entry.text(0x86, "V_MPEG4/ISO/AVC")
            entry.element(0x63A2, try AVCDecoderConfigurationRecord(video).bytes)
        case .hevc:
            entry.text(0x86, "V_MPEGH/ISO/HEVC")
            entry.element(0x63A2, try HEVCDecoderConfigurationRecord(video).bytes)
        case .mpeg2:
            entry.text(0x86, "V_MPEG2")
            entry.element(0x63A2, video.sequenceHeaders)
        }
        entry.master(0xE0) { frame in
            frame.unsigned(0xB0, UInt64(description.width))
            frame.unsigned(0xBA, UInt64(description.height))
            frame.unsigned(0x54B0, UInt64(description.displayWidth >> 16))
            frame.unsigned(0x54BA, UInt64(description.height))
        }
    }

    private static func write(
        _ track: Audio, as number: UInt8, to entry: inout EBMLWriter
    ) throws(MediaError) {
        writeCommon(number, type: 2, track.track?.language ?? .unknown, to: &entry)
        if number != audioTrack { entry.unsigned(0x88, 0) }  // FlagDefault
        switch track.track?.kind {
        case .hearingImpaired: entry.unsigned(0x55AB, 1)
        case .commentary: entry.unsigned(0x55AC, 1)  // FlagVisualImpaired
        case .main, .cleanEffects, nil: break
        }
        let audio = track.configuration
        switch audio.codec {
        case .aac:
            entry.text(0x86, "A_AAC")
            entry.element(0x63A2, audio.decoderSpecificInfo)
        case .mpegAudio(let layer): entry.text(0x86, "A_MPEG/L\(layer)")
        case .ac3: entry.text(0x86, "A_AC3")
        case .eac3: entry.text(0x86, "A_EAC3")
        case .flac, .opus: throw MediaError(.badParameterSet(field: "codec"), section: "RFC 9559")
        }
        entry.master(0xE1) { format in
            format.float(0xB5, Double(audio.sampleRate.hertz))
            format.unsigned(0x9F, UInt64(audio.channelCount))
        }
    }

    private static func write(_ service: SubtitlingService, as number: UInt8, to entry: inout EBMLWriter) {
        writeCommon(number, type: 17, service.language, to: &entry)
        entry.unsigned(0x88, 0)  // FlagDefault
        // subtitling_type for people who cannot hear well (ETSI EN 300 468 Table 26).
        if (0x20...0x25).contains(service.type) { entry.unsigned(0x55AB, 1) }
        entry.text(0x86, "S_DVBSUB")
        entry.element(0x63A2, service.pages + [service.type])
    }

    private static func writeCommon(
        _ number: UInt8, type: UInt64, _ language: LanguageTag = .unknown, to entry: inout EBMLWriter
    ) {
        entry.unsigned(0xD7, UInt64(number))
        entry.unsigned(0x73C5, UInt64(number))
        entry.unsigned(0x83, type)
        entry.unsigned(0x9C, 0)  // no lacing
        entry.text(0x22B59C, language.iso639)
        if language != .unknown { entry.text(0x22B59D, language.text) }  // BCP 47
    }

    private static func chapters(_ description: Description) -> [UInt8] {
        let chapters = description.chapters
        guard !chapters.isEmpty else { return [] }
        var edition = EBMLWriter()
        edition.master(0x45B9) { edition in
            for (index, chapter) in chapters.enumerated() {
                let end = index + 1 < chapters.count ? chapters[index + 1].start : description.duration
                edition.master(0xB6) { atom in
                    atom.unsigned(0x73C4, UInt64(index + 1))
                    atom.unsigned(0x91, nanoseconds(chapter.start))
                    atom.unsigned(0x92, nanoseconds(end))
                    atom.master(0x80) { display in
                        display.text(0x85, chapter.title)
                        display.text(0x437C, "und")
                    }
                }
            }
        }
        return edition.bytes
    }

    private static func nanoseconds(_ time: Ticks) -> UInt64 {
        UInt64(max(0, time.count.rescaled(1_000_000_000, over: Ticks.perSecond)))
    }

    private static func tags(_ description: Description) -> [UInt8] {
        guard !description.tags.isEmpty else { return [] }
        var tags = EBMLWriter()
        tags.master(0x7373) { tag in
            tag.master(0x63C0) { _ in }  // of the whole file
            for (name, value) in description.tags {
                tag.master(0x67C8) { simple in
                    simple.text(0x45A3, name)
                    simple.text(0x4487, value)
                }
            }
        }
        return tags.bytes
    }
}
