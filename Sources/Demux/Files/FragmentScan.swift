package import Media
import Support

/// Finds the fragments of a fragmented MP4 file: from one index of the whole file, or box after box.
///
/// The caller reads `neededRange` of the file and passes the bytes to `append(_:)` until no range is needed.
struct FragmentScan: Sendable {
    /// Largest `sidx` and `moof` accepted, bytes. A `moof` of ten seconds has some kilobytes.
    static let largestBox: UInt64 = 2 << 20
    /// Audio that is that far before the end of its video has come.
    private static let tolerance = Ticks.milliseconds(200)
    /// The duration of a segment without a frame of that track: the last audio of a file.
    private static let shortest = Ticks.milliseconds(20)
    /// Most boxes accepted: a day of fragments of half a second, each of five boxes.
    static let maxBoxes = 1 << 20

    /// nil at the end of the file.
    private(set) var neededRange: Range<UInt64>?
    private let movie: Movie
    private let track: MovieTrack
    /// The audio that accompanies the track.
    private let companion: MovieTrack?
    private let byteCount: UInt64
    private let cutting: FileCutting
    /// The fragments that are not in a segment yet, and the duration of those whose `mdat` is still to come.
    private var pending: (range: Range<UInt64>, duration: Ticks)
    private var opened = Ticks.zero
    /// The durations of all fragments of the track so far, and of those of its audio.
    private var totals = (track: Ticks.zero, companion: Ticks.zero)
    private var boxes = 0

    init(_ moov: [UInt8], from start: UInt64, byteCount: UInt64, _ cutting: FileCutting) throws(MediaError) {
        let movie = try Movie(BoxReader.boxes(in: moov[...]).require("moov"))
        let (videoID, audioID) = try SelectedTracks.trackIDs(of: movie)
        let trackID = videoID ?? audioID
        guard let track = movie.tracks.first(where: { $0.trackID == trackID }) else { throw .movie(.noMovie) }
        (self.movie, self.track, self.byteCount, self.cutting) = (movie, track, byteCount, cutting)
        companion = videoID == nil ? nil : movie.tracks.first { $0.trackID == audioID }
        pending = (start..<start, .zero)
        seek(to: start)
    }

    private mutating func seek(to offset: UInt64) {
        neededRange = offset < byteCount ? offset..<min(offset + 16, byteCount) : nil
    }

    /// Reads the next box, or its header.
    ///
    /// A file that ends inside a box ends before it, and so does one with a box that is too large.
    /// - Returns: the segments that are known now.
    mutating func append(_ bytes: [UInt8]) -> [FileSegment] {
        guard let range = neededRange, let header = MoovLocator.Header(bytes, remaining: byteCount - range.lowerBound),
            header.size <= byteCount - range.lowerBound, boxes < Self.maxBoxes
        else { return finish() }
        StepCounter.add(1)
        let box = range.lowerBound..<range.lowerBound + header.size
        if header.type == "moof" || header.type == "sidx", range != box {
            guard header.size <= Self.largestBox else { return finish() }
            neededRange = box
            return []
        }
        boxes += 1
        switch header.type {
        case "sidx":
            if let index = try? SegmentIndexBox(bytes, endingAt: box.upperBound), let segments = segments(of: index) {
                neededRange = nil
                return segments
            }
        case "moof":
            let segments = beginFragment(bytes)
            seek(to: box.upperBound)
            return neededRange == nil ? segments + finish() : segments
        case "mdat": return endFragment(at: box.upperBound)
        default: break
        }
        seek(to: box.upperBound)
        return neededRange == nil ? finish() : []
    }

    /// Begins a fragment. Each track may have fragments of its own, so a segment ends at the latest before the one with which
    /// the track goes on that the file is cut by.
    ///
    /// A fragment that cannot be read is part of a segment nevertheless.
    private mutating func beginFragment(_ moof: [UInt8]) -> [FileSegment] {
        var own: Ticks?
        do throws(MediaError) {
            own = try duration(of: track, in: moof)
            if let companion { totals.companion += try duration(of: companion, in: moof) ?? .zero }
        } catch {
            own = .zero
        }
        guard let own else { return [] }
        let segments = pending.duration >= cutting.shortest ? takePending() : []
        totals.track += own
        opened += own
        return segments
    }

    private mutating func endFragment(at end: UInt64) -> [FileSegment] {
        seek(to: end)
        pending = (pending.range.lowerBound..<end, pending.duration + opened)
        opened = .zero
        let isWhole = companion == nil || totals.companion + Self.tolerance >= totals.track
        let isLong = pending.duration >= cutting.shortest && isWhole || pending.range.count > cutting.maxBytes / 2
        return isLong || neededRange == nil ? takePending() : []
    }

    /// Ends the scan. A fragment without its `mdat` is left out.
    private mutating func finish() -> [FileSegment] {
        neededRange = nil
        return takePending()
    }

    private mutating func takePending() -> [FileSegment] {
        defer { pending = (pending.range.upperBound..<pending.range.upperBound, .zero) }
        guard !pending.range.isEmpty else { return [] }
        return [FileSegment(range: pending.range, duration: max(pending.duration, Self.shortest))]
    }

    /// The duration of a track in a `moof`: the sum of those of its samples; nil if it has none of the track.
    private func duration(of track: MovieTrack, in moof: [UInt8]) throws(MediaError) -> Ticks? {
        var (units, remaining) = (UInt64(0), DemuxLimits.samples)
        var isOfTrack = false
        for traf in try BoxReader.boxes(in: moof[...]).require("moof").children() where traf.type == "traf" {
            let boxes = try traf.children()
            let header = try TrackFragmentHeader(boxes, movie.defaults)
            guard header.trackID == track.trackID else { continue }
            isOfTrack = true
            for trun in boxes where trun.type == "trun" {
                let run = try TrackRun(trun, header.defaults, limit: remaining)
                StepCounter.add(run.entries.count)
                remaining -= run.entries.count
                units += run.entries.reduce(0) { $0 + UInt64($1.duration) }
            }
        }
        return isOfTrack ? min(Ticks(units: units, timescale: track.timescale), .seconds(3600)) : nil
    }

    /// The segments of an index; nil if it is not one of the whole file.
    private func segments(of index: SegmentIndexBox) -> [FileSegment]? {
        let (start, end) = (index.references.first?.range.lowerBound, index.references.last?.range.upperBound)
        guard let start, let end, !index.isHierarchical, end <= byteCount, index.references.count > 1,
            end - start >= (byteCount - start) / 10 * 9
        else { return nil }
        var (segments, first, duration) = ([FileSegment](), start, Ticks.zero)
        for reference in index.references {
            duration = duration + reference.duration
            let size = reference.range.upperBound - first
            guard
                duration >= cutting.shortest || size > UInt64(cutting.maxBytes / 2)
                    || reference.range.upperBound == end
            else { continue }
            segments.append(FileSegment(range: first..<reference.range.upperBound, duration: duration))
            (first, duration) = (reference.range.upperBound, .zero)
        }
        return segments
    }
}

/// `sidx` (ISO/IEC 14496-12 §8.16.3): the subsegments that follow it.
package struct SegmentIndexBox: Equatable, Sendable {
    package struct Reference: Equatable, Sendable {
        package let range: Range<UInt64>
        package let duration: Ticks
    }

    package let references: [Reference]
    package let isHierarchical: Bool
    package let earliestPresentation: Ticks

    /// - Parameter anchor: offset of the first byte after the box.
    package init(_ box: [UInt8], endingAt anchor: UInt64) throws(MediaError) {
        var fields = BoxFields(try BoxReader.boxes(in: box[...]).require("sidx").body)
        let isLong = try fields.versionAndFlags().version > 0
        try fields.skip(4)
        guard let timescale = Timescale(try fields.u32()) else { throw fields.truncated }
        earliestPresentation = Ticks(units: isLong ? try fields.u64() : UInt64(try fields.u32()), timescale: timescale)
        let firstOffset = isLong ? try fields.u64() : UInt64(try fields.u32())
        try fields.skip(2)
        var (start, overflows) = anchor.addingReportingOverflow(firstOffset)
        guard !overflows, start <= UInt64.max >> 1 else { throw fields.truncated }
        var (references, isHierarchical) = ([Reference](), false)
        for _ in 0..<(try fields.u16()) {
            StepCounter.add(1)
            let (kindAndSize, units) = (try fields.u32(), try fields.u32())
            try fields.skip(4)
            isHierarchical = isHierarchical || kindAndSize >> 31 != 0
            let end = start + UInt64(kindAndSize & 0x7FFF_FFFF)
            let duration = min(Ticks(units: UInt64(units), timescale: timescale), .seconds(3600))
            references.append(Reference(range: start..<end, duration: duration))
            start = end
        }
        (self.references, self.isHierarchical) = (references, isHierarchical)
    }
}
