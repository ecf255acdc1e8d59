import Logging
import Observability
import Record

extension ChannelRecorder.Event {
    /// Logs the change, and publishes its event.
    func report(to logger: Logger, _ events: RunEvents?) {
        if let content { events?.publish(content) }
        switch self {
        case .notSplit: logger.warning("Recordings are not split: there is no guide")
        case .opened(let path, let isNew): logger.info("Recording \(isNew ? "started" : "resumed"): \(path)")
        case .paused(_, let reason): logger.error("Recording paused, the channel continues: \(reason)")
        case .resumed: logger.info("Recording continues")
        case .closed(let path): logger.info("Recording closed: \(path)")
        case .finished(let path, let note):
            logger.info("Recording finished: \(path)")
            if let note { logger.warning("Recording kept as \(path): \(note)") }
        case .kept(let path, let reason): logger.error("Recording kept as \(path): \(reason)")
        case .removed(let path): logger.info("Recording removed: \(path)")
        }
    }

    private var content: EventContent? {
        switch self {
        case .opened(let path, let isNew): isNew ? .recordingStart(file: path) : .recordingResume(file: path)
        case .paused(let path, let reason): .recordingPause(file: path, reason: reason)
        case .resumed(let path): .recordingResume(file: path)
        case .closed(let path): .recordingClose(file: path)
        case .finished(let path, let note): .recordingEnd(file: path, note: note)
        case .notSplit, .kept, .removed: nil
        }
    }
}
