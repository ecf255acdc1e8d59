import Foundation
import Glibc

/// The resources that the process uses, from `/proc/self`. nil: the system does not report the value.
package struct ProcessFigures: Equatable, Sendable {
    var residentBytes: UInt64?
    var virtualBytes: UInt64?
    var cpuSeconds: Double?
    /// Seconds since 1970.
    var startTime: Double?
    var threads: UInt64?
    var openDescriptors: UInt64?
    var maxDescriptors: UInt64?

    static var current: ProcessFigures {
        var figures = ProcessFigures()
        if let text = text("/proc/self/stat") { figures.parse(stat: text, boot: bootTime) }
        figures.openDescriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))
            .map { UInt64(max(0, $0.count - 1)) }
        var limit = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            figures.maxDescriptors = UInt64(limit.rlim_cur)
        }
        return figures
    }

    /// Reads proc(5) `/proc/self/stat`.
    /// - Parameter boot: when the machine was started, in seconds since 1970.
    mutating func parse(
        stat: String, boot: Double?, ticksPerSecond: Int = sysconf(Int32(_SC_CLK_TCK)),
        pageSize: Int = sysconf(Int32(_SC_PAGESIZE))
    ) {
        // The second field is the program's name in parentheses, which may hold anything.
        guard let end = stat.lastIndex(of: ")") else { return }
        let fields = stat[end...].split(separator: " ").dropFirst().map { UInt64($0) }
        func field(_ number: Int) -> UInt64? { number - 3 < fields.count ? fields[number - 3] : nil }
        let second = Double(max(1, ticksPerSecond))
        if let user = field(14), let system = field(15) { cpuSeconds = Double(user + system) / second }
        threads = field(20)
        if let boot, let ticks = field(22) { startTime = boot + Double(ticks) / second }
        virtualBytes = field(23)
        residentBytes = field(24).map { $0 * UInt64(max(0, pageSize)) }
    }

    /// Measured once, so that the start time of the process stays the same when the clock is set. `/proc/stat` contains
    /// it too, but is hidden from a service with `ProcSubset=pid`.
    private static let bootTime: Double? = {
        guard let now = seconds(CLOCK_REALTIME), let sinceBoot = seconds(CLOCK_BOOTTIME) else { return nil }
        return now - sinceBoot
    }()

    private static func seconds(_ clock: Int32) -> Double? {
        var time = timespec()
        guard unsafe clock_gettime(clockid_t(clock), &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func text(_ path: String) -> String? {
        guard let file = try? FileHandle(forReadingFrom: URL(filePath: path)) else { return nil }
        return (try? file.readToEnd()).map { String(decoding: $0, as: UTF8.self) }
    }
}
