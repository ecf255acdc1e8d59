import Demux
import Media
import Mux
import Transcode

/// What came of a companion rendition and was not read yet, in its playlist's order.
///
/// The merge reads it as a blocking queue: one entry at a time, and only when a picture asks for sound that was not read.
/// So what a picture gets depends on the content of both renditions and never on which of them was fetched first.
struct CompanionQueue: Sendable {
    enum Entry: Sendable {
        case segment(RenditionDemuxer.Demuxed, discontinuitySequence: UInt64)
        /// What the demuxer still held at the end of the rendition.
        case ended([AudioPacket])
    }

    /// Audio frames that wait for pictures that do not come: two minutes of the shortest.
    static let longestQueue = 120 * 96_000 / 1024

    private var entries: ArraySlice<Entry> = []
    private var frames = 0
    /// Frames that were given up because no picture had asked for them in two minutes.
    private(set) var discarded = 0
    /// The same of timed metadata.
    private(set) var metadataDiscarded = 0

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

    /// What follows lies behind a loss.
    private mutating func discardFirst() {
        discarded += entries.first?.frameCount ?? 0
        if case .segment(let demuxed, _)? = entries.first { metadataDiscarded += demuxed.packets.metadata.count }
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
        case .ended(let left): left.count
        }
    }
}
