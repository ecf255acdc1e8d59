import Foundation
import LiveRing

/// The resources that the process uses at one time.
struct SoakSample {
    /// Session time, seconds.
    var seconds = 0
    /// Resident memory, and its part without file mappings, kB.
    var resident = 0
    var anonymous = 0
    var descriptors = 0
    /// Files in the spool, and their total size in bytes.
    var files = 0
    var bytes = 0
    /// Listed entries of the ring.
    var entries = 0
    /// Elements and bytes in every collection of the channel's values, by path.
    var collections: [String: Int] = [:]

    init(_ spool: String, _ snapshot: RingSnapshot?, collections: [String: Int], at now: Duration) {
        seconds = now.milliseconds / 1000
        resident = Self.memory("VmRSS")
        anonymous = Self.memory("RssAnon")
        descriptors = Self.names(in: "/proc/self/fd").count
        let names = Self.names(in: spool)
        files = names.count
        bytes = names.reduce(0) { $0 + Self.size(of: "\(spool)/\($1)") }
        entries = snapshot?.index.listed.count ?? 0
        self.collections = collections
    }

    static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    static func size(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? Int) ?? 0
    }

    /// Reads a line `name:  1234 kB` of /proc/self/status.
    static func memory(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}

extension SoakSample {
    /// Counts the elements of every collection in `value`, by reflection so that none is missed. References are shared with
    /// others and not followed.
    static func collections(in value: Any, named name: String) -> [String: Int] {
        var sizes: [String: Int] = [:]
        measure(value, name, into: &sizes)
        return sizes
    }

    private static func measure(_ value: Any, _ path: String, into sizes: inout [String: Int]) {
        if let bytes = value as? [UInt8] {
            sizes["\(path), bytes", default: 0] += bytes.count
            return
        }
        if let bytes = value as? ArraySlice<UInt8> {
            sizes["\(path), bytes", default: 0] += bytes.count
            return
        }
        if value is String { return }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .class: return
        case .collection, .set, .dictionary:
            sizes[path, default: 0] += mirror.children.count
            for child in mirror.children { measure(child.value, path, into: &sizes) }
        default:
            for child in mirror.children {
                // Omit the names of an optional's payload and of tuple elements.
                let isNamed = child.label.map { $0 != "some" && !$0.hasPrefix(".") } ?? false
                measure(child.value, isNamed ? "\(path).\(child.label ?? "")" : path, into: &sizes)
            }
        }
    }
}
