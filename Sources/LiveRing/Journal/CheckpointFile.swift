import Support

/// The older entries of a ring in the spool, as the blocks of `RingEntries`. A restart parses only the records of the journal
/// after them.
///
/// A chunk is added for a block whose records the journal has, so a kill leaves at most a chunk that is not whole. The file
/// says nothing that the journal does not say. It may be missing: its errors have no effect but the time of a restart.
struct CheckpointFile: Sendable {
    /// The number is that of the layout of bytes.
    private static let head = Array("LIVERELAY-CHECKPOINT 1\n".utf8)

    /// The blocks of a file that was read.
    struct Content {
        /// Consecutive blocks.
        var blocks: [EntryBlock] = []
        /// Whether another chunk can be added.
        var isWhole = false
    }

    private enum State {
        case absent
        /// The file has the blocks up to an index.
        case upTo(Int)
        /// The file could not be written, and is not tried again before the journal is written as a whole.
        case failed
    }
    private var state = State.absent

    /// - Parameter end: the index after the last entry in the file; nil if there is none, or if nothing can be added.
    init(upTo end: Int?) { state = end.map(State.upTo) ?? .absent }

    /// Adds the blocks of `entries` that the file does not have yet.
    mutating func append(_ entries: RingEntries, in spool: borrowing SpoolDirectory) {
        switch state {
        case .absent: rewrite(entries, in: spool)
        case .upTo(let end) where end < entries.blockEnd:
            do throws(RingError) {
                try spool.append(entries.blocks(from: end).flatMap(Self.chunk), to: SpoolName.checkpoint)
                state = .upTo(entries.blockEnd)
            } catch { fail(in: spool) }
        case .upTo, .failed: break
        }
    }

    /// Replaces the file by the blocks of `entries`, if there are any.
    mutating func rewrite(_ entries: RingEntries, in spool: borrowing SpoolDirectory) {
        let blocks = entries.blocks(from: entries.startIndex)
        guard !blocks.isEmpty else { return }
        do throws(RingError) {
            let parts = sequence(state: -1) { number -> [ArraySlice<UInt8>]? in
                number += 1
                if number == 0 { return [Self.head[...]] }
                return number <= blocks.count
                    ? [Self.chunk(blocks[blocks.index(blocks.startIndex, offsetBy: number - 1)])[...]] : nil
            }
            try spool.write(SpoolName.checkpoint, parts: parts, leaving: 0)
            state = .upTo(entries.blockEnd)
        } catch { fail(in: spool) }
    }

    /// Removes the file before the journal gets other records.
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

    /// Reads the chunks of a file up to the first that is not whole.
    static func read(_ bytes: [UInt8]) -> Content {
        var (content, position) = (Content(), head.count)
        guard bytes.starts(with: head) else { return content }
        while position + 8 <= bytes.count {
            let start = position + 8
            let count = Int(UInt32(littleEndianBytes: bytes[position..<position + 4]))
            guard count <= bytes.count - start,
                SpoolName.fingerprint(bytes[start..<start + count])
                    == UInt32(littleEndianBytes: bytes[position + 4..<start]),
                let block = EntryBlock(bytes: bytes[start..<start + count], reading: RingJournal.entries),
                content.blocks.last.map({ $0.mediaSequences.upperBound == block.mediaSequences.lowerBound }) ?? true
            else { break }
            content.blocks.append(block)
            position = start + count
        }
        content.isWhole = position == bytes.count
        return content
    }
}
