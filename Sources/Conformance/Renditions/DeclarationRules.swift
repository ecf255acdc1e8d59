import Media
import Playlist
import Support

/// Rules 32, 33 and 34: what the multivariant playlist declares of a playlist, against its media.
struct DeclarationRules {
    /// EXT-X-STREAM-INF of the playlist's own variant; nil for a rendition.
    var variant: ScannedVariant?
    var rendition: ScannedRendition?
    let masterURL: String
    let media: MediaRecord
    let targetDuration: Duration?

    let master: ScannedPlaylist

    private static let rateTolerance = 0.5

    func judge(into log: inout FindingLog) {
        let measured = media.measured.values.sorted { $0.segment.sequence < $1.segment.sequence }
        if let variant {
            judgeCodecs(variant, measured, &log)
            judgeVideo(variant, measured, &log)
            judgeBandwidth(variant, measured, &log)
            judgeCaptions(variant, measured, &log)
        }
        if let rendition { judgeChannels(rendition, measured, &log) }
    }

    private func add(
        _ rule: Rule, _ cause: String, level: RuleLevel? = nil, line: Int?, _ segment: ScannedSegment?,
        _ message: String, _ log: inout FindingLog
    ) {
        log.add(
            rule, cause, level: level, of: media.url,
            at: FindingPlace(uri: segment?.uri ?? masterURL, sequence: segment?.sequence, line: line), message)
    }

    // MARK: - Rule 32

    private func judgeCodecs(_ variant: ScannedVariant, _ measured: [MeasuredSegment], _ log: inout FindingLog) {
        guard let text = variant.attributes["CODECS"] else { return }
        let declared =
            (text + "," + (variant.attributes["SUPPLEMENTAL-CODECS"] ?? "")).split(separator: ",")
            .map { String($0.filter { $0 != " " }) }
        for item in measured {
            if let found = item.facts.video?.description?.codecString {
                log.recordJudgement(.declaredMedia)
                if let problem = CodecDeclaration.problem(of: found, in: declared) {
                    let message = "the video is \(found), and CODECS says “\(text)”: \(problem.text)"
                    add(.declaredMedia, "codecs", level: problem.level, line: variant.line, item.segment, message, &log)
                    return
                }
            }
            if let found = item.facts.audio?.configuration.codecString {
                log.recordJudgement(.declaredMedia)
                if let problem = CodecDeclaration.problem(of: found, in: declared) {
                    let message = "the audio is \(found), and CODECS says “\(text)”: \(problem.text)"
                    add(.declaredMedia, "codecs", level: problem.level, line: variant.line, item.segment, message, &log)
                    return
                }
            }
        }
    }

    private func judgeVideo(_ variant: ScannedVariant, _ measured: [MeasuredSegment], _ log: inout FindingLog) {
        let resolution = variant.attributes["RESOLUTION"]
        for item in measured {
            guard let video = item.facts.video, let description = video.description else { continue }
            let size = "\(description.width)x\(description.height)"
            let displayed = "\(description.displayWidth >> 16)x\(description.height)"
            if let resolution {
                log.recordJudgement(.declaredMedia)
                if resolution != size, resolution != displayed {
                    let message = "the video has \(size), and RESOLUTION is \(resolution)"
                    add(
                        .declaredMedia, "resolution", level: .should, line: variant.line, item.segment, message, &log)
                    return
                }
            }
            let range = variant.attributes["VIDEO-RANGE"] ?? "SDR"
            if ["SDR", "HLG", "PQ"].contains(range), range != description.videoRange.rawValue,
                variant.attributes["VIDEO-RANGE"] != nil || description.videoRange != .standard
            {
                let message = "the video is \(description.videoRange.rawValue), and VIDEO-RANGE is \(range)"
                add(.declaredMedia, "video-range", line: variant.line, item.segment, message, &log)
                return
            }
            if let text = variant.attributes["FRAME-RATE"], let rate = DecimalSeconds.duration(text)?.inSeconds,
                video.frames >= 10, video.frameDuration > .zero
            {
                let found = 1 / video.frameDuration.duration.inSeconds
                // Interlaced video may count fields.
                guard found > rate + Self.rateTolerance, abs(found / 2 - rate) > Self.rateTolerance else { continue }
                let message = "the video has \(Int(found.rounded())) frames per second, and FRAME-RATE is \(text)"
                add(.declaredMedia, "frame-rate", level: .should, line: variant.line, item.segment, message, &log)
                return
            }
        }
    }

    private func judgeChannels(_ rendition: ScannedRendition, _ measured: [MeasuredSegment], _ log: inout FindingLog) {
        guard let text = rendition.attributes["CHANNELS"], !text.contains("/"), let declared = Int(text) else { return }
        for item in measured {
            guard let audio = item.facts.audio else { continue }
            log.recordJudgement(.declaredMedia)
            // HE-AAC v2 states one channel and has two.
            let found = audio.configuration.channelCount
            guard found != declared, !(found == 1 && declared == 2 && audio.configuration.codec == .aac) else {
                continue
            }
            let message = "the audio has \(found) channels, and CHANNELS is \(text)"
            add(.declaredMedia, "channels", line: rendition.line, item.segment, message, &log)
            return
        }
    }

    // MARK: - Rule 33

    private func judgeBandwidth(_ variant: ScannedVariant, _ measured: [MeasuredSegment], _ log: inout FindingLog) {
        guard let bandwidth = variant.bandwidth, bandwidth > 0 else { return }
        var (bits, seconds, count) = (0.0, 0.0, 0)
        for item in measured {
            guard let duration = item.segment.duration?.inSeconds, duration > 0 else { continue }
            bits += Double(item.facts.byteCount * 8)
            seconds += duration
            count += 1
            guard duration >= (targetDuration?.inSeconds ?? 0) / 2 else { continue }
            log.recordJudgement(.declaredBandwidth)
            let rate = Double(item.facts.byteCount * 8) / duration
            guard rate > 1.25 * Double(bandwidth) else { continue }
            let message =
                "the segment has \(Int(rate)) bit/s, \(Int(rate / Double(bandwidth) * 100)) % of BANDWIDTH \(bandwidth)"
            add(.declaredBandwidth, "peak", line: variant.line, item.segment, message, &log)
        }
        guard count >= 10, let average = variant.attributes["AVERAGE-BANDWIDTH"].flatMap({ Int($0) }), average > 0,
            bits / seconds > 1.1 * Double(average)
        else { return }
        let message =
            "the average over \(count) segments is \(Int(bits / seconds)) bit/s, and AVERAGE-BANDWIDTH \(average)"
        add(.declaredBandwidth, "average", line: variant.line, nil, message, &log)
    }

    // MARK: - Rule 34

    private func judgeCaptions(_ variant: ScannedVariant, _ measured: [MeasuredSegment], _ log: inout FindingLog) {
        guard measured.contains(where: { $0.facts.video != nil }) else { return }
        log.recordJudgement(.captions)
        guard let item = measured.first(where: { $0.facts.video?.captions.isEmpty == false }),
            let channels = item.facts.video?.captions.instreamIDs
        else { return }
        let names = channels.joined(separator: ", ")
        switch variant.attributes["CLOSED-CAPTIONS"] {
        case "NONE":
            let message = "the video has captions (\(names)), and CLOSED-CAPTIONS is NONE"
            add(.captions, "none", level: .must, line: variant.line, item.segment, message, &log)
        case nil:
            let message = "the video has captions (\(names)) that no attribute declares"
            add(.captions, "undeclared", line: variant.line, item.segment, message, &log)
        case let group?:
            let declared = master.renditions.filter { $0.type == "CLOSED-CAPTIONS" && $0.group == group }
                .compactMap { $0.attributes["INSTREAM-ID"] }
            // A service of CEA-708 usually accompanies a channel of CEA-608.
            let missing = channels.filter { $0.hasPrefix("CC") && !declared.contains($0) }
            guard !declared.isEmpty, !missing.isEmpty, !declared.contains(where: { $0.hasPrefix("SERVICE") }) else {
                return
            }
            let message = "the group “\(group)” does not declare \(missing.joined(separator: ", "))"
            add(.captions, "channel", line: variant.line, item.segment, message, &log)
        }
    }
}

/// Whether CODECS declares a codec that was found.
enum CodecDeclaration {
    private static let families: [[String]] = [
        ["avc1", "avc3"], ["hvc1", "hev1", "dvh1", "dvhe"], ["mp4a"], ["ac-3"], ["ec-3"], ["fLaC", "flac"],
        ["opus", "Opus"], ["mp4v"],
    ]

    static func problem(of found: String, in declared: [String]) -> (level: RuleLevel, text: String)? {
        let name = String(found.prefix { $0 != "." })
        guard let family = families.first(where: { $0.contains(name) }) else { return nil }
        let candidates = declared.filter { family.contains(String($0.prefix { $0 != "." })) }
        if candidates.isEmpty { return (.must, "no entry of its kind") }
        if name == "mp4a" { return audioProblem(found, candidates) }
        guard name == "avc1", found.utf8.count == 11 else { return nil }
        let isCovered = candidates.contains { covers($0, found) }
        return isCovered ? nil : (.should, "the profile or the level is another one")
    }

    /// MPEG audio and AAC are told apart; kinds of AAC may be signaled implicitly.
    private static func audioProblem(_ found: String, _ declared: [String]) -> (level: RuleLevel, text: String)? {
        let isAAC = found.hasPrefix("mp4a.40")
        let mpeg: Set = ["mp4a.6B", "mp4a.69", "mp4a.40.34", "mp4a.40.33", "mp4a.40.32", "mp4a.6b"]
        let fits = declared.contains { isAAC ? !mpeg.contains($0) : mpeg.contains($0) }
        return fits ? nil : (.must, "no entry of its kind")
    }

    /// The same profile, and at least the level.
    private static func covers(_ declared: String, _ found: String) -> Bool {
        let (wanted, have) = (declared.dropFirst(5), found.dropFirst(5))
        // `avc1.66.30` is an old way to write it.
        guard wanted.utf8.count == 6, let declaredLevel = Int(wanted.suffix(2), radix: 16),
            let level = Int(have.suffix(2), radix: 16), let declaredProfile = Int(wanted.prefix(2), radix: 16),
            let profile = Int(have.prefix(2), radix: 16)
        else { return true }
        return declaredProfile >= profile && declaredLevel >= level
            || declaredProfile == profile && declaredLevel >= level
    }
}
