import Channel
import Dispatch
import LiveRing

/// The threads that wait for the disks of recordings, for the whole process: one appends segments, the other finishes
/// recordings, so that appending never waits for finishing.
enum RecordingThread {
    private static let appending = DispatchQueue(label: "liverelay.recordings")
    private static let finishing = DispatchQueue(label: "liverelay.recordings.finish", qos: .utility)

    static func perform<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            appending.async { continuation.resume(returning: Result { () throws(Failure) in try work() }) }
        }
        return try result.get()
    }

    /// Performs work that may take long on the second thread, after other such work.
    static func performLater<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in finishing.async { continuation.resume(returning: work()) } }
    }

    /// Gives a recording its last form, and then removes expired recordings.
    /// - Parameter sweep: returns the paths of the removed recordings.
    /// - Returns: no result if nothing was recorded.
    static func finish(
        _ file: RecordingFile, sweep: @escaping @Sendable () -> [String]
    ) async -> (result: Result<(path: String, note: String?), RecordingFile.Failure>?, removed: [String]) {
        await withCheckedContinuation { continuation in
            finishing.async {
                guard let finisher = RecordingFinisher(file) else {
                    file.remove()
                    return continuation.resume(returning: (nil, []))
                }
                let result = Result { () throws(RecordingFile.Failure) in
                    if !file.journal.isClosed { try file.record([.closed]) }
                    return try finisher.finish()
                }
                continuation.resume(returning: (result, sweep()))
            }
        }
    }
}
