import Fetch
import Logging
import Playlist
import Support
import Tracker

extension UpstreamEvent {
    /// - Parameter isDuringOutage: whether a single failure is a debug line only.
    func logLine(isDuringOutage: Bool) -> LogLine {
        switch self {
        case .variantSelected(let variant, let audio, let subtitles, _):
            LogLine(.info, "Selected the variant of \(Self.text(of: variant, audio, subtitles))")
        case .audioTracksSelected(let tracks, _, let omitted):
            LogLine(
                omitted > 0 ? .notice : .info,
                "Following the audio of \(tracks.map(\.name).joined(separator: ", ")) too"
                    + (omitted > 0 ? "; too many renditions: omitted=\(omitted)" : ""))
        case .variantsSelected(let variants, let dropped):
            LogLine(
                dropped > 0 ? .warning : .info,
                """
                Following the variants of \(variants.map { Self.text(of: $0, nil, []) }.joined(separator: "; ")) too\
                \(dropped > 0 ? "; dropped=\(dropped)" : "")
                """)
        case .variantRefused(let variant, let refusal):
            LogLine(
                .warning, "The variant of \(Self.text(of: variant, nil, [])) is not followed: \(Self.text(of: refusal))"
            )
        case .audioAbandoned(let audio, let error):
            LogLine(
                .warning,
                """
                The audio rendition \(audio.name) is not there, and the audio in the variant's own segments is followed, if \
                there is some: \(RelayError(error).message)
                """)
        case .variantChanged(let old, let new, let change):
            LogLine(
                change == .silent ? .warning : .notice,
                """
                Following the variant of \(Self.text(of: new, nil, [])) in place of \(Self.text(of: old, nil, [])), \
                \(change == .silent ? "of which nothing can be published" : "because it is there again")
                """)
        case .joined(let joined):
            LogLine(
                .info,
                """
                Joined a \(joined.isVOD ? "finished" : "live") playlist (\(joined.rendition.name)) at segment \
                \(joined.mediaSequence), target \(joined.targetDuration.secondsText)
                """, sequence: joined.mediaSequence)
        case .moved(let role, let url): LogLine(.info, "The \(role.name) playlist is now at \(url.redacted)", url: url)
        case .targetDurationChanged(let role, let old, let new):
            LogLine(
                .notice, "The \(role.name) playlist's target went from \(old.secondsText) to \(new.secondsText)")
        case .released(let role): LogLine(.info, "The \(role.name) is not followed any more: nobody asks for it")
        case .unknownParameters(let names, let url):
            LogLine(
                .warning, "Parameters of the URL that are not understood: \(names.joined(separator: ", "))", url: url)
        case .stalePlaylist(let role): LogLine(.notice, "The \(role.name) playlist went back and is ignored")
        case .reset(let role, let method, _):
            LogLine(.warning, "The \(role.name) playlist was reset; rejoined by \(method)")
        case .playlistFailed(_, let error), .multivariantReloadFailed(let error):
            LogLine(.warning, RelayError(error).message, url: error.url)
        case .playlistIrregular(let role, let error):
            LogLine(
                .notice,
                "The \(role?.name ?? "multivariant") playlist is irregular in line \(error.line): \(error.message)")
        case .playlistLimitExceeded(let role, let limit, let dropped):
            LogLine(
                .warning,
                "The \(role?.name ?? "multivariant") playlist exceeds the limit \(limit.rawValue): dropped=\(dropped)")
        case .playlistEnded(let role): LogLine(.info, "The \(role.name) playlist has ended")
        case .playlistReopened(let role): LogLine(.info, "The \(role.name) playlist begins again")
        case .stalled(let role, let step, let silence):
            LogLine(.warning, "The \(role.name) playlist has stalled for \(silence.secondsText): \(step.message)")
        case .resumed(let role, let silence):
            LogLine(.info, "The \(role.name) playlist resumed after \(silence.secondsText)")
        case .mediaStalled(let step, let silence, let reason):
            LogLine(
                .warning, "Nothing could be published for \(silence.secondsText), \(reason.message): \(step.message)")
        case .reconnected(let cause, let silence, let repeated):
            LogLine(
                .info,
                "Reconnected after \(silence.secondsText) (\(cause.message)), \(repeated) frames repeated and dropped")
        case .mediaResumed(let silence):
            LogLine(.info, "The upstream's media resumed after \(silence.secondsText)")
        case .lost(let role, let loss):
            LogLine(
                isDuringOutage ? .debug : .warning,
                "Lost \(role.name) segments \(loss.mediaSequences): \(loss.reason.message)",
                sequence: loss.mediaSequences.lowerBound)
        case .fetchFailed(let request, let failure, let failures, let isLast):
            LogLine(
                isDuringOutage ? .debug : .notice,
                """
                Attempt \(failures) of \(request.url.redacted) failed (\(failure.message)), \
                \(isLast ? "given up" : "trying again")
                """, url: request.url)
        case .keyFetched(let url): LogLine(.debug, "Key \(url.redacted)", url: url)
        case .hostLimited(let host, let status, let pause):
            LogLine(
                .warning,
                "\(host) answers HTTP \(status): paused for \(pause.secondsText), then one request at a time")
        case .hostLimitEnded(let host, let answers):
            LogLine(.info, "\(host) is asked as before, after \(answers) answers that asked for fewer requests")
        case .trialStarted(let source, let url):
            LogLine(
                .info, "Trying \(source == 0 ? "the upstream again" : "backup \(source)"): \(url.redacted)", url: url)
        case .sourceFailed(let source, let error):
            LogLine(.warning, "\(source.sourceName) cannot be used: \(RelayError(error).message)", url: error.url)
        case .sourceEnded(let source): LogLine(.warning, "\(source.sourceName) has ended")
        case .sourceSwitched(let source, let url):
            LogLine(
                .warning,
                "Failover: \(source == 0 ? "the channel's own upstream" : "backup \(source)") is active: \(url.redacted)",
                url: url)
        case .backup(_, let event): event.logLine(isDuringOutage: isDuringOutage)
        }
    }

    /// "… bit/s 1280x720, audio rendition …, subtitles …"
    private static func text(of refusal: VariantRefusal) -> String {
        switch refusal {
        case .foreignVideo(let codecs):
            "no video in it can be republished" + (codecs.isEmpty ? "" : " (\(codecs.joined(separator: ", ")))")
        case .failed(let error): RelayError(error).message
        }
    }

    private static func text(of variant: Variant, _ audio: Rendition?, _ subtitles: [Rendition]) -> String {
        let size = variant.resolution.map { " \($0.width)x\($0.height)" } ?? ""
        let audio = audio.map { ", audio rendition \($0.name)" } ?? ""
        let names = subtitles.map(\.name).joined(separator: ", ")
        return "\(variant.bandwidth) bit/s\(size)\(audio)\(names.isEmpty ? "" : ", subtitles \(names)")"
    }
}

extension RenditionRole {
    fileprivate var name: String {
        switch self {
        case .main: "main"
        case .audio: "audio"
        case .furtherAudio(let index): "audio \(index + 1)"
        case .furtherVideo(let index): "variant \(index + 1)"
        case .subtitles(let index): "subtitle \(index + 1)"
        }
    }
}

extension StallEscalation.Step {
    fileprivate var message: String {
        switch self {
        case .late: "late"
        case .redundantVariant: "trying a redundant variant, if there is one"
        case .reloadMultivariant: "reloading the multivariant playlist"
        case .outage: "outage; still trying"
        case .giveUp: "given up"
        }
    }
}
