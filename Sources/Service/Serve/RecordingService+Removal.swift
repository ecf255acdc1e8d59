import Channel
import Foundation
import Glibc
import Record
import Support

extension RecordingService {
    /// The removal of a recording's files, which a mark beside the list survives until the list is stored without it.
    ///
    /// Files cannot be removed in one step with the entry of the list. If the process ends in between, the mark tells the next
    /// one to end the removal. The mark is an empty file, for which a full disk has room.
    struct Removal: Sendable {
        private static let suffix = ".removed"

        private let mark: String

        init(of id: Int, in pattern: RecordingPattern) {
            mark = "\(pattern.root)/.api-\(id)\(Self.suffix)"
        }

        var hasBegun: Bool { unsafe access(mark, F_OK) == 0 }

        /// - Parameter files: the path of the files without a suffix.
        func perform(_ files: String) {
            _ = try? Descriptor(mark, O_WRONLY | O_CREAT)
            RecordingRetention.remove(files)
        }

        func end() { _ = unsafe unlink(mark) }

        /// Removes marks whose recordings have left the list.
        static func endAll(in pattern: RecordingPattern) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: pattern.root)) ?? []
            for name in names where name.hasPrefix(".api-") && name.hasSuffix(suffix) {
                _ = unsafe unlink("\(pattern.root)/\(name)")
            }
        }
    }

    /// Ends removals during which an earlier process ended. The marks stay if the list cannot be stored.
    static func finishRemovals(
        in schedule: inout RecordingSchedule, _ pattern: RecordingPattern, _ list: RecordingList
    ) {
        let removed = schedule.recordings.filter { $0.isOver && Removal(of: $0.id, in: pattern).hasBegun }
        for recording in removed {
            if let files = recording.files { RecordingRetention.remove(pattern.path(ofBase: files.base)) }
            schedule.remove(recording.id)
        }
        if !removed.isEmpty {
            do throws(RecordingFile.Failure) { try list.write(schedule) } catch { return }
        }
        Removal.endAll(in: pattern)
    }
}
