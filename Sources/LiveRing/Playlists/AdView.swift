import Playlist
import Support

/// How ad breaks are presented.
package enum AdPresentation: String, CaseIterable, Sendable {
    /// As they are published.
    case keep
    /// The published segments, with a date range for each break that was found without a marker.
    case mark
    /// The slate replaces each segment of a break.
    case slate

    /// This presentation, or `.keep` if it needs a slate that does not exist.
    package func possible(hasSlate: Bool) -> AdPresentation { self == .slate && !hasSlate ? .keep : self }
}

/// The slate's files, listed in place of the files of ad breaks.
package struct SlateFiles: Hashable, Sendable {
    package let initialization: SpoolFile
    package let format: SegmentFormat
    /// As in `ResumePoint`.
    package let audioConfiguration: String?
    /// The fingerprint of the slate's frames.
    let fingerprint: UInt32

    package init(
        initialization: InitializationFile, format: SegmentFormat, audioConfiguration: String?,
        frames: some Sequence<UInt8>
    ) {
        self.initialization = SpoolFile(name: initialization.name, byteCount: initialization.bytes.count)
        (self.format, self.audioConfiguration) = (format, audioConfiguration)
        fingerprint = SpoolName.fingerprint(frames)
    }

    /// A segment of the slate with the number and the times of a published one.
    ///
    /// No file of the spool has the segment's name. One name always means the same bytes.
    package func replacement(of entry: RingEntry) -> RingEntry {
        var entry = entry
        let origin = Array(entry.segment.name.utf8) + fingerprint.littleEndianBytes + initialization.name.utf8
        // Ranges of an archive may give the entry another number than its relay did.
        let number = SpoolName.mediaSequence(ofSegment: entry.segment.name) ?? entry.mediaSequence
        let name = SpoolName.segment(mediaSequence: number, fingerprint: SpoolName.fingerprint(origin))
        (entry.segment, entry.initialization) = (SpoolFile(name: name, byteCount: 0), initialization)
        (entry.format, entry.isIndependent) = (format, true)
        entry.resumePoint.audioConfiguration = audioConfiguration
        // The slate is the same in every language and variant.
        (entry.audioFiles, entry.videoFiles) = ([], [])
        return entry
    }
}

/// The entries of a ring as one viewer gets them. Numbers, dates and durations are the same for all.
package struct AdView: Hashable, Sendable {
    /// nil unless the slate replaces breaks.
    private let slate: SlateFiles?
    private let listsFoundBreaks: Bool
    /// The breaks found without a marker that are replaced too.
    private var breaks: [Range<ProgramDateTime>] = []

    package static let keep = AdView(slate: nil, listsFoundBreaks: false)
    package static let mark = AdView(slate: nil, listsFoundBreaks: true)

    package static func slate(_ files: SlateFiles) -> AdView { AdView(slate: files, listsFoundBreaks: false) }

    private init(slate: SlateFiles?, listsFoundBreaks: Bool) {
        (self.slate, self.listsFoundBreaks) = (slate, listsFoundBreaks)
    }

    var replacesSegments: Bool { slate != nil }

    /// Whether a date range is hidden from the viewer: a break found without a marker that the viewer did not ask for,
    /// or ads that would be presented in place of the slate.
    func hides(_ range: DateRange) -> Bool {
        range.isFoundBreak ? !listsFoundBreaks : slate != nil && range.isInterstitial
    }

    /// The same view, in which the slate also replaces breaks without a marker that have ended.
    func replacing(_ found: [AdBreak]) -> AdView {
        var view = self
        view.breaks = found.compactMap { found in
            guard found.evidence != .signalled, let end = found.end, found.start < end else { return nil }
            return found.start..<end
        }
        return view
    }

    /// Whether the slate replaces a segment.
    package func replaces(_ entry: RingEntry) -> Bool {
        guard slate != nil, !entry.isGap else { return false }
        let half = PlaylistTicks.milliseconds(ticks: entry.duration / 2)
        let middle = entry.programDateTime.advanced(byMilliseconds: half)
        return entry.adBreak.isInside || breaks.contains { $0.contains(middle) }
    }

    /// The entry that the viewer gets for a published one.
    func entry(for published: RingEntry) -> RingEntry {
        var entry = published
        entry.adMarkers.dateRanges.removeAll(where: hides)
        guard let slate else { return entry }
        if replaces(published) { entry = slate.replacement(of: entry) }
        // The discontinuity numbers count the edges of breaks, where the init section changes.
        entry.isDiscontinuous = published.isDiscontinuous || published.adBreak.isEdge
        entry.discontinuitySequence += published.adBreak.edges
        return entry
    }

    func mediaSegment(of published: RingEntry, in content: PlaylistContent) -> MediaSegment {
        var content = content
        if replaces(published) {
            switch content {
            case .audio: content = .audio(0)
            case .video: content = .video(0)
            case .fragmentedMP4, .transportStream, .iFrames, .subtitles: break
            }
        }
        return entry(for: published).mediaSegment(in: content)
    }
}
