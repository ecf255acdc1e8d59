package import LiveRing
package import Media
import Mux

/// The samples of a stored segment, by the index at its beginning. Their bytes are not read.
struct StoredFragment: Sendable {
    /// Bytes in which the index of most segments is.
    private static let firstRead = 16 * 1024

    let entry: RingEntry
    let video: FragmentTrack?
    let audio: FragmentTrack?

    init(_ entry: RingEntry, in snapshot: RingSnapshot) throws(TransportStreamError) {
        self.entry = entry
        let moof = try Self.moof(of: entry.segment, in: snapshot)
        do throws(MediaError) {
            let tracks = try FragmentTrack.tracks(of: moof)
            (video, audio) = (tracks[TrackID.video], tracks[TrackID.audio])
        } catch { throw .unreadable(error) }
        let end = [video, audio].compactMap { $0?.samples.last?.bytes.upperBound }.max() ?? 0
        guard end > 0, end <= entry.segment.byteCount else {
            throw .unreadable(MediaError(.truncated, offset: end, section: BoxReader.section))
        }
    }

    private static func moof(of file: SpoolFile, in snapshot: RingSnapshot) throws(TransportStreamError) -> Box {
        var size = firstRead
        while true {
            let bytes: [UInt8]
            do throws(RingError) { bytes = try snapshot.bytes(of: file, in: 0..<min(size, file.byteCount)) } catch {
                throw .spool(error)
            }
            do throws(MediaError) {
                if let moof = try BoxReader.wholeBoxes(in: bytes[...]).boxes.first("moof") { return moof }
                guard size < file.byteCount, bytes.count == size else {
                    throw MediaError(.truncated, offset: bytes.count, section: BoxReader.section)
                }
            } catch { throw .unreadable(error) }
            size *= 8
        }
    }

    /// The presentation times of the video's samples, in decoding order.
    var videoTimes: [Ticks] {
        guard let video else { return [] }
        var time = video.decodeTime
        return video.samples.map { sample in
            defer { time += Int64(sample.duration) }
            return Ticks(time + Int64(sample.compositionOffset))
        }
    }

    /// The indices of the audio frames that are heard in a part of the timeline, and of the one before them, which decoders
    /// need (ISO/IEC 14496-3 §4.6.11).
    func audioFrames(in part: Range<Ticks>) -> Range<Int> {
        guard let audio else { return 0..<0 }
        let begin = part.lowerBound.count.rescaled(TrackTimescale.audio, over: Ticks.perSecond)
        let end = part.upperBound.count.rescaled(TrackTimescale.audio, over: Ticks.perSecond)
        var (time, first) = (audio.decodeTime, 0)
        for (index, frame) in audio.samples.enumerated() {
            if time >= end { return min(first, index)..<index }
            time += Int64(frame.duration)
            if time + Int64(frame.duration) <= begin { first = index + 1 }
        }
        return first..<audio.samples.count
    }
}

extension RingEntry {
    /// The part of the channel's timeline that the segment was published for.
    package var presented: Range<Ticks> {
        let end = Ticks(resumePoint.presentationEnd)
        return end - Ticks(duration)..<end
    }
}

extension FragmentTrack {
    func decodeTime(of index: Int) -> Int64 { samples[..<index].reduce(decodeTime) { $0 + Int64($1.duration) } }
}

/// A stored sample with which decoding may begin.
struct StoredAccessPoint: Sendable {
    /// The most segments that are searched for one.
    static let longestSearch = 8

    /// The index of the listed entry.
    let index: Int
    let fragment: StoredFragment
    /// Its index in the video of the fragment.
    let sample: Int
    /// When it is presented, on the channel's timeline.
    let time: Ticks
}

extension RingSnapshot {
    /// The samples of a listed segment; nil if it is a gap, or cannot be read.
    func fragment(at index: Int) -> StoredFragment? {
        let entry = self.index.listed[index]
        return entry.isGap ? nil : try? StoredFragment(entry, in: self)
    }

    /// The last random access point that is presented by `time`, in a segment or in those that it continues.
    func randomAccessPoint(before time: Ticks, in fragment: StoredFragment, at index: Int) -> StoredAccessPoint? {
        var (fragment, index) = (fragment, index)
        for _ in 0..<StoredAccessPoint.longestSearch {
            let times = fragment.videoTimes
            let samples = fragment.video?.samples ?? []
            if let sample = samples.indices.last(where: { samples[$0].isRandomAccessPoint && times[$0] <= time }) {
                return StoredAccessPoint(index: index, fragment: fragment, sample: sample, time: times[sample])
            }
            guard !fragment.entry.isDiscontinuous, index > self.index.listed.startIndex,
                let before = self.fragment(at: index - 1)
            else { return nil }
            (fragment, index) = (before, index - 1)
        }
        return nil
    }
}
