import Channel
import ChannelList
import Export
import Logging
import Observability
import Record
import Synchronization

extension RecordingService {
    /// Gives a recording its last form.
    /// - Parameter isEnded: whether a request ends the recording before its end.
    func finish(_ recording: RequestedRecording, _ writer: RecordingWriter?, isEnded: Bool) async {
        var writer = writer
        if writer == nil {
            let file = try? await MediaPool.recordings.perform { [self] () throws(RecordingFile.Failure) in
                try reopen(recording)
            }
            writer = (file ?? nil).map { RecordingWriter($0, from: 0) }
        }
        guard let file = writer?.file, file.journal.byteCount > 0 else {
            await MediaPool.recordings.perform { [file = writer?.file] in file?.remove() }
            return await finishEmpty(recording, isEnded: isEnded)
        }
        if !file.journal.isClosed {
            if !isEnded { try? await writer?.recordRemainder() }
            try? await MediaPool.recordings.perform { () throws(RecordingFile.Failure) in try file.close() }
        }
        apply(recording.id) { found in
            found.begin(base(String(file.mediaPath.dropLast(3))), file.journal)
            found.state = .finishing
        }
        // The list must be stored before the journal is removed.
        await store()
        publish(.recordingClose(file: file.mediaPath, recording: recording.id), of: recording)
        log(recording, "closed: \(file.mediaPath)")
        if let found = self[recording.id], found.isKept { try? await mark(found) }
        let retention = host.directory[recording.channel].map { RecordingRetention($0.options) }
        let (result, removed) = await RecordingFinisher.finish(file) { [self] in sweep(recording.channel, retention) }
        if case .failure? = result { await MediaPool.recordings.perform { file.forget() } }
        await record(result, of: recording)
        recordRemoval(removed)
    }

    /// Ends a recording without media, or one that an earlier process has finished.
    private func finishEmpty(_ recording: RequestedRecording, isEnded: Bool) async {
        if recording.state == .finishing, let base = recording.files.map({ path($0.base) }) {
            let (suffixes, _) = await MediaPool.recordings.perform { RecordingRetention.files(base) }
            guard let suffix = RecordingFileAddress.suffix(in: suffixes) else {
                return fail(recording, "Its files are gone.")
            }
            await record(.success((path: "\(base).\(suffix)", note: nil)), of: recording)
        } else if isEnded || isElsewhere(recording) {
            // Another node has what was recorded.
            change { $0.remove(recording.id) }
        } else {
            let last = self[recording.id]?.state
            let reason = if case .paused(let reason)? = last { reason } else { "Nothing of its time was published." }
            fail(recording, reason)
        }
    }

    private func fail(_ recording: RequestedRecording, _ reason: String) {
        update(recording.id) { $0.state = .failed(reason: reason) }
        publish(.recordingError(recording: recording.id, reason: reason), of: recording)
        log(recording, "failed: \(reason)", .error)
    }

    private func record(
        _ result: Result<(path: String, note: String?), RecordingFile.Failure>?, of recording: RequestedRecording
    ) async {
        switch result {
        case .success(let result)?:
            let base = String(result.path.prefix(upTo: result.path.lastIndex(of: ".") ?? result.path.endIndex))
            let (suffixes, byteCount) = await MediaPool.recordings.perform { RecordingRetention.files(base) }
            update(recording.id) { found in
                found.state = .done(note: result.note)
                found.files?.suffixes = suffixes
                found.files?.byteCount = byteCount
            }
            publish(.recordingEnd(file: result.path, recording: recording.id, note: result.note), of: recording)
            log(recording, "finished: \(result.path)")
            if let note = result.note { log(recording, "is kept as \(result.path): \(note)", .warning) }
        case .failure(let failure)?:
            update(recording.id) { $0.state = .done(note: failure.message) }
            log(recording, "is kept as it was written: \(failure.message)", .error)
        case nil: await finishEmpty(recording, isEnded: false)
        }
    }
}
