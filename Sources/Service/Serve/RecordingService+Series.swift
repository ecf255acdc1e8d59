import ChannelList
import Export
import Guide
import Observability
import Record
import Support
import Synchronization

extension RecordingService {
    /// Plans the next recording of each series whose newest one begins. A series whose next program no guide names yet is
    /// looked up again later.
    func continueSeries() async {
        let now = clock.now()
        let begun = now.advanced(by: Self.lead)
        for recording in recordings where recording.repetition != nil && recording.startDate <= begun {
            // The node that runs the channel plans it.
            guard !isElsewhere(recording), let repetition = recording.repetition,
                let range = await nextRange(of: recording, repetition, at: now)
            else { continue }
            let planned = try? await changePlans { (schedule) -> RequestedRecording? in
                // Another call, or another node, may have planned it.
                guard schedule[recording.id]?.repetition == repetition,
                    let next = try? schedule.add(
                        channel: recording.channel, name: recording.name,
                        range: (range.lowerBound, range.upperBound), isKept: recording.isKept,
                        includesSlate: recording.includesSlate != false, ads: recording.ads, repetition: repetition,
                        at: now)
                else { return nil }
                schedule.update(recording.id) { $0.repetition = nil }
                return next
            }
            guard let added = planned ?? nil else { continue }
            state.withLock { launch(added.id, &$0) }
            await store()
            publish(
                .recordingPlan(recording: added.id, name: added.name, start: added.startDate, end: added.endDate),
                of: added)
        }
    }

    private func nextRange(
        of recording: RequestedRecording, _ repetition: RecordingRepetition, at now: ProgramDateTime
    ) async -> Range<ProgramDateTime>? {
        guard repetition.rule == .title else {
            return repetition.next(after: recording.startDate..<recording.endDate, at: now)
        }
        guard let guide = host.guide, let channel = host.directory[recording.channel] else { return nil }
        // The program that was recorded begins before its recording ends.
        let from = max(recording.endDate.advanced(by: .zero - repetition.after), now).millisecondsSince1970 / 1000
        let found = await MediaPool.recordings.perform {
            guide.listings(of: channel, from: from).first { $0.start >= from - 1 && $0.title == repetition.title }
        }
        return found.map { program in
            let start = ProgramDateTime(millisecondsSince1970: program.start * 1000)
            let end = ProgramDateTime(millisecondsSince1970: program.stop * 1000)
            return start.advanced(by: .zero - repetition.before)..<end.advanced(by: repetition.after)
        }
    }
}
