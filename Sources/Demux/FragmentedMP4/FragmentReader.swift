import Media

/// Finds the samples of a segment's movie fragments (ISO/IEC 14496-12 §8.8).
///
/// No fragment makes more of a segment than is in it: all samples together are no larger than it, however often boxes
/// point to the same bytes, and not more than one for every four of them.
struct FragmentReader {
    private let bytes: [UInt8]
    /// `trex` by track ID.
    private let defaults: [UInt32: SampleDefaults]
    private let media: [Range<Int>]
    private var samplesLeft: Int
    private var bytesLeft: Int
    /// Behind the sample read last.
    private var position = 0

    /// - Parameter boxes: the top-level boxes of `bytes`.
    init(_ bytes: [UInt8], boxes: [Box], defaults: [UInt32: SampleDefaults]) {
        self.bytes = bytes
        self.defaults = defaults
        var media = boxes.filter { $0.type == "mdat" }.map { $0.body.startIndex..<$0.body.endIndex }
        // The mdat that a cut segment ends in is not among the boxes.
        let end = boxes.last?.body.endIndex ?? 0
        if end < bytes.count { media.append(end..<bytes.count) }
        self.media = media
        samplesLeft = bytes.count / 4 + 1
        bytesLeft = bytes.count
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
        let boxes = try traf.children()
        let header = try TrackFragmentHeader(boxes, defaults)
        var base: Int?
        var samples: [TrackFragment.Sample] = []
        for box in boxes where box.type == "trun" {
            let run = try TrackRun(box, header.defaults, limit: samplesLeft)
            samplesLeft -= run.entries.count
            let start = base ?? self.base(of: header, moof: moof, firstOffset: Int(run.dataOffset ?? 0))
            if base == nil { position = start }
            base = start
            if let offset = run.dataOffset { position = start + Int(offset) }
            for entry in run.entries { samples.append(try sample(entry)) }
        }
        return TrackFragment(header: header, samples: samples)
    }

    /// A byte range of a growing file does not know where in the file it stands. Those who count from the file count
    /// from the moof nearly always, so that is tried first; what points outside all media was meant otherwise.
    private func base(of header: TrackFragmentHeader, moof: Int, firstOffset: Int) -> Int {
        switch header.base {
        case .moof: return moof
        case .previousData: return position
        case .file(let offset):
            let asWritten = Int(clamping: min(offset, UInt64(bytes.count)))
            let isInMedia = { (base: Int) in media.contains { $0.contains(base + firstOffset) } }
            return !isInMedia(moof) && isInMedia(asWritten) ? asWritten : moof
        }
    }

    private mutating func sample(_ entry: TrackRun.Entry) throws(MediaError) -> TrackFragment.Sample {
        let start = min(max(position, 0), bytes.count)
        let end = min(max(position + Int(entry.size), start), bytes.count)
        position += Int(entry.size)
        bytesLeft -= end - start
        guard bytesLeft >= 0 else { throw MediaError(.truncated, offset: start, section: BoxReader.section) }
        return TrackFragment.Sample(
            duration: entry.duration, compositionOffset: entry.compositionOffset, flags: entry.flags,
            payload: bytes[start..<end], size: entry.size)
    }
}
