import Demux
import Media
import Support

/// The rules of one segment's media: 22, 23, 25, 26, 29, 30, 31 and 40.
struct SegmentRules {
    let segment: ScannedSegment
    let facts: SegmentFacts
    let url: String
    let isIndependent: Bool
    let target: Duration

    /// The interval of random access points that the HLS Authoring Specification recommends (1.13).
    private static let interval = Ticks.milliseconds(2000)

    private func place(at time: Ticks? = nil, byte: Int? = nil) -> FindingPlace {
        FindingPlace(
            uri: segment.uri, sequence: segment.sequence, line: segment.line, byte: byte,
            mediaTime: (time ?? facts.start)?.wire.duration)
    }

    func judge(into log: inout FindingLog) {
        if facts.container == .fragmentedMP4 { judgeInitialization(&log) }
        log.recordJudgement(.transfers)
        if facts.strayBytes > 0 {
            log.add(
                .transfers, "cut", of: url, at: place(byte: facts.byteCount),
                "the segment is not made of whole packets: \(facts.strayBytes) bytes too many")
        }
        if let video = facts.video { judge(video, &log) }
        if let audio = facts.audio { judge(audio, &log) }
        guard isIndependent, !facts.hasFrames, let span = facts.videoSpan else { return }
        log.recordJudgement(.independentSegments)
        if !span.beginsWithSync { addDependence(&log) }
    }

    private func addDependence(_ log: inout FindingLog) {
        log.add(
            .independentSegments, "no-key-frame", of: url, at: place(),
            "the segment does not begin with a random access point, though EXT-X-INDEPENDENT-SEGMENTS says so")
    }

    private func judgeInitialization(_ log: inout FindingLog) {
        log.recordJudgement(.initSection)
        if facts.needsInitialization {
            log.add(.initSection, "missing", of: url, at: place(), "the segment is fMP4 and stands under no EXT-X-MAP")
            return
        }
        log.recordJudgement(.initFits)
        if facts.foreignParameterSets > 0 {
            log.add(
                .initFits, "parameter-sets", of: url, at: place(),
                "the video has a sequence parameter set that the init section does not have")
        }
        if let track = facts.unknownTracks.first {
            log.add(.initFits, "track", of: url, at: place(), "the init section has no track \(track)")
        } else if let error = facts.error, !facts.isProtected {
            log.add(.initFits, "unreadable", of: url, at: place(), "the segment cannot be read: \(error)")
        }
    }

    private func judge(_ video: VideoFacts, _ log: inout FindingLog) {
        log.recordJudgement(.timestampOrder)
        if let backward = video.backward {
            log.add(
                .timestampOrder, "within", of: url, at: place(at: backward.time),
                "the DTS of \(backward.count) frames does not rise")
        }
        if let change = video.change {
            log.add(
                .untaggedSplice, "within", of: url, at: place(), "within the segment changes \(change)")
            return
        }
        if isIndependent {
            log.recordJudgement(.independentSegments)
            if video.access == nil {
                addDependence(&log)
                return
            }
        }
        judgeKeyFrames(video, &log)
    }

    private func judgeKeyFrames(_ video: VideoFacts, _ log: inout FindingLog) {
        log.recordJudgement(.keyFrames)
        guard let first = video.accessTimes.first else {
            log.add(.keyFrames, "none", of: url, at: place(), "the segment has no random access point")
            return
        }
        guard !video.isBeginningUnknown else { return }
        var longest = Ticks.zero
        var previous = first
        for time in video.accessTimes.dropFirst() + [video.end] {
            longest = max(longest, time - previous)
            previous = time
        }
        guard longest > Self.interval + video.frameDuration + AudioFacts.rounding else { return }
        let isLong = longest.duration > target + .milliseconds(500)
        log.add(
            .keyFrames, isLong ? "rare" : "interval", level: isLong ? .should : .note, of: url, at: place(),
            "random access points are up to \(longest.text) apart")
    }

    private func judge(_ audio: AudioFacts, _ log: inout FindingLog) {
        log.recordJudgement(.avOffset)
        if let change = audio.change {
            log.add(.untaggedSplice, "within", of: url, at: place(), "within the segment changes \(change)")
            return
        }
        guard facts.video?.backward == nil, facts.video?.change == nil, let jump = audio.jumps.first else { return }
        // Jumps that cancel each other are the encoder's rounding.
        let isGap = jump.length.count > 0
        log.add(
            .avOffset, isGap ? "gap" : "overlap", of: url, at: place(at: jump.time),
            isGap ? "\(jump.length.text) of audio are missing" : "audio overlaps by \(jump.length.text)")
    }
}
