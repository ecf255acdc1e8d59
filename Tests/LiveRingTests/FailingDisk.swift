import Synchronization

/// A disk that fails writes on request.
final class FailingDisk: Sendable {
    struct Fault: Sendable, Equatable {
        /// The prefix of the file names that fail.
        var file: String
        /// The part of the bytes that is written, in thousandths.
        var written: Int
        var code: Int32
    }

    private let fault = Mutex<Fault?>(nil)

    func fail(_ fault: Fault?) { self.fault.withLock { $0 = fault } }

    func answer(_ name: String, _ byteCount: Int) -> (written: Int, code: Int32)? {
        fault.withLock { $0 }.flatMap { name.hasPrefix($0.file) ? (byteCount * $0.written / 1000, $0.code) : nil }
    }
}
