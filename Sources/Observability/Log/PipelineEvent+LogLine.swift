import Channel
import Conformance
import Demux
import Export
import Foundation
import LiveRing
import Logging
import Media
import Splice
import Support

extension ChannelPipeline.Event {
    /// - Parameter isDuringOutage: whether a single failure is a debug line only.
    func logLine(isDuringOutage: Bool) -> LogLine {
        switch self {
        case .periodBegan(let period, let sequence):
            LogLine(
                .info, "Period \(period.index) begins at upstream segment \(sequence): \(period.formatText)",
                sequence: sequence)
        case .programSelected(let program, let rendition):
            LogLine(program.warning == nil ? .info : .warning, "The \(rendition) rendition is \(program.summary)")
        case .published(let sequence, let upstream, let duration):
            LogLine(
                .debug, "Segment \(sequence) of \(duration.duration.secondsText) from upstream segment \(upstream)",
                sequence: upstream)
        case .skipped(let sequence, let reason):
            LogLine(
                isDuringOutage ? .debug : .warning, "Segment \(sequence) is skipped: \(reason.message)",
                sequence: sequence)
        case .timestampGap(let sequence, let missing):
            LogLine(
                .warning, "Timestamp gap of \(missing.duration.secondsText) in or before segment \(sequence)",
                sequence: sequence)
        case .periodRejected(let error): LogLine(.error, "A period is dropped: \(error.message)")
        case .audioTranscodeFailed(let error):
            if case .missingLibrary = error.reason {
                LogLine(.error, "Audio that has to be encoded again is replaced with silence: \(error.message)")
            } else {
                LogLine(.error, "Audio is replaced with silence: \(error.message)")
            }
        case .warned(let warning): LogLine(.warning, warning.message)
        case .publishFailed(let error) where error.isDiskError:
            LogLine(
                .error,
                "The spool cannot be written: ".appending(error.message).asSentence
                    + " Segments are dropped until it can")
        case .publishFailed(let error): LogLine(.error, "A segment is not published: \(error.message)")
        case .publishResumed(let count):
            LogLine(.warning, "The spool can be written again; \(count) segments were dropped")
        case .journalDamaged(let lost):
            LogLine(
                .warning,
                """
                The spool's journal is damaged: \(lost) segments that it no longer records are listed as gaps in the rewind. \
                It is kept as ring.m3u8.damaged
                """)
        case .subtitlePublishFailed(let error): LogLine(.error, "Subtitles are not published: \(error.message)")
        case .fillerBegan(.gap): LogLine(.warning, "Missing media is listed as gaps until the upstream delivers again")
        case .fillerBegan(.slate): LogLine(.warning, "The slate is published until the upstream delivers again")
        case .slateReloaded(let audio):
            LogLine(
                .info,
                "The slate changed on disk and is published from its new beginning"
                    + (audio == .copied ? "" : ", without its audio: \(audio.message)"))
        case .slateFailed(let error): LogLine(.error, "A part of the slate is dropped: \(RelayError(error).message)")
        case .adMarkersDropped:
            LogLine(.warning, "Ad markers are dropped: the upstream lists too many at once. status.json counts them")
        case .archiveMeasured(let storage): LogLine(storage.secondsUntilFull == nil ? .info : .warning, storage.message)
        case .outputBroke(let breach):
            LogLine(.warning, "The output breaks rule \(breach.rule.rawValue): \(breach.text), count=\(breach.count)")
        case .ended: LogLine(.info, "Every playlist has its ENDLIST")
        }
    }
}

extension StorageUse {
    /// The size of one day and of the whole archive, and the time until the disk is full.
    fileprivate var message: String {
        let day = "A day of the archive takes \((bytesPerDay ?? 0).gibibytesText)"
        let whole = bytesWhenFull.map { ", the whole \($0.gibibytesText)" } ?? ""
        let room = secondsUntilFull.map { seconds in
            let days = String(format: "%.1f", Double(seconds) / 86_400)
            return ": the disk is full in \(days) days, and the archive is dropped then"
        }
        return day + whole + (room ?? ". The disk has room for it")
    }
}

extension UInt64 {
    fileprivate var gibibytesText: String { String(format: "%.1f GiB", Double(self) / Double(1 << 30)) }
}

extension PeriodDescription {
    /// The codecs of both tracks, and the size and rate of the video.
    fileprivate var formatText: String {
        let video = video.map { "\($0.codec) \($0.width)x\($0.height) \($0.frameRate) fps" } ?? "no video"
        return "\(video), \(audioCodec ?? "no audio")"
    }
}

extension ProgramSelection {
    /// "program 1 (0x100 H.264, 0x101 AAC or MPEG audio eng; not followed: 0x102 DVB teletext)".
    var summary: String {
        guard !listed.isEmpty else { return "streams identified by their first bytes, because no table lists any" }
        let warning = warning.map { ": \($0)" } ?? ""
        func summary(_ streams: [ListedStream]) -> String { streams.map(\.summary).joined(separator: ", ") }
        let others = listed.filter { !$0.isFollowed }
        let rest = others.isEmpty ? "" : "; not followed: \(summary(others))"
        let besides = otherPrograms.isEmpty ? "" : ", one of \(otherPrograms.count + 1)"
        return "program \(programNumber)\(besides) (\(summary(listed.filter(\.isFollowed)))\(rest))\(warning)"
    }

    /// "no video is published, because MPEG-2 video cannot be republished"; nil if nothing is missing.
    var warning: String? {
        let missing = [
            Self.warning("video", unsupportedVideo, isFollowed: video != nil),
            Self.warning("audio", unsupportedAudio, isFollowed: audio != nil),
            video?.kind == .video(.mpeg2) ? Self.fewPlayers : nil,
        ].compactMap(\.self)
        return missing.isEmpty ? nil : missing.joined(separator: "; ")
    }

    private static let fewPlayers =
        "browsers and Apple's players show no MPEG-2 video: give /live.ts to televisions, VLC, mpv or Kodi"

    /// - Parameter isFollowed: whether other streams of that kind are published.
    private static func warning(_ kind: String, _ names: [String], isFollowed: Bool) -> String? {
        guard !names.isEmpty else { return nil }
        let subject = isFollowed ? "not all \(kind) is published" : "no \(kind) is published"
        return "\(subject), because \(names.joined(separator: ", ")) cannot be republished"
    }
}

extension ProgramSelection.ListedStream {
    fileprivate var summary: String {
        let name = name ?? "stream type 0x\(String(streamType, radix: 16))"
        return "0x\(String(pid, radix: 16)) \(name)\(language.map { " \($0)" } ?? "")"
    }
}
