import Playlist

@testable import LiveRing
@testable import Support

/// Journals as `DVRRing` writes them, at several positions of the output.
enum JournalSeeds {
    /// Seconds of output before the journal: none, just past 32 and 33 bits of 90 kHz ticks, 84.05 days, where 14,112,000
    /// times the ticks no longer fits in 64 bits, a year, and 50 years.
    private static let positions: [Int64] = [0, 47_721, 95_443, 7_262_040, 31_536_000, 1_577_880_000]

    static func journals() -> [String] {
        positions.enumerated().map { number, seconds in
            let index = index(of: number * 3, position: seconds * 90_000)
            return RingJournal(index, hasEnded: number == 3).text
        }
    }

    /// The journal of a rendition of the same ring.
    static func subtitles() -> [String] {
        [0, 4, 9].map { count in
            var upstream = Rendition(type: .subtitles, groupID: "s", name: "English, \"CC\"")
            upstream.language = "en"
            var track = SubtitleRendition(number: 0, publishing: upstream)
            let index = index(of: count, position: 0)
            for entry in index.entries {
                let name = "sub-0-\(entry.mediaSequence)-0a0b0c0d.vtt"
                track.append(.init(file: SpoolFile(name: name, byteCount: 300)), for: entry.mediaSequence)
            }
            return SubtitleJournal(track: track).text(index)
        }
    }

    static func index(of count: Int, position: Int64) -> RingIndex {
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(60)), targetDuration: 6)
        for number in 0..<count {
            var entry = next(of: index, duration: 540_000, after: nil, number: number, position: position)
            entry.isGap = number == 4
            entry.isIndependent = number != 5
            _ = index.publish(entry)
        }
        return index
    }

    /// Returns an entry like those that `DVRRing` makes of new segments.
    /// - Parameter position: 90 kHz ticks of output before the first segment.
    static func next(
        of index: RingIndex, duration: Int64, after resumePoint: ResumePoint?, number: Int, position: Int64 = 0
    ) -> RingEntry {
        let isDiscontinuous = number.isMultiple(of: 3) && !index.listed.isEmpty
        return RingEntry(
            mediaSequence: index.nextMediaSequence,
            discontinuitySequence: index.discontinuitySequence + (isDiscontinuous ? 1 : 0),
            isDiscontinuous: isDiscontinuous, isIndependent: true,
            initialization: SpoolFile(name: "init-\(number / 4).mp4", byteCount: 700),
            segment: SpoolFile(name: "seg-\(index.nextMediaSequence)-0a0b0c0d.m4s", byteCount: 100_000),
            duration: duration,
            programDateTime: ProgramDateTime(millisecondsSince1970: 1_767_225_600_000 + Int64(number) * 6000),
            resumePoint: resumePoint ?? point(after: number, position: position),
            format: SegmentFormat(videoCodec: "avc1.640028", audioCodec: "mp4a.40.2"), adMarkers: adMarkers(number),
            transportStream: number.isMultiple(of: 5)
                ? nil
                : TransportStreamPoint(
                    parameters: "h264;aac;\(number);init-a.mp4;aac/48000/2/1024/1190",
                    discontinuitySequence: UInt64(number / 4), isDiscontinuous: number.isMultiple(of: 4),
                    still: number % 4 == 1 ? SpoolFile(name: "still-\(number / 8).mp4", byteCount: 9000) : nil),
            isGap: false, listedFrom: 0)
    }

    private static func point(after number: Int, position: Int64) -> ResumePoint {
        let end = position + Int64(number) * 540_000
        var point = ResumePoint(
            videoDecodeTime: UInt64(end), audioDecodeTime: UInt64(end / 90_000) * 14_112_000,
            fragmentSequenceNumber: UInt64(number) + 1, presentationEnd: end, compositionOffset: 18_000,
            audioConfiguration: "aac/48000/2/1024/1190")
        if number % 3 != 1 {
            point.upstream = UpstreamPosition(
                sourceIndex: number % 2, mediaSequence: UInt64(number) + 7,
                programDateTime: number == 2 ? nil : ProgramDateTime(millisecondsSince1970: 1_767_225_606_000))
        }
        return point
    }

    private static func adMarkers(_ number: Int) -> SegmentAdMarkers {
        guard number == 2 else { return SegmentAdMarkers() }
        var range = DateRange(id: "break")
        range.startDate = ProgramDateTime(millisecondsSince1970: 1_767_225_612_000)
        range.plannedDuration = .seconds(30)
        return SegmentAdMarkers(cueTags: [CueTag("#EXT-X-CUE-OUT:30")].compactMap { $0 }, dateRanges: [range])
    }
}
