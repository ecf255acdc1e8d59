import CFuzzer
import Foundation
import FuzzEntries

/// libFuzzer, with the entry that the environment names.
enum Fuzzing {
    static let entry = entryOfEnvironment()

    private static func entryOfEnvironment() -> FuzzEntry {
        let name = ProcessInfo.processInfo.environment["LIVERELAY_FUZZ"] ?? ""
        guard let entry = FuzzEntry.named(name) else { fail("LIVERELAY_FUZZ names no entry: \(name)") }
        return entry
    }

    /// - Returns: an exit status.
    static func run() -> Int32 {
        var count = CommandLine.argc
        var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        return unsafe LLVMFuzzerRunDriver(&count, &values) { bytes, count in
            Fuzzing.take(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
            return 0
        }
    }

    /// A promise that is not kept ends the process, as a trap would.
    private static func take(_ bytes: [UInt8]) {
        do { try entry.run(bytes) } catch { fatalError("\(entry.name): \(error)") }
    }
}
