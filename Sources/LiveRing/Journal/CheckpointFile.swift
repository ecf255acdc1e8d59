import Support

/// The older entries of a ring in the spool, as the blocks of `RingEntries`. A restart parses only the records of the
/// journal after them.
///
/// A chunk is added only for a block whose records are in the journal, so a kill leaves at most one incomplete chunk.
/// The file contains nothing that the journal does not contain, and may be missing: its errors only make a restart
/// slower.
struct CheckpointFile: Sendable {
    /// The number is the version of the byte layout of this file and of transport streams.
    private static let head = Array("LIVERELAY-CHECKPOINT 2\n".utf8)

    /// The blocks of a file that was read.
    struct Content {
        /// Consecutive blocks.
        var blocks: [EntryBlock] = []
        /// Whether another chunk can be added.
        var isWhole = false
    }

    private enum State {
        case absent
        /// The file contains the blocks up to an index.
        case upTo(Int)
        /// The file could not be written. The next attempt comes when the journal is rewritten as a whole.
        case failed
    }
    private var state = State.absent

    /// - Parameter end: the index after the last entry in the file; nil if the file does not exist or nothing can be
    ///   added.
    init(upTo end: Int?) { state = end.map(State.upTo) ?? .absent }

    private static let blocksPerPart = 64

    /// Adds some of the blocks of `entries` that the file does not contain yet.
    mutating func append(_ entries: RingEntries, in spool: borrowing SpoolDirectory) {
        do throws(RingError) {
            switch state {
            case .absent:
                guard let end = try Self.writePart(entries, from: nil, to: entries.blockEnd, in: spool) else { return }
                finishPart(upTo: end, in: spool)
            case .upTo(let end) where end < entries.blockEnd:
                let chunks = Self.chunks(entries, from: end, to: entries.blockEnd)
                try spool.append(chunks.flatMap(\.self), to: SpoolName.checkpoint)
                state = .upTo(end + chunks.count * EntryBlock.size)
            case .upTo, .failed: break
            }
        } catch { fail(in: spool) }
    }

    /// Writes the next blocks of a file that is to replace this one.
    /// - Parameters:
    ///   - start: the index after the blocks that were written; nil at the beginning of the file.
    ///   - end: only blocks that end at or before this index are written.
    /// - Returns: the index after the written blocks; nil if none are written so far.
    static func writePart(
        _ entries: RingEntries, from start: Int?, to end: Int, in spool: borrowing SpoolDirectory
    ) throws(RingError) -> Int? {
        let first = start ?? entries.blockStart
        let chunks = chunks(entries, from: first, to: end)
        guard !chunks.isEmpty else { return start }
        try spool.writePart(
            of: SpoolName.checkpoint, (start == nil ? [head] : []).map { $0[...] } + chunks, isFirst: start == nil)
        return first + chunks.count * EntryBlock.size
    }

    /// Replaces this file by the file that was written in parts.
    mutating func finishPart(upTo end: Int, in spool: borrowing SpoolDirectory) {
        do throws(RingError) {
            try spool.finishPart(of: SpoolName.checkpoint)
            state = .upTo(end)
        } catch { fail(in: spool) }
    }

    private static func chunks(_ entries: RingEntries, from start: Int, to end: Int) -> [ArraySlice<UInt8>] {
        let count = max(0, min(end, entries.blockEnd) - start) / EntryBlock.size
        return entries.blocks(from: start).prefix(min(count, blocksPerPart)).map { chunk($0)[...] }
    }

    /// Removes the file, before the journal is rewritten with other records.
    mutating func remove(in spool: borrowing SpoolDirectory) {
        state = .absent
        try? spool.remove(SpoolName.checkpoint)
    }

    private mutating func fail(in spool: borrowing SpoolDirectory) {
        remove(in: spool)
        state = .failed
    }

    /// The size and the fingerprint of a block, and the block.
    private static func chunk(_ block: EntryBlock) -> [UInt8] {
        let bytes = block.bytes(writing: RingJournal.record)
        return UInt32(bytes.count).littleEndianBytes + SpoolName.fingerprint(bytes).littleEndianBytes + bytes
    }

    /// Reads the chunks of a file up to the first incomplete one. Only one chunk is in memory at a time.
    static func read(_ file: borrowing FileDescriptor) throws(RingError) -> Content {
        var (content, position) = (Content(), head.count)
        let byteCount = try file.byteCount()
        guard try file.bytes(in: 0..<position) == head else { return content }
        while position + 8 <= byteCount {
            let start = position + 8
            let numbers = try file.bytes(in: position..<start)
            guard numbers.count == 8 else { break }
            let count = Int(UInt32(littleEndianBytes: numbers[..<4]))
            guard count <= byteCount - start else { break }
            let bytes = try file.bytes(in: start..<start + count)
            guard SpoolName.fingerprint(bytes) == UInt32(littleEndianBytes: numbers[4...]),
                let block = EntryBlock(
                    bytes: bytes[...], after: content.blocks.last, reading: RingJournal.entries),
                content.blocks.last.map({ $0.mediaSequences.upperBound == block.mediaSequences.lowerBound }) ?? true
            else { break }
            content.blocks.append(block)
            position = start + count
        }
        content.isWhole = position == byteCount
        return content
    }
}
