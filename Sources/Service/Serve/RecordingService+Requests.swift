import Channel
import ChannelList
import Export
import Fleet
import LiveRing
import Observability
import Record
import Support
import Synchronization

extension RecordingService {
    enum Problem: Error, Equatable, Sendable {
        case unknownChannel(String)
        case refused(RecordingSchedule.Refusal)
        /// The rewind contains no media of a past range. The dates are those that the rewind contains.
        case notInRewind(Range<ProgramDateTime>?)
        /// The list cannot be stored.
        case storage(RecordingFile.Failure)
        /// The recording is being given its last form.
        case finishing
        /// The channel is recorded continuously.
        case continuous
        /// The recordings of the fleet could not be changed.
        case fleet(SharedTexts.Failure)
    }

    /// - Parameters:
    ///   - name: the name for people; nil: the channel's name.
    func add(
        channel slug: String, name: String?, range: (start: ProgramDateTime, end: ProgramDateTime), isKept: Bool,
        includesSlate: Bool = true, ads: RecordingAds? = nil, repetition: RecordingRepetition? = nil
    ) async throws(Problem) -> RequestedRecording {
        guard let channel = host.directory[slug] else { throw .unknownChannel(slug) }
        do throws(RecordingFile.Failure) {
            try await MediaPool.recordings.perform { [self] () throws(RecordingFile.Failure) in
                try RecordingFile.check(directory: pattern.root, on: fileSystem)
            }
        } catch {
            // A full disk may have room later.
            if error != .full { throw .storage(error) }
        }
        let now = clock.now()
        if range.end <= now {
            let dates = host.running(slug)?.state.snapshot?.dates
            guard let dates, dates.first < range.end, range.start < dates.end else {
                throw .notInRewind(dates.map { $0.first..<max($0.first, $0.end) })
            }
        }
        let recording = try await changePlans { (schedule) throws(RecordingSchedule.Refusal) in
            try schedule.add(
                channel: slug, name: name ?? channel.name, range: range, isKept: isKept,
                includesSlate: includesSlate, ads: ads, repetition: repetition, at: now)
        }
        do throws(RecordingFile.Failure) { try await save() } catch {
            state.withLock { $0.schedule.remove(recording.id) }
            _ = try? await withdraw(recording.id)
            throw .storage(error)
        }
        bus.publish(
            .recordingPlan(
                recording: recording.id, name: recording.name, start: recording.startDate, end: recording.endDate),
            channel: slug)
        state.withLock { launch(recording.id, &$0) }
        return recording
    }

    /// Ends a recording, or forgets one that has finished or has not begun.
    /// - Parameter removesFiles: whether the files of a finished recording are removed.
    /// - Returns: false if the recording does not exist.
    func remove(_ id: Int, removesFiles: Bool) async throws(Problem) -> Bool {
        guard let recording = self[id] else { return false }
        // It ends here as at all nodes.
        if try await withdraw(id), !recording.isOver { return true }
        if recording.state == .finishing { throw .finishing }
        let removal = Removal(of: id, in: pattern)
        if recording.isOver {
            let files = removesFiles ? recording.files.map { path($0.base) } : nil
            // Removing files comes first, because the list cannot be stored on a full disk.
            await MediaPool.recordings.perform { [journal = journalPath(recording)] in
                RecordingFile.forget(journal)
                if let files { removal.perform(files) }
            }
        }
        state.withLock { state in
            if recording.isOver {
                state.schedule.remove(id)
            } else {
                state.schedule.update(id) { $0.end(at: clock.now()) }
            }
        }
        do throws(RecordingFile.Failure) { try await save() } catch {
            state.withLock { $0.schedule.restore(recording) }
            throw .storage(error)
        }
        removal.end()
        // A recording that is about to be launched has no task yet, and ends by itself.
        if !recording.isOver, let task = state.withLock({ $0.tasks[id] }) {
            task.cancel()
            if recording.files == nil { await task.value }
        }
        return true
    }

    /// Marks a recording as kept, so that retention never removes it, or removes the mark.
    func keep(_ id: Int, _ isKept: Bool) async throws(Problem) -> RequestedRecording? {
        try await share(id) { $0.isKept = isKept }
        guard let known = self[id] else { return nil }
        apply(id) { $0.isKept = isKept }
        do throws(RecordingFile.Failure) {
            if let recording = self[id] { try await mark(recording) }
            try await save()
        } catch {
            apply(id) { $0.isKept = known.isKept }
            try? await mark(known)
            throw .storage(error)
        }
        return self[id]
    }

    /// Writes the mark beside the files, or removes it.
    func mark(_ recording: RequestedRecording) async throws(RecordingFile.Failure) {
        guard let base = recording.files?.base else { return }
        try await MediaPool.recordings.perform { [path = path(base)] () throws(RecordingFile.Failure) in
            try RecordingRetention.mark(path, isKept: recording.isKept)
        }
    }
}
