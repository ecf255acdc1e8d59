import ChannelTestSupport
import TestSupport
import Testing

@testable import Channel
@testable import LiveRing
@testable import Record
@testable import Support

/// Which recordings there may be, and what they take of a ring.
@Suite struct RecordingScheduleTests {
    /// No more than so many are listed that are over, and all that are open.
    @Test func listOfChannelsHasALimit() throws {
        let (list, pattern) = (ContinuousRecordings(), try RecordingPattern("rec/{channel}.ts"))
        for number in 0..<RecordingSchedule.mostOver + 5 {
            let start = ProgramDateTime(millisecondsSince1970: Int64(number))
            let plan = RecordingPlan(channel: "news", path: "rec/\(number)", format: .ts, start: start)
            var recording = ContinuousRecording(RecordingJournal(plan), in: pattern)
            if number > 1 { recording.state = .done(note: nil) }
            list.insert(recording)
        }
        let starts = list.recordings.map(\.start.millisecondsSince1970)
        #expect(starts.prefix(3) == [0, 1, 5] && starts.count == RecordingSchedule.mostOver + 2)
    }

    // MARK: - Values

    private static let now = ProgramDateTime(millisecondsSince1970: 1_767_268_800_000)

    private static func add(
        to schedule: inout RecordingSchedule, from start: Int64, to end: Int64
    ) -> RecordingSchedule.Refusal? {
        do throws(RecordingSchedule.Refusal) {
            _ = try schedule.add(
                channel: "news", name: "News",
                range: (now.advanced(byMilliseconds: start * 1000), now.advanced(byMilliseconds: end * 1000)),
                isKept: false, at: now)
            return nil
        } catch { return error }
    }

    @Test func scheduleHasLimits() {
        // A local week in which clocks are set back, with margins, is shorter.
        let week: Int64 = 8 * 86_400
        let rows: [(start: Int64, end: Int64, refusal: RecordingSchedule.Refusal?)] = [
            (0, 0, .length), (5, 4, .length), (-600, 169 * 3600 + 600, nil), (0, week, nil), (0, week + 1, .length),
            (-week, 0, nil),
            (365 * 86_400, 366 * 86_400, nil), (365 * 86_400, 366 * 86_400 + 1, .tooFar),
        ]
        for row in rows {
            var schedule = RecordingSchedule()
            #expect(Self.add(to: &schedule, from: row.start, to: row.end) == row.refusal, "\(row)")
        }
        var schedule = RecordingSchedule()
        for _ in 0..<RecordingSchedule.mostOpen { #expect(Self.add(to: &schedule, from: 100, to: 200) == nil) }
        #expect(Self.add(to: &schedule, from: 199, to: 300) == .concurrent(limit: RecordingSchedule.mostOpen))
        // The past is recorded now.
        #expect(Self.add(to: &schedule, from: -200, to: -100) == nil)
        var count = schedule.recordings.count
        while Self.add(to: &schedule, from: Int64(count) * 200, to: Int64(count) * 200 + 100) == nil { count += 1 }
        #expect(count == RecordingSchedule.mostPending)
        for recording in schedule.recordings { schedule.update(recording.id) { $0.state = .done(note: nil) } }
        #expect(Self.add(to: &schedule, from: 0, to: 1) == nil && schedule.recordings.last?.id == count + 1)
        let second = schedule.recordings[1]
        schedule.remove(second.id)
        schedule.restore(second)
        #expect(schedule.recordings[1] == second, "in its place")
        schedule.update(count + 1) { $0.state = .failed(reason: "") }
        #expect(schedule.recordings.count == RecordingSchedule.mostOver && schedule.recordings.first?.id == 2)
    }

    /// The segments that a recording takes of a ring, and the time that it misses, by the range that was asked for.
    @Test func cursorTakesTheRange() async throws {
        var channel = try SpooledChannel(of: .clean)
        let snapshot = try #require(try await channel.relay().snapshot)
        let entries = snapshot.index.listed.filter { !$0.isGap }
        let (first, last) = (try #require(entries.first), try #require(entries.last))
        let rows: [(when: String, start: Int64, end: ProgramDateTime, taken: Range<Int>, lost: Int64)] = [
            ("all", 0, last.programDateTimeEnd, 0..<entries.count, 0),
            ("from before the ring", -5000, last.programDateTime, 0..<entries.count - 1, 5000),
            ("into a segment", 1, entries[1].programDateTime.advanced(byMilliseconds: 1), 0..<2, 0),
            (
                "what is still to come", 0, last.programDateTimeEnd.advanced(byMilliseconds: 1000), 0..<entries.count,
                1000
            ),
            ("before the ring", -5000, first.programDateTime, 0..<0, 0),
        ]
        for row in rows {
            let plan = RecordingPlan(
                path: "x", format: .ts, start: first.programDateTime.advanced(byMilliseconds: row.start), end: row.end)
            var cursor = RecordingCursor(RecordingJournal(plan), split: .never, from: 0)
            var (taken, lost) = cursor.takeAll(of: snapshot)
            lost += cursor.loseRemainder()?.milliseconds ?? 0
            #expect(taken == entries[row.taken].map(\.mediaSequence), "\(row.when)")
            #expect(lost == row.lost, "\(row.when)")
        }
    }
}
