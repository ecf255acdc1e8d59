import Demux
package import Media

/// An MP4 file that is read as a sequence of segments, each of which lists the file ranges that it needs.
///
/// The splice engine processes a slate like the segments of a channel.
package struct SlateMovie: Sendable {
    package enum AudioTrackUse: Equatable, Sendable {
        case copied
        case absent
        /// No audio track can be copied: the slate is published with silence. The tracks' sample entries.
        case unusable(sampleEntries: [String])
    }

    /// Init section of all segments: the file's own `moov`.
    package let initialization: [UInt8]
    package let audioTrackUse: AudioTrackUse
    private let video: SampleTrack
    private let audio: SampleTrack?
    private let syncSamples: [Int]

    /// Shortest accepted slate. A shorter backward jump of the clock may be a reordered frame.
    private static let minDuration = Ticks.seconds(1)

    /// - Parameter moov: the whole box.
    package init(moov: [UInt8], fileSize: UInt64) throws(MediaError) {
        let file = try MovieFile(moov: moov, fileSize: fileSize)
        guard let video = file.video else { throw .movie(.noSyncSample) }
        syncSamples = try Self.syncSamples(of: video)
        (self.video, audio, initialization) = (video, file.audio, moov)
        audioTrackUse =
            file.audio != nil
            ? .copied : file.unsupportedAudio.isEmpty ? .absent : .unusable(sampleEntries: file.unsupportedAudio)
    }

    /// - Throws: if the track has none, lasts less than `minDuration`, or has too long frames.
    private static func syncSamples(of video: SampleTrack) throws(MediaError) -> [Int] {
        let syncSamples = video.samples.indices.filter { video.samples[$0].isSync }
        guard let first = syncSamples.first else { throw .movie(.noSyncSample) }
        let frameDurations = video.samples.indices.dropFirst(first).map {
            video.decodeTime($0 + 1) - video.decodeTime($0)
        }
        if let longest = frameDurations.max(), longest > Ticks.longestFrame {
            throw .movie(.frameRateTooLow(longest: longest))
        }
        let duration = video.decodeTime(video.samples.count) - video.decodeTime(first)
        guard duration >= minDuration else { throw .movie(.tooShort(duration)) }
        return syncSamples
    }

    /// Divides one pass of the slate into segments of similar duration.
    ///
    /// The segments contain no video before the first sync sample, and no audio outside the video's time range.
    /// - Parameter maxDuration: longest segment, above 0. A segment is longer only if no sync sample divides it.
    package func segments(longest maxDuration: Ticks) throws(MediaError) -> [SlateSegment] {
        let boundaries = segmentBoundaries(maxDuration: max(maxDuration, Ticks(1)))
        var audioStart = firstAudioSample(overlapping: boundaries[0])
        var segments: [SlateSegment] = []
        for (start, end) in zip(boundaries, boundaries.dropFirst()) {
            let isLast = end == video.samples.count
            let limit = isLast ? video.presentationEnd : video.presentationTime(end)
            let audioEnd = max(audioStart, audio?.firstIndex(presentedFrom: limit) ?? 0)
            segments.append(try SlateSegment(video: start..<end, of: video, audio: audioStart..<audioEnd, of: audio))
            audioStart = audioEnd
        }
        return segments
    }

    /// Index of the first audio sample that ends after the presentation time of a video sample.
    private func firstAudioSample(overlapping videoIndex: Int) -> Int {
        guard let audio else { return 0 }
        let start = video.presentationTime(videoIndex)
        let next = audio.firstIndex(presentedFrom: start)
        let overlaps = next > 0 && audio.presentationTime(next) > start && audio.presentationTime(next - 1) < start
        return overlaps ? next - 1 : next
    }

    /// Indices of the video samples at which segments begin, followed by the end index.
    private func segmentBoundaries(maxDuration: Ticks) -> [Int] {
        let end = video.samples.count
        var boundaries = Array(syncSamples.prefix(1))
        let total = video.decodeTime(end) - video.decodeTime(boundaries[0])
        let count = (total.count + maxDuration.count - 1) / maxDuration.count
        let target = Ticks(total.count / max(count, 1))
        for (index, sync) in syncSamples.enumerated().dropFirst() {
            let start = video.decodeTime(boundaries[boundaries.count - 1])
            if video.decodeTime(end) - start <= maxDuration { break }
            let next = index + 1 < syncSamples.count ? syncSamples[index + 1] : end
            let (now, later) = (video.decodeTime(sync) - start, video.decodeTime(next) - start)
            if later > maxDuration || (later - target).count >= (target - now).count { boundaries.append(sync) }
        }
        return boundaries + [end]
    }
}

/// A part of a slate between two sync samples that becomes one segment.
package struct SlateSegment: Equatable, Sendable {
    /// File ranges of the samples, in increasing order and not adjacent.
    package let ranges: [Range<UInt64>]
    package let duration: Ticks
    /// Sample index ranges of the tracks. `audio` is empty without audio.
    let video: Range<Int>
    let audio: Range<Int>

    static let maxBytes: UInt64 = 1 << 28

    package var byteCount: Int { ranges.reduce(0) { $0 + $1.count } }

    /// - Throws: if the segment is larger than `maxBytes`.
    init(
        video: Range<Int>, of videoTrack: SampleTrack, audio: Range<Int>, of audioTrack: SampleTrack?
    ) throws(MediaError) {
        self.video = video
        self.audio = audio
        duration = videoTrack.decodeTime(video.upperBound) - videoTrack.decodeTime(video.lowerBound)
        let samples = videoTrack.samples[video] + (audioTrack?.samples[audio] ?? [])
        // Samples may share bytes in the file, so the limit applies to their sizes in the segment.
        let size = samples.reduce(UInt64(0)) { $0 + UInt64($1.size) }
        guard size <= Self.maxBytes else { throw .movie(.segmentTooLarge(bytes: size)) }
        ranges = Self.joined(samples.map { $0.offset..<$0.end })
    }

    private static func joined(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
        var joined: [Range<UInt64>] = []
        for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}
