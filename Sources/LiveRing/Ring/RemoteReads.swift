package import Support
import Synchronization

/// Files of a ring that are not in its spool.
package protocol RemoteFiles: Sendable {
    /// The path of a copy on this machine, which is fetched if necessary.
    func path(of file: SpoolFile) async throws(RingError) -> String

    /// The header of a segment (`styp`, `moof` and the header of `mdat`), fetched without the other bytes.
    /// - Parameter byteCount: the expected size of the header. If the header is longer, this many bytes are returned.
    func beginning(of file: SpoolFile, byteCount: Int) async throws(RingError) -> [UInt8]

    /// A URL from which a client can fetch the file; nil if the client must get it from this server.
    func clientURL(of file: SpoolFile) async -> Secret?
}

/// The bytes of remote files that one piece of work has fetched, and the bytes that it still needs.
///
/// No thread waits for a store. Work that needs bytes not fetched yet fails, or continues without them, and is repeated
/// when they have been fetched.
final class RemoteReads: Sendable {
    private enum Need: Hashable, Sendable {
        case whole(SpoolFile)
        case beginning(SpoolFile, byteCount: Int)
    }

    private enum Found: Sendable {
        /// The path of a copy.
        case copy(String)
        case bytes([UInt8])
        case failure(RingError)
    }

    private struct State {
        var found: [Need: Found] = [:]
        var needs: Set<Need> = []
    }

    /// The most bytes that are fetched of a file without the rest of it.
    private static let longestBeginning = 64 << 10
    /// The most concurrent requests for one piece of work.
    static let width = 8

    private let state = Mutex(State())

    /// Records that a file is needed.
    func add(_ file: SpoolFile) { state.withLock { _ = $0.needs.insert(.whole(file)) } }

    func open(_ file: SpoolFile) throws(RingError) -> FileDescriptor {
        guard case .copy(let path)? = try found(.whole(file)) else { throw Self.missing(file) }
        do throws(RingError) { return try FileDescriptor(path) } catch {
            // The copy was removed to make room for others.
            state.withLock { state in
                state.found[.whole(file)] = nil
                state.needs.insert(.whole(file))
            }
            throw error
        }
    }

    /// The bytes of a range of a file. Of the beginning of a segment, only the header is returned.
    func bytes(of file: SpoolFile, in range: Range<Int>) throws(RingError) -> [UInt8] {
        let isBeginning =
            range.lowerBound == 0 && range.count <= Self.longestBeginning && range.count < file.byteCount
            && (SpoolName.mediaSequence(ofSegment: file.name) ?? SpoolName.trackFile(named: file.name)?.mediaSequence)
                != nil
        guard isBeginning, !isCopied(file) else { return try open(file).bytes(in: range) }
        guard case .bytes(let bytes)? = try found(.beginning(file, byteCount: range.count)) else {
            throw Self.missing(file)
        }
        return bytes
    }

    private func isCopied(_ file: SpoolFile) -> Bool { state.withLock { $0.found[.whole(file)] != nil } }

    private func found(_ need: Need) throws(RingError) -> Found? {
        let found = state.withLock { state in
            if state.found[need] == nil { state.needs.insert(need) }
            return state.found[need]
        }
        if case .failure(let error)? = found { throw error }
        return found
    }

    private static func missing(_ file: SpoolFile) -> RingError {
        .remote(name: file.name, message: "it is not fetched yet")
    }

    /// Fetches the needed bytes, several files at once.
    /// - Returns: false if nothing was needed, or the task is canceled.
    func fetch(from remote: any RemoteFiles) async -> Bool {
        var needs = Array(
            state.withLock { state in
                defer { state.needs = [] }
                return state.needs
            })
        guard !needs.isEmpty else { return false }
        await withTaskGroup(of: (Need, Found).self) { group in
            for _ in 0..<Self.width {
                if let need = needs.popLast() { group.addTask { (need, await Self.fetch(need, from: remote)) } }
            }
            while let (need, found) = await group.next() {
                state.withLock { $0.found[need] = found }
                if !Task.isCancelled, let next = needs.popLast() {
                    group.addTask { (next, await Self.fetch(next, from: remote)) }
                }
            }
        }
        return !Task.isCancelled
    }

    private static func fetch(_ need: Need, from remote: any RemoteFiles) async -> Found {
        do throws(RingError) {
            switch need {
            case .whole(let file): return .copy(try await remote.path(of: file))
            case .beginning(let file, let byteCount):
                return .bytes(try await remote.beginning(of: file, byteCount: byteCount))
            }
        } catch { return .failure(error) }
    }
}

extension RingSnapshot {
    /// How often work is repeated because it needs further bytes.
    private static let mostPasses = 12

    /// Performs work that reads files of the ring. No thread waits while remote files are fetched.
    /// - Parameters:
    ///   - perform: calls its argument on a thread for such work.
    ///   - work: reads the given snapshot; called several times if files are remote. If it continues without bytes that
    ///     it cannot read, it finds all the bytes that it needs in one pass.
    package func reading<Result: Sendable>(
        _ perform: @Sendable (@escaping @Sendable () -> Result) async -> Result,
        _ work: @escaping @Sendable (RingSnapshot) -> Result
    ) async -> Result {
        guard let remote else { return await perform { work(self) } }
        let reads = RemoteReads()
        let snapshot = with(reads)
        var result = await perform { work(snapshot) }
        for _ in 0..<Self.mostPasses {
            guard await reads.fetch(from: remote) else { break }
            result = await perform { work(snapshot) }
        }
        return result
    }

    /// The snapshot with copies of remote files, which can then be read.
    package func fetching(_ files: [SpoolFile]) async -> RingSnapshot {
        guard let remote else { return self }
        let reads = RemoteReads()
        for file in files where !isLocal(file) { reads.add(file) }
        _ = await reads.fetch(from: remote)
        return with(reads)
    }

    private func with(_ reads: RemoteReads) -> RingSnapshot {
        var snapshot = self
        snapshot.reads = reads
        return snapshot
    }
}
