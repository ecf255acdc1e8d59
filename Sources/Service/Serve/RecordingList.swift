import Foundation
import Glibc
import Logging
import Record
import Support

/// The file of the requested recordings, beside them.
struct RecordingList: Sendable {
    let path: String

    init(of pattern: RecordingPattern) { path = pattern.root + "/.recordings.json" }

    /// Reads the list; an empty one if there is none. Unreadable recordings are left out, and the file is then set
    /// aside.
    func read(_ logger: Logger) throws(RecordingFile.Failure) -> RecordingSchedule {
        guard unsafe access(path, F_OK) == 0 else { return RecordingSchedule() }
        let file = URL(filePath: path)
        guard let bytes = try? Data(contentsOf: file),
            let schedule = try? JSONDecoder().decode(RecordingSchedule.self, from: bytes)
        else {
            DamagedFile.setAside(file, logger)
            return RecordingSchedule()
        }
        guard !schedule.isOfLaterFormat else { throw .laterFormat(path: path) }
        if schedule.droppedCount > 0 {
            DamagedFile.setAside(file, logger)
            logger.error("\(schedule.droppedCount) recordings of \(path) cannot be read and are left out")
            try? write(schedule)
        }
        return schedule
    }

    func write(_ schedule: RecordingSchedule) throws(RecordingFile.Failure) {
        guard let list = try? JSONEncoder().encode(schedule) else { return }
        try RecordingFile.replace(path, with: Array(list))
    }
}
