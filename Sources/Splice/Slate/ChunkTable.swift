import Demux
import Media
import Mux
import Transcode

/// File offsets and sample counts of a track's chunks (ISO/IEC 14496-12 §8.7.4, §8.7.5).
struct ChunkTable: Equatable, Sendable {
    /// Entry of `stsc`.
    private struct SampleToChunkEntry: Equatable, Sendable {
        /// Chunk number, from 1.
        let firstChunk: Int
        let samplesPerChunk: Int
        let descriptionIndex: UInt32
    }

    /// Chunk offsets from `stco` or `co64`.
    private let offsets: [UInt64]
    /// Entries of `stsc`, in increasing order of `firstChunk`.
    private let entries: [SampleToChunkEntry]

    init(_ boxes: [Box]) throws(MediaError) {
        let isLong = boxes.first("stco") == nil && boxes.first("co64") != nil
        offsets = try boxes.column(isLong ? "co64" : "stco") { (fields) throws(MediaError) in
            var offsets: [UInt64] = []
            for _ in 0..<(try fields.u32()) { offsets.append(isLong ? try fields.u64() : UInt64(try fields.u32())) }
            return offsets
        }
        entries = try boxes.column("stsc") { (fields) throws(MediaError) in
            var entries: [SampleToChunkEntry] = []
            for _ in 0..<(try fields.u32()) {
                let entry = SampleToChunkEntry(
                    firstChunk: Int(try fields.u32()), samplesPerChunk: Int(try fields.u32()),
                    descriptionIndex: try fields.u32())
                guard entry.firstChunk > entries.last?.firstChunk ?? 0, entry.samplesPerChunk > 0 else { return nil }
                entries.append(entry)
            }
            return entries.isEmpty || entries[0].firstChunk == 1 ? entries : nil
        }
    }

    /// Returns the file offset of each sample.
    /// - Throws: if the chunks hold fewer samples, or a sample is outside the file.
    func sampleOffsets(of sizes: [UInt32], fileSize: UInt64) throws(MediaError) -> [UInt64] {
        var sampleOffsets: [UInt64] = []
        sampleOffsets.reserveCapacity(sizes.count)
        for (index, entry) in entries.enumerated() where sampleOffsets.count < sizes.count {
            guard entry.descriptionIndex == 1 else { throw .slate(.severalSampleEntries) }
            let end = index + 1 < entries.count ? entries[index + 1].firstChunk - 1 : offsets.count
            for chunkOffset in offsets[min(entry.firstChunk - 1, offsets.count)..<min(end, offsets.count)] {
                var offset = chunkOffset
                for size in sizes[sampleOffsets.count...].prefix(entry.samplesPerChunk) {
                    guard offset <= fileSize, UInt64(size) <= fileSize - offset else { throw .slate(.samplesPastEnd) }
                    sampleOffsets.append(offset)
                    offset += UInt64(size)
                }
            }
        }
        guard sampleOffsets.count == sizes.count else { throw .slate(.badTable(box: "stsc")) }
        return sampleOffsets
    }
}
