import Media
import Support

/// A program map section (ISO/IEC 13818-1 §2.4.4.8).
struct ProgramMap: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let pid: UInt16
        let streamType: UInt8
        let format: ElementaryStreamFormat
        let language: String?
        /// Whether the audio is a commentary, which does not replace the main audio.
        let isCommentary: Bool
        let audioType: UInt8?
        /// The first descriptor of DVB subtitles or teletext; nil if there is none.
        let privateDataDescriptor: [UInt8]?

        var kind: ElementaryStreamKind? { format.kind }
    }

    let programNumber: UInt16
    /// The first streams of the section, `DemuxLimits.streams` at most.
    let entries: [Entry]
    let hasVideo: Bool
    let hasAudio: Bool

    /// Parses a section; nil for another table, a table that is not yet applicable, or contradictory lengths.
    init?(_ section: [UInt8]) {
        guard section.count >= 16, section[0] == 0x02, section[5] & 1 == 1 else { return nil }
        programNumber = UInt16(section[3]) << 8 | UInt16(section[4])
        let end = section.count - 4
        var offset = 12 + Self.length(section, at: 10)
        guard offset <= end else { return nil }
        let program = StreamDescriptors(section[12..<offset])
        var entries: [Entry] = []
        while offset + 5 <= end, entries.count < DemuxLimits.streams {
            let pid = UInt16(section[offset + 1] & 0x1F) << 8 | UInt16(section[offset + 2])
            let next = offset + 5 + Self.length(section, at: offset + 3)
            guard next <= end else { return nil }
            let descriptors = StreamDescriptors(section[offset + 5..<next])
            entries.append(Entry(pid: pid, streamType: section[offset], descriptors, program: program))
            offset = next
        }
        StepCounter.add(entries.count + 1)
        self.entries = entries
        hasVideo = entries.contains { $0.kind?.isVideo == true }
        hasAudio = entries.contains { $0.kind?.isVideo == false }
    }

    /// Whether a supported stream of the requested tracks is listed.
    func hasStreams(of tracks: TrackSelection) -> Bool {
        hasVideo && tracks != .audio || hasAudio && tracks != .video
    }

    private static func length(_ section: [UInt8], at offset: Int) -> Int {
        Int(section[offset] & 0x0F) << 8 | Int(section[offset + 1])
    }
}

extension ProgramMap.Entry {
    fileprivate init(pid: UInt16, streamType: UInt8, _ descriptors: StreamDescriptors, program: StreamDescriptors) {
        self.init(
            pid: pid, streamType: streamType,
            format: ElementaryStreamFormat(streamType: streamType, descriptors, program: program),
            language: descriptors.language, isCommentary: descriptors.isCommentary, audioType: descriptors.audioType,
            privateDataDescriptor: descriptors.privateData?.descriptor)
    }
}
