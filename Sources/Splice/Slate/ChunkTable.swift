import Demux
import Media
import Mux
import Transcode

/// Where the chunks of a track begin in the file, and how many samples are in each (ISO/IEC 14496-12 §8.7.4, §8.7.5).
struct ChunkTable: Equatable, Sendable {
    /// An entry of `stsc`.
    private struct SampleToChunkEntry: Equatable, Sendable {
        /// Counted from 1.
        let firstChunk: Int
        let samplesPerChunk: Int
        let descriptionIndex: UInt32
    }

    /// `stco` or `co64`.
    private let offsets: [UInt64]
    /// First chunks rise.
    private let entries: [SampleToChunkEntry]

    init(_ boxes: [Box]) throws(MediaError) {
        let isLong = boxes.first("stco") == nil && boxes.first("co64") != nil
        offsets = try boxes.column(isLong ? "co64" : "stco") { (fields) throws(MediaError) in
            var offsets: [UInt64] = []
            for _ in 0..<(try fields.u32()) { offsets.append(isLong ? try fields.u64() : UInt64(try fields.u32())) }
            return offsets
        }
        entries = try boxes.column("stsc") { (fields) throws(MediaError) in
            var runs: [SampleToChunkEntry] = []
            for _ in 0..<(try fields.u32()) {
                let run = SampleToChunkEntry(
                    firstChunk: Int(try fields.u32()), samplesPerChunk: Int(try fields.u32()),
                    descriptionIndex: try fields.u32())
                guard run.firstChunk > runs.last?.firstChunk ?? 0, run.samplesPerChunk > 0 else { return nil }
                runs.append(run)
            }
            return runs.isEmpty || runs[0].firstChunk == 1 ? runs : nil
        }
    }

    /// - Returns: offset in the file of each sample.
    /// - Throws: when the chunks do not hold as many, or a sample does not lie in the file.
    func sampleOffsets(of sizes: [UInt32], fileSize: UInt64) throws(MediaError) -> [UInt64] {
        var places: [UInt64] = []
        places.reserveCapacity(sizes.count)
        for (index, run) in entries.enumerated() where places.count < sizes.count {
            guard run.descriptionIndex == 1 else { throw .slate(.severalSampleEntries) }
            let end = index + 1 < entries.count ? entries[index + 1].firstChunk - 1 : offsets.count
            for chunk in offsets[min(run.firstChunk - 1, offsets.count)..<min(end, offsets.count)] {
                var place = chunk
                for size in sizes[places.count...].prefix(run.samplesPerChunk) {
                    guard place <= fileSize, UInt64(size) <= fileSize - place else { throw .slate(.samplesPastEnd) }
                    places.append(place)
                    place += UInt64(size)
                }
            }
        }
        guard places.count == sizes.count else { throw .slate(.badTable(box: "stsc")) }
        return places
    }
}
