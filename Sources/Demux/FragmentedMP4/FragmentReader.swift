import Media
import Support

/// Reads the samples of a segment's movie fragments (ISO/IEC 14496-12 §8.8).
///
/// The output is bounded by the segment: all samples together are no larger than the segment, even if boxes refer to
/// the same bytes repeatedly, and there is at most one sample per four bytes
/// and `DemuxLimits.samples` in all.
struct FragmentReader {
    private let bytes: [UInt8]
    private let defaults: [UInt32: SampleDefaults]
    /// The bodies of `mdat` boxes, in ascending order.
    private let media: [Range<Int>]
    private var remainingSamples: Int
    private var remainingBytes: Int
    private var position = 0

    init(_ bytes: [UInt8], boxes: [Box], defaults: [UInt32: SampleDefaults]) {
        self.bytes = bytes
        self.defaults = defaults
        var media = boxes.filter { $0.type == "mdat" }.map { $0.body.startIndex..<$0.body.endIndex }
        // The mdat that a truncated segment ends in is not among the boxes.
        let end = boxes.last?.body.endIndex ?? 0
        if end < bytes.count { media.append(end..<bytes.count) }
        self.media = media
        remainingSamples = min(bytes.count / 4 + 1, DemuxLimits.samples)
        remainingBytes = bytes.count
    }

    mutating func fragment(_ moof: Box) throws(MediaError) -> MovieFragment {
        let boxes = try moof.children()
        var header = BoxFields(try boxes.require("mfhd").body)
        try header.skip(4)
        let sequenceNumber = try header.u32()
        position = moof.start
        var tracks: [TrackFragment] = []
        for box in boxes where box.type == "traf" { tracks.append(try track(box, moof: moof.start)) }
        return MovieFragment(sequenceNumber: sequenceNumber, tracks: tracks)
    }

    private mutating func track(_ traf: Box, moof: Int) throws(MediaError) -> TrackFragment {
        try MediaError.checkCancellation()
        let boxes = try traf.children()
        StepCounter.add(boxes.count)
        let header = try TrackFragmentHeader(boxes, defaults)
        var base: Int?
        var samples: [TrackFragment.Sample] = []
        for box in boxes where box.type == "trun" {
            let run = try TrackRun(box, header.defaults, limit: remainingSamples)
            StepCounter.add(run.entries.count)
            remainingSamples -= run.entries.count
            let start = base ?? self.base(of: header, moof: moof, firstOffset: Int(run.dataOffset ?? 0))
            if base == nil { position = start }
            base = start
            if let offset = run.dataOffset { position = start + Int(offset) }
            for entry in run.entries { samples.append(try sample(entry)) }
        }
        return TrackFragment(header: header, samples: samples)
    }

    /// Returns the base of data offsets. A byte range of a growing file does not know its position in the file. Writers
    /// that claim to count from the file nearly always count from the moof, so that is tried first; an offset outside
    /// all media data is interpreted the other way.
    private func base(of header: TrackFragmentHeader, moof: Int, firstOffset: Int) -> Int {
        switch header.base {
        case .moof: return moof
        case .previousData: return position
        case .file(let offset):
            let asWritten = Int(clamping: min(offset, UInt64(bytes.count)))
            return !isInMedia(moof + firstOffset) && isInMedia(asWritten + firstOffset) ? asWritten : moof
        }
    }

    private func isInMedia(_ offset: Int) -> Bool {
        let next = media.partitioningIndex { $0.lowerBound > offset }
        return next > 0 && media[next - 1].contains(offset)
    }

    private mutating func sample(_ entry: TrackRun.Entry) throws(MediaError) -> TrackFragment.Sample {
        let start = min(max(position, 0), bytes.count)
        let end = min(max(position + Int(entry.size), start), bytes.count)
        position += Int(entry.size)
        remainingBytes -= end - start
        guard remainingBytes >= 0 else { throw MediaError(.truncated, offset: start, section: BoxReader.section) }
        return TrackFragment.Sample(
            duration: entry.duration, compositionOffset: entry.compositionOffset, flags: entry.flags,
            payload: bytes[start..<end], size: entry.size)
    }
}

/// One `trun`: the duration, size and composition offset of each sample (ISO/IEC 14496-12 §8.8.8).
struct TrackRun: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let duration: UInt32
        let size: UInt32
        let flags: UInt32
        /// Signed in version 0 too: writers use negative offsets there, whatever the standard says.
        let compositionOffset: Int32
    }

    /// The offset from the traf's base; nil for the end of the preceding track run.
    let dataOffset: Int32?
    let entries: [Entry]

    /// - Parameter limit: the largest number of samples that the segment can contain.
    init(_ trun: Box, _ defaults: SampleDefaults, limit: Int) throws(MediaError) {
        var fields = BoxFields(trun.body)
        let flags = try fields.versionAndFlags().flags
        let count = try fields.u32()
        // A larger count would only cost time, because the segment has no bytes for the samples.
        guard count <= limit else { throw fields.truncated }
        dataOffset = flags & 0x001 != 0 ? Int32(bitPattern: try fields.u32()) : nil
        var first = flags & 0x004 != 0 ? try fields.u32() : nil
        var entries: [Entry] = []
        for _ in 0..<count {
            entries.append(
                Entry(
                    duration: flags & 0x100 != 0 ? try fields.u32() : defaults.duration,
                    size: flags & 0x200 != 0 ? try fields.u32() : defaults.size,
                    flags: flags & 0x400 != 0 ? try fields.u32() : first ?? defaults.flags,
                    compositionOffset: flags & 0x800 != 0 ? Int32(bitPattern: try fields.u32()) : 0))
            first = nil
        }
        self.entries = entries
    }
}
