import Synchronization

/// The newest media files of a spool that has one reader, in memory: a stream that is read as it is made needs no disk.
///
/// Files that the reader has not used yet go to the spool when they take more than `byteLimit`. Used files are dropped.
package final class SpoolMemory: Sendable {
    /// A media file that is not in the spool.
    struct File: Sendable {
        let name: String
        /// The number of its segment.
        let mediaSequence: UInt64
        /// Its bytes in order: the header, and each sample.
        let chunks: [ArraySlice<UInt8>]
        let byteCount: Int

        init(_ name: String, of mediaSequence: UInt64, _ chunks: [ArraySlice<UInt8>]) {
            (self.name, self.mediaSequence, self.chunks) = (name, mediaSequence, chunks)
            byteCount = chunks.reduce(0) { $0 + $1.count }
        }
    }

    fileprivate struct State {
        var files: [String: File] = [:]
        /// The names of the files, oldest first. Removed files may still be named.
        var order: [String] = []
        var byteCount = 0
        /// The segments before this number are used.
        var used: UInt64 = 0
    }

    /// The most bytes of files: a minute of 8 Mbit/s.
    package static let byteLimit = 64 << 20
    /// The bytes of used files that stay. The ad after a segment may need a frame of it.
    private static let usedByteLimit = 4 << 20

    private let byteLimit: Int
    private let state = Mutex(State())

    package init(byteLimit: Int = SpoolMemory.byteLimit) { self.byteLimit = byteLimit }

    /// Tells that the reader needs no segment before this one.
    package func recordUse(before mediaSequence: UInt64) {
        state.withLock { state in
            state.used = max(state.used, mediaSequence)
            let used = state.order.prefix { state.files[$0].map { $0.mediaSequence < mediaSequence } ?? true }
            var bytes = used.reduce(0) { $0 + (state.files[$1]?.byteCount ?? 0) }
            var count = 0
            for name in used where bytes > Self.usedByteLimit {
                bytes -= state.remove(name)?.byteCount ?? 0
                count += 1
            }
            state.order.removeFirst(count)
        }
    }

    /// The oldest files that have to go to the spool, so that there is room for another one.
    func excess(for new: File) -> [File] {
        state.withLock { state in
            var (bytes, files): (Int, [File]) = (state.byteCount + new.byteCount, [])
            for name in state.order where bytes > byteLimit {
                guard let file = state.files[name] else { continue }
                bytes -= file.byteCount
                files.append(file)
            }
            return files
        }
    }

    func insert(_ file: File) {
        state.withLock { state in
            state.files[file.name] = file
            state.order.append(file.name)
            state.byteCount += file.byteCount
        }
    }

    /// - Returns: whether the file was in memory.
    @discardableResult
    func remove(_ name: String) -> Bool {
        state.withLock { state in
            defer { if state.order.first == name { state.order.removeFirst() } }
            return state.remove(name) != nil
        }
    }

    subscript(name: String) -> File? { state.withLock { $0.files[name] } }

    var names: [String] { state.withLock { Array($0.files.keys) } }

    /// The bytes of files that are in memory.
    var byteCount: Int { state.withLock { $0.byteCount } }
}

extension SpoolMemory.State {
    fileprivate mutating func remove(_ name: String) -> SpoolMemory.File? {
        guard let file = files.removeValue(forKey: name) else { return nil }
        byteCount -= file.byteCount
        return file
    }
}

extension SpoolMemory.File {
    /// The bytes of a range; fewer if the file ends early.
    func bytes(in range: Range<Int>) -> [UInt8] {
        var (bytes, position): ([UInt8], Int) = ([], 0)
        for chunk in chunks {
            let part = range.clamped(to: position..<position + chunk.count)
            if !part.isEmpty {
                let start = chunk.startIndex - position
                bytes += chunk[start + part.lowerBound..<start + part.upperBound]
            }
            position += chunk.count
        }
        return bytes
    }
}
