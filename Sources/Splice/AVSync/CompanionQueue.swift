import Demux
import Media

/// Queues the companion rendition's segments that were not read yet, in playlist order.
///
/// `VideoSpanQueue` reads one entry at a time, only when a video span needs audio that was not read. So the audio of a
/// video span depends on the content of both renditions, never on which of them was fetched first.
struct CompanionQueue: Sendable {
    enum Entry: Sendable {
        case segment(RenditionDemuxer.Demuxed, discontinuitySequence: UInt64)
        /// Frames that the demuxer still held at the end of the rendition.
        case ended([AudioPacket])
    }

    /// Longest queue in audio frames: two minutes of the shortest frames.
    static let longestQueue = 120 * 96_000 / 1024

    private let byteLimit: Int
    private var entries = Queue<Entry>()
    private var frames = 0
    private var bytes = 0
    /// Counts of frames and timed metadata items discarded because no video span requested them: within two minutes, or before
    /// the video ended.
    private(set) var counts = SpliceCounts()

    /// - Parameter byteLimit: bytes of the frames, beyond which the oldest segments are discarded.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        frames += entry.audio.count
        bytes += entry.byteCount
        while frames > Self.longestQueue || bytes > byteLimit, entries.count > 1 { discardFirst() }
    }

    mutating func popFirst() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        frames -= entry.audio.count
        bytes -= entry.byteCount
        return entry
    }

    mutating func discardAll() {
        while !entries.isEmpty { discardFirst() }
    }

    /// Discards the first entry; the next one then follows a loss.
    private mutating func discardFirst() {
        counts[.unmatchedAudioFrames] += entries.first?.audio.count ?? 0
        if case .segment(let demuxed, _)? = entries.first {
            counts[.discardedTimedMetadata] += demuxed.packets.metadata.count
        }
        _ = popFirst()
        guard case .segment(var demuxed, let number)? = entries.first else { return }
        demuxed.boundary = .loss
        entries.replaceFirst(with: .segment(demuxed, discontinuitySequence: number))
    }
}

extension CompanionQueue.Entry {
    fileprivate var audio: [AudioPacket] {
        switch self {
        case .segment(let demuxed, _): demuxed.flushed.audio + demuxed.packets.audio
        case .ended(let remaining): remaining
        }
    }

    fileprivate var byteCount: Int { audio.reduce(0) { $0 + $1.payload.count } }
}

/// A queue whose first element is removed in constant time, and released at once.
struct Queue<Element> {
    /// The removed elements are nil; `head` is the index of the first one that is queued.
    private var storage: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }
    var first: Element? { isEmpty ? nil : storage[head] }
    var elements: some Sequence<Element> { storage[head...].lazy.compactMap(\.self) }

    mutating func append(_ element: Element) { storage.append(element) }

    mutating func replaceFirst(with element: Element) { storage[head] = element }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = storage[head]
        storage[head] = nil
        head += 1
        if head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }
}

extension Queue: Sendable where Element: Sendable {}
