import LiveRing
import Logging
import Media
import Playlist
import Splice
import Tracker

/// What happens on a channel, as lines for an operator: once per change, never once per poll.
struct RelayLog: Sendable {
    private var logger: Logger
    /// What an outage consists of is no news while it lasts.
    var isInOutage = false

    init(_ logger: Logger) { self.logger = logger }

    func info(_ text: String) { logger.info("\(text)") }

    func log(_ event: ChannelPipeline.Event) {
        switch event {
        case .periodBegan(let run, let sequence):
            let picture = run.video.map { "\($0.codec) \($0.width)x\($0.height) \($0.frameRate) fps" } ?? "no video"
            let sound = run.audioCodec ?? "no audio"
            logger.info("Run \(run.index) from upstream segment \(sequence): \(picture), \(sound)")
        case .programSelected(let programme, let rendition):
            logger.info("The \(rendition) rendition is \(programme.words)")
        case .skipped(let sequence, let why):
            logger.log(level: isInOutage ? .debug : .warning, "Segment \(sequence) is skipped: \(why)")
        case .timestampGap(let sequence, let missing):
            logger.warning(
                "\(missing.duration.secondsText) of the upstream's own time are missing in or before segment \(sequence)"
            )
        case .periodRejected(let error): logger.error("A programme is left out: \(error.words)")
        case .audioTranscodeFailed(let error): logger.error("Sound is replaced with silence: \(error.words)")
        case .publishFailed(let error) where error.isDiskError:
            logger.error("The spool takes nothing: \(error.words). Segments are left out until it does")
        case .publishFailed(let error): logger.error("A segment is not published: \(error.words)")
        case .publishResumed(let count): logger.warning("The spool takes segments again; \(count) were left out")
        case .journalDamaged(let lost):
            logger.warning(
                """
                The spool's journal is damaged: what it does not tell of any more is left out of the rewind, \(lost) segments \
                as gaps. It is kept as ring.m3u8.damaged
                """)
        case .subtitlePublishFailed(let error): logger.error("Subtitles are not published: \(error.words)")
        case .published(let sequence, let upstream, let duration):
            logger.debug("Segment \(sequence) of \(duration.duration.secondsText) from upstream segment \(upstream)")
        case .fillerBegan(.gap): logger.warning("The missing time is listed as gaps, until something comes")
        case .slateReloaded(let sound):
            let muted = sound == .copied ? "" : ", without its sound: \(sound.words)"
            logger.info("The slate changed on disk and is shown as it is now, from its beginning\(muted)")
        case .slateFailed(let error): logger.error("A piece of the slate is left out: \(error.message)")
        case .fillerBegan(.slate): logger.warning("The slate is published, until something comes")
        case .ended: logger.info("Every list has its ENDLIST")
        }
    }

    func log(_ event: UpstreamEvent) {
        switch event {
        case .variantSelected(let variant, let audio, let subtitles):
            let size = variant.resolution.map { " \($0.width)x\($0.height)" } ?? ""
            let sound = audio.map { ", audio rendition \($0.name)" } ?? ""
            let text = subtitles.isEmpty ? "" : ", subtitles \(subtitles.map(\.name).joined(separator: ", "))"
            logger.info("Takes the variant of \(variant.bandwidth) bit/s\(size)\(sound)\(text)")
        case .joined(let joined):
            let kind = joined.isVOD ? "a finished playlist" : "a live playlist"
            logger.info(
                "Joins \(kind) (\(joined.rendition.words)) at segment \(joined.mediaSequence), target \(joined.targetDuration.secondsText)"
            )
        case .stalled(let role, let step, let silence):
            logger.warning("The \(role.words) playlist has been silent for \(silence.secondsText): \(step.words)")
        case .resumed(let role, let silence):
            logger.info("The \(role.words) playlist goes on after \(silence.secondsText)")
        case .mediaStalled(let step, let silence, let why):
            logger.warning("Nothing could be published for \(silence.secondsText), \(why.words): \(step.words)")
        case .mediaResumed(let silence):
            logger.info("The upstream's media are published again after \(silence.secondsText)")
        case .moved(let role, let url): logger.info("The \(role.words) playlist is now at \(url.redacted)")
        case .stalePlaylist(let role): logger.notice("The \(role.words) playlist went back and is not believed")
        case .reset(let role, let anchor):
            logger.warning("The \(role.words) playlist counts anew; found again by \(anchor)")
        case .lost(let role, let loss):
            logger.log(
                level: isInOutage ? .debug : .warning,
                "Lost \(role.words) segments \(loss.mediaSequences): \(loss.reason.words)")
        case .playlistFailed(_, let error), .multivariantReloadFailed(let error):
            logger.warning("\(RelayError(error).message)")
        case .fetchFailed(let request, let failed, let failures, let isLast):
            let next = isLast ? "given up" : "tried again"
            logger.log(
                level: isInOutage ? .debug : .notice,
                "Try \(failures) of \(request.url.redacted) failed (\(failed.words)), \(next)")
        case .hostLimited(let host, let status, let pause):
            logger.warning(
                "\(host) answers HTTP \(status): it is left alone for \(pause.secondsText), then asked one thing at a time"
            )
        case .hostLimitEnded(let host, let answers):
            logger.info("\(host) is asked as before; \(answers) answers of it wanted fewer requests")
        case .keyFetched(let url): logger.debug("Key \(url.redacted)")
        case .targetDurationChanged(let role, let old, let new):
            logger.notice("The \(role.words) playlist's target went from \(old.secondsText) to \(new.secondsText)")
        case .playlistEnded(let role): logger.info("The \(role.words) playlist has ended")
        case .playlistReopened(let role): logger.info("The \(role.words) playlist begins again")
        case .trialStarted(let source, let url):
            logger.info("Tries \(source == 0 ? "the upstream again" : "backup \(source)"): \(url.redacted)")
        case .sourceFailed(let source, let error):
            logger.warning("\(source.sourceName) is of no use: \(RelayError(error).message)")
        case .sourceEnded(let source): logger.warning("\(source.sourceName) has ended")
        case .sourceSwitched(let source, let url):
            logger.warning(
                "\(source == 0 ? "The channel's own upstream" : "Backup \(source)") is published now: \(url.redacted)")
        case .backup(let source, let event):
            var log = self
            log.logger[metadataKey: ConsoleLogHandler.source] = "\(source.sourceName)"
            log.log(event)
        }
    }
}

extension RenditionRole {
    fileprivate var words: String {
        switch self {
        case .main: "main"
        case .audio: "audio"
        case .subtitles(let index): "subtitle \(index + 1)"
        }
    }
}

extension StallEscalation.Step {
    fileprivate var words: String {
        switch self {
        case .late: "late"
        case .redundantVariant: "trying a redundant variant, if there is one"
        case .reloadMultivariant: "reading the master again"
        case .outage: "an outage; it is still tried"
        case .giveUp: "given up"
        }
    }
}

extension FetchFailure {
    fileprivate var words: String {
        switch self {
        case .refused(let status): "HTTP \(status)"
        case .unreachable(let reason, let address): reason.words + (address.map { " (\($0))" } ?? "")
        case .notMedia: "a page or a message, no media"
        case .truncated: "it ends in the middle"
        case .empty: "nothing in it"
        case .shortRange: "fewer bytes than the range"
        }
    }
}
