import Demux
import Media
import Support

/// The media of two consecutive segments where they meet: rules 24 to 27 and 31.
struct BoundaryRules {
    let before: MeasuredSegment
    let after: MeasuredSegment
    let url: String
    let isTagged: Bool

    /// A jump of the clock that no lost frame explains.
    private static let longestLoss = Ticks.milliseconds(1000)
    /// A change of the offset between audio and video that people notice.
    private static let offsetTolerance = Ticks.milliseconds(40)

    private var place: FindingPlace {
        FindingPlace(
            uri: after.segment.uri, sequence: after.segment.sequence, line: after.segment.line,
            mediaTime: after.facts.start?.wire.duration)
    }

    /// From where video or audio should go on to where it does; above 0: media is missing.
    private var videoJump: Ticks? {
        if let old = before.facts.videoSpan, let new = after.facts.videoSpan { return new.distance(from: old) }
        // The duration of a single frame is not known.
        guard let old = before.facts.video, let new = after.facts.video, !new.isBeginningUnknown, old.frames > 1 else {
            return nil
        }
        return new.firstDTS.distance(from: old.lastDTS + old.frameDuration)
    }

    private var audioJump: Ticks? {
        if let old = before.facts.audioSpan, let new = after.facts.audioSpan { return new.distance(from: old) }
        guard let old = before.facts.audio, let new = after.facts.audio else { return nil }
        return new.start.distance(from: old.end)
    }

    private var frame: Ticks {
        let video = max(before.facts.video?.longestFrame ?? .zero, after.facts.video?.longestFrame ?? .zero)
        return (video > .zero ? video : before.facts.audio?.frameDuration ?? .zero) + AudioFacts.rounding
    }

    private var audioFrame: Ticks {
        max(before.facts.audio?.frameDuration ?? .zero, after.facts.audio?.frameDuration ?? .zero) + AudioFacts.rounding
    }

    /// - Returns: whether the second segment goes on with the clock of the first.
    func judge(into log: inout FindingLog) -> Bool {
        guard before.facts.error == nil, after.facts.error == nil, !before.segment.isGap, !after.segment.isGap,
            before.facts.start != nil, after.facts.start != nil
        else { return false }
        return isTagged ? judgeTagged(&log) : judgeUntagged(&log)
    }

    private func judgeTagged(_ log: inout FindingLog) -> Bool {
        log.recordJudgement(.idleTag)
        let jump = [videoJump, audioJump].compactMap(\.self).map(\.magnitude).max() ?? .zero
        let isSame =
            before.facts.video?.configuration == after.facts.video?.configuration
            && before.facts.audio?.configuration == after.facts.audio?.configuration
            && before.segment.map == after.segment.map && configurationChange == nil && areCountersContinued
        guard jump <= frame + audioFrame else { return false }
        if isSame {
            log.add(
                .idleTag, "nothing", of: url, at: place,
                "nothing changes at the EXT-X-DISCONTINUITY: the clock and the settings go on")
        }
        return true
    }

    /// Whether one packager wrote both segments without a break: the counters of all PIDs go on. Fragmented MP4 has no such
    /// proof, because the content may change where nothing else does.
    private var areCountersContinued: Bool {
        let pids = Set(before.facts.counters.keys).intersection(after.facts.counters.keys).filter { $0 >= 0x20 }
        return !pids.isEmpty
            && pids.allSatisfy { pid in
                guard let old = before.facts.counters[pid], let new = after.facts.counters[pid] else { return false }
                return new.first == (old.last + 1) & 0x0F
            }
    }

    private func judgeUntagged(_ log: inout FindingLog) -> Bool {
        log.recordJudgement(.untaggedSplice)
        if let change = configurationChange {
            // RFC 8216bis §4.4.4.3 has SHOULD for the parameters of an encoding.
            let level: RuleLevel? = ["size", "rate", "audio"].contains(change.cause) ? .should : nil
            log.add(
                .untaggedSplice, change.cause, level: level, of: url, at: place, "without a tag changes \(change.text)")
            return false
        }
        let isFragmented = after.facts.container == .fragmentedMP4
        log.recordJudgement(.timestampOrder)
        if isFragmented { log.recordJudgement(.decodeTimes) }
        if audioJump != nil { log.recordJudgement(.avOffset) }
        if let jump = clockJump {
            log.add(
                .untaggedSplice, "clock", of: url, at: place,
                "without a tag the timestamps jump \(jump.count > 0 ? "ahead" : "back") by \(jump.text)")
            return false
        }
        var goesOn = true
        if let jump = videoJump, jump.magnitude > frame {
            goesOn = false
            judge(video: jump, isFragmented, &log)
        }
        if let jump = audioJump, jump.magnitude > audioFrame {
            goesOn = false
            judge(audio: jump, isFragmented, &log)
        }
        return goesOn
    }

    /// The jump, if both tracks jump alike, or farther than lost frames explain.
    private var clockJump: Ticks? {
        switch (videoJump, audioJump) {
        case (let video?, let audio?):
            if video.magnitude > frame, audio.magnitude > audioFrame,
                (video - audio).magnitude <= Self.offsetTolerance + frame
            {
                return video
            }
            return video.magnitude > Self.longestLoss && audio.magnitude > Self.longestLoss ? video : nil
        case (let jump?, nil), (nil, let jump?): return jump.magnitude > Self.longestLoss ? jump : nil
        case (nil, nil): return nil
        }
    }

    private func judge(video jump: Ticks, _ isFragmented: Bool, _ log: inout FindingLog) {
        let isGap = jump.count > 0
        if isFragmented {
            judge(decodeTimes: jump, of: "video", isGap ? "gap" : "overlap", &log)
        } else if !isGap {
            log.add(
                .timestampOrder, "back", of: url, at: place,
                "the video's DTS go back by \(jump.text) behind the segment before")
        } else if audioJump != nil {
            log.add(
                .avOffset, "offset", of: url, at: place,
                "the video's timestamps jump ahead by \(jump.text), and the audio's do not")
        } else {
            log.add(
                .timestampOrder, "gap", level: .should, of: url, at: place, "\(jump.text) of video are missing")
        }
    }

    private func judge(audio jump: Ticks, _ isFragmented: Bool, _ log: inout FindingLog) {
        let isGap = jump.count > 0
        if isFragmented {
            judge(decodeTimes: jump, of: "audio", isGap ? "audio-gap" : "audio-overlap", &log)
        } else {
            log.add(
                .avOffset, isGap ? "gap" : "overlap", of: url, at: place,
                isGap ? "\(jump.text) of audio are missing" : "audio overlaps by \(jump.text)")
        }
    }

    private func judge(decodeTimes jump: Ticks, of track: String, _ cause: String, _ log: inout FindingLog) {
        let side = jump.count > 0 ? "after" : "before"
        log.add(
            .decodeTimes, cause, of: url, at: place,
            "the tfdt of the \(track) is \(jump.text) \(side) the end of the segment before")
    }

    // MARK: - Settings

    private var configurationChange: (cause: String, text: String)? {
        let (old, new) = (before.facts, after.facts)
        if old.container != new.container {
            return ("container", "the container from \(old.container.rawValue) to \(new.container.rawValue)")
        }
        if let change = videoChange(old.video, new.video) { return change }
        guard let audio = old.audio, let next = new.audio else { return nil }
        if let change = audio.configuration.change(to: next.configuration) {
            return (audio.configuration.codec == next.configuration.codec ? "audio" : "codec", change)
        }
        if audio.pid != next.pid { return ("pid", "the PID of the audio from \(audio.pid) to \(next.pid)") }
        return nil
    }

    private func videoChange(_ old: VideoFacts?, _ new: VideoFacts?) -> (cause: String, text: String)? {
        guard let old, let new else { return nil }
        if old.pid != new.pid { return ("pid", "the PID of the video from \(old.pid) to \(new.pid)") }
        guard let before = old.description, let after = new.description else { return nil }
        if old.codec != new.codec {
            return ("codec", "the codec from \(before.codecString) to \(after.codecString)")
        }
        if (before.width, before.height) != (after.width, after.height) {
            return ("size", "the size from \(before.width)x\(before.height) to \(after.width)x\(after.height)")
        }
        if let was = before.frameRate, let rate = after.frameRate, was != rate {
            return ("rate", "the frame rate from \(was.text) to \(rate.text)")
        }
        return nil
    }
}

extension VideoDescription.Ratio {
    /// Frames per second with up to three decimals.
    var text: String {
        let thousandths = (numerator * 1000 + denominator / 2) / max(1, denominator)
        return DecimalSeconds.text(.milliseconds(thousandths))
    }
}
