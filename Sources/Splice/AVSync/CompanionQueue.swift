import Demux
import Media
import Mux
import Transcode

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

    private var entries: ArraySlice<Entry> = []
    private var frames = 0
    /// Counts of frames and timed metadata items discarded because no video span requested them: within two minutes, or before
    /// the video ended.
    private(set) var counts = SpliceCounts()

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        frames += entry.frameCount
        while frames > Self.longestQueue, entries.count > 1 { discardFirst() }
    }

    mutating func popFirst() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        frames -= entry.frameCount
        return entry
    }

    /// Discards all entries: no video follows.
    mutating func discardAll() {
        while !entries.isEmpty { discardFirst() }
    }

    /// Discards the first entry; the next one then follows a loss.
    private mutating func discardFirst() {
        counts.audioDiscarded += entries.first?.frameCount ?? 0
        if case .segment(let demuxed, _)? = entries.first {
            counts.metadataDiscarded += demuxed.packets.metadata.count
        }
        _ = popFirst()
        guard case .segment(var demuxed, let number)? = entries.first else { return }
        demuxed.boundary = .loss
        entries[entries.startIndex] = .segment(demuxed, discontinuitySequence: number)
    }
}

extension CompanionQueue.Entry {
    fileprivate var frameCount: Int {
        switch self {
        case .segment(let demuxed, _): demuxed.flushed.audio.count + demuxed.packets.audio.count
        case .ended(let remaining): remaining.count
        }
    }
}
