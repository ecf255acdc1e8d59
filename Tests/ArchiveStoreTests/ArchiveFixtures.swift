import StoreTestSupport

@testable import ArchiveStore
@testable import LiveRing
@testable import Support

extension RingEntry {
    /// Segment `n` of a channel, which begins `n` times its duration after noon.
    static func numbered(
        _ n: Int, lasting seconds: Int64 = 4, at date: ProgramDateTime? = nil, initialization: String = "init-a.mp4",
        isGap: Bool = false, header: String = ""
    ) -> RingEntry {
        let name = SpoolName.segment(mediaSequence: UInt64(n), header: Array("\(header)\(n)".utf8))
        return RingEntry(
            mediaSequence: UInt64(n), discontinuitySequence: 0, isDiscontinuous: false, isIndependent: true,
            initialization: SpoolFile(name: initialization, byteCount: 10),
            segment: SpoolFile(name: name, byteCount: 100 + n), duration: seconds * 90_000,
            programDateTime: date ?? noon.advanced(byMilliseconds: Int64(n) * seconds * 1000),
            resumePoint: ResumePoint(
                videoDecodeTime: UInt64(n), audioDecodeTime: 0, fragmentSequenceNumber: UInt64(n),
                presentationEnd: Int64(n + 1) * seconds * 90_000, compositionOffset: 0),
            format: SegmentFormat(videoCodec: "avc1.640028"), adMarkers: SegmentAdMarkers(), isGap: isGap, listedFrom: 0
        )
    }
}

/// The head of an index.
let head = ArchiveIndex(
    like: RingSnapshot(
        version: 0, index: RingIndex(policy: RetentionPolicy(rewind: nil), targetDuration: 4), hasEnded: false,
        rewindDrops: 0, housekeepingError: nil, directory: ""))
