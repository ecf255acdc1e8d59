import Media
import Metering

/// Writes the sample groups of random access points that are not sync samples (ISO/IEC 14496-12 §8.9, §10.1, §10.4).
struct SampleGroupWriter {
    /// A run of samples in one group; group 0 is none.
    private struct Run {
        var count: UInt32
        let group: UInt32
    }

    private let samples: [MuxSample]
    /// Indices of group descriptions in a fragment begin here (§8.9.4).
    private static let firstLocalGroup: UInt32 = 0x1_0001

    init(_ samples: [MuxSample]) { self.samples = samples }

    func write(to traf: inout BoxWriter) {
        guard samples.contains(where: { $0.randomAccess != nil && !$0.isSync }) else { return }
        let isOpen = samples.map { $0.randomAccess?.streamAccessPointType == 3 }
        if isOpen.contains(true) {
            // VisualRandomAccessEntry: the number of leading samples is not known.
            writeGroup("rap ", entries: [[0]], of: isOpen.map { $0 ? 0 : nil }, to: &traf)
        }
        let distances = samples.map(\.rollDistance)
        let entries = Array(Set(distances.compactMap(\.self))).sorted()
        guard !entries.isEmpty else { return }
        let numbers = Dictionary(uniqueKeysWithValues: zip(entries, entries.indices))
        StepCounter.add(samples.count + entries.count)
        let bytes = entries.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        writeGroup("roll", entries: bytes, of: distances.map { $0.flatMap { numbers[$0] } }, to: &traf)
    }

    /// - Parameter members: the entry of each sample; nil if it belongs to none.
    private func writeGroup(
        _ type: BoxType, entries: [[UInt8]], of members: [Int?], to traf: inout BoxWriter
    ) {
        traf.fullBox("sgpd", version: 1) { box in
            box.type(type)
            box.u32(UInt32(entries[0].count))
            box.u32(UInt32(entries.count))
            for entry in entries { box.append(entry) }
        }
        var runs: [Run] = []
        for member in members {
            let group = member.map { Self.firstLocalGroup + UInt32($0) } ?? 0
            if let last = runs.last, last.group == group {
                runs[runs.count - 1].count += 1
            } else {
                runs.append(Run(count: 1, group: group))
            }
        }
        traf.fullBox("sbgp") { box in
            box.type(type)
            box.u32(UInt32(runs.count))
            for run in runs {
                box.u32(run.count)
                box.u32(run.group)
            }
        }
    }
}

extension MuxSample {
    /// roll_distance: the number of samples after this one at which output is correct.
    fileprivate var rollDistance: Int16? {
        guard case .gradualRefresh(let frames)? = randomAccess else { return nil }
        return Int16(clamping: frames)
    }
}
